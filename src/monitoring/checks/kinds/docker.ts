/** The Docker check: queries the Docker API for the state and health of containers. */
import { type Connection, dialFile, http1 } from "../../../core/outgoing/connection.ts";
import { LocalFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { parseJsonBody, readWholeBody } from "../../../core/outgoing/http/decoded-body.ts";
import { formatStatus, readHttpResponse } from "../../../core/outgoing/http/response.ts";
import { buildRequestHead } from "../../../core/outgoing/http/request.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import { thisMachine } from "../../monitors/rules.ts";
import { type CheckContext, type CheckKind, measureElapsedMs } from "../check.ts";
import { connectToTarget, addConnectionFindings } from "../protocols/conversation.ts";

const maxBytes = 1024 * 1024;

/** Up when all selected containers are running and none is unhealthy. https://docs.docker.com/reference/api/engine/ */
export const checkDocker: CheckKind<"docker"> = async (settings, context) => {
  const startedAt = performance.now();
  const { host, container, clientCertificate, clientKey } = settings;
  const hello = {
    protocol: http1,
    ...(clientCertificate !== null && { certificate: clientCertificate }),
    ...(clientKey !== null && { key: clientKey }),
  };
  const connection =
    host === null
      ? await openSocket(context)
      : await connectToTarget({ ...settings, host }, context, { hello });
  const found = await findContainers(container, connection, context, host);
  const latencyMs = measureElapsedMs(startedAt);
  const details = buildDetails(found);
  const { issue, words = "" } = describeContainers(found);
  return addConnectionFindings(
    connection,
    settings,
    context,
    issue === undefined
      ? { status: "up", message: `${words}, responded in ${latencyMs} ms.`, latencyMs, details }
      : { status: "down", message: issue, latencyMs: null, details },
  );
};

async function openSocket(context: CheckContext): Promise<Connection> {
  await context.addressesOf(thisMachine, null);
  try {
    return await dialFile(context.dockerSocket, context);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM")
      throw new LocalFailure("this machine does not let the appliance ask Docker");
    if (code === "ENOENT") throw new TargetFailure("Docker is not on this machine.");
    throw error;
  }
}

type Container = { State: string; Status: string };

async function findContainers(
  container: string,
  connection: Connection,
  context: CheckContext,
  host: string | null,
): Promise<Container[]> {
  const label = /^label=(.+)$/.exec(container)?.[1];
  const filters =
    label === undefined
      ? { name: [`^/?${container.replaceAll(".", "\\.")}$`] }
      : { label: [label] };
  const name = host?.includes(":") ? `[${host}]` : (host ?? "docker");
  const url = new URL(`http://${name}/containers/json`);
  url.search = new URLSearchParams({ all: "1", filters: JSON.stringify(filters) }).toString();
  context.step = "waiting for the response";
  const answering = readHttpResponse(connection, "GET", context.memory);
  const headers = { "Accept-Encoding": "identity" };
  connection.write(buildRequestHead({ url, method: "GET", headers, body: null }));
  const response = await answering;
  context.step = "reading the response";
  const body = await readWholeBody(response, maxBytes, context);
  connection.close();
  if (response.status !== 200)
    throw new TargetFailure(`${formatStatus(response.status)}, expected 200.`);
  const list = parseJsonBody(body);
  const isContainer = (one: unknown) =>
    typeof (one as Container | null)?.State === "string" &&
    typeof (one as Container | null)?.Status === "string";
  if (!Array.isArray(list) || !list.every(isContainer))
    throw new TargetFailure("The response is not valid for Docker.");
  return list as Container[];
}

/** Known container states except `running`. */
const states = ["created", "restarting", "removing", "paused", "exited", "dead"];

/** Pattern of `Status` in each state except `running`. */
const statusWords: readonly [RegExp, string][] = [
  [/\(Paused\)/, "paused"],
  [/^Exited\b/, "exited"],
  [/^Restarting\b/, "restarting"],
  [/^Created\b/, "created"],
  [/^Dead\b/, "dead"],
  [/^Removal In Progress\b/, "removing"],
];

/**
 * Returns the state of a container. It is `running` only if both fields agree. Podman capitalizes states in some
 * versions, and has `stopped` for an exited container.
 */
function determineState({ State, Status }: Container): string {
  const state = State.toLowerCase().replace(/^stopped$/, "exited");
  if (state !== "running") return states.includes(state) ? state : "unknown";
  return statusWords.find(([words]) => words.test(Status))?.[1] ?? "running";
}
const isRunning = (container: Container) => determineState(container) === "running";
const isUnhealthy = ({ Status }: Container) => Status.includes("(unhealthy)");
const isHealthy = ({ Status }: Container) => Status.includes("(healthy)");

function buildDetails(containers: readonly Container[]): DetailsOf<"docker"> {
  const [only] = containers;
  if (only === undefined) return {};
  if (containers.length > 1)
    return {
      containers: containers.length,
      running: containers.filter(isRunning).length,
      unhealthy: containers.filter(isUnhealthy).length,
    };
  const health = isUnhealthy(only) ? "unhealthy" : isHealthy(only) ? "healthy" : null;
  return { state: determineState(only), ...(health !== null && { health }) };
}

/** Describes the containers by their issue, or by their state if there is no issue. */
function describeContainers(containers: readonly Container[]): { issue?: string; words?: string } {
  const [only] = containers;
  if (only === undefined) return { issue: "There is no such container." };
  const stopped = containers.filter((container) => !isRunning(container));
  const unhealthy = containers.filter(isUnhealthy);
  if (containers.length === 1) {
    if (stopped.length > 0)
      return {
        issue:
          determineState(only) === "unknown"
            ? "The container is not running."
            : `The container is not running but ${determineState(only)}.`,
      };
    if (unhealthy.length > 0) return { issue: "The container is unhealthy." };
    return { words: `The container is running${isHealthy(only) ? " and healthy" : ""}` };
  }
  const formatShare = ({ length }: typeof containers) =>
    `${length} of ${containers.length} containers ${length === 1 ? "is" : "are"}`;
  if (stopped.length > 0) return { issue: `${formatShare(stopped)} not running.` };
  if (unhealthy.length > 0) return { issue: `${formatShare(unhealthy)} unhealthy.` };
  return { words: `All ${containers.length} containers are running` };
}
