/** Examines the running server and its ports, and lists its open problems. */
import { existsSync, readFileSync } from "node:fs";
import type { Clock } from "../../core/time/clock.ts";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createSkippedFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import { runWithTimeout } from "../../core/outgoing/http/exchange.ts";
import { send } from "../../core/outgoing/http/request.ts";
import { organizationProblems, type ProblemName } from "../../core/problems.ts";
import { createTargetGuard } from "../../core/security/target-guard.ts";
import { getDataFiles } from "../../database/file/data-files.ts";
import { isDirectoryLocked } from "../../database/file/directory-lock.ts";
import type { Store } from "../../database/store.ts";
import { buildProblemKey, listOpenProblems, type OpenProblem } from "../../events/problems.ts";
import { isExpired } from "./momentary-problems.ts";
import { findListener } from "./machine.ts";

type Settings = {
  host: string;
  port: number;
  publicPort?: number | undefined;
  smtpPort?: number | undefined;
};

/** Examines whether the ports are free, or used by the server that runs on this data. */
export async function examinePorts(settings: Settings, path: string): Promise<Finding[]> {
  const { host, port, publicPort, smtpPort } = settings;
  const running = isDirectoryLocked(path) ? readRunningAddress(path) : null;
  const findings = [await examinePort("port", { host, port, running, option: "--port" })];
  if (publicPort !== undefined) {
    const option = "--public-port";
    findings.push(await examinePort("public port", { host, port: publicPort, running, option }));
  }
  // A port of mail does not show whose it is, so only a free one can be judged.
  if (smtpPort !== undefined && running === null)
    findings.push(
      await examinePort("mail port", { host, port: smtpPort, running, option: "--smtp-port" }),
    );
  return running === null ? findings : [await examineServer(running), ...findings];
}

function readRunningAddress(path: string): URL | null {
  const { address } = getDataFiles(path);
  return existsSync(address) ? URL.parse(readFileSync(address, "utf8").trim()) : null;
}

async function examineServer(running: URL): Promise<Finding> {
  if ((await identifySignalbox(running)) === "healthy")
    return createOkFinding("server", `it runs and responds at ${running.origin}`);
  return createProblemFinding(
    "server",
    `it runs, but does not respond at ${running.origin}`,
    "Read its log (`journalctl -u signalbox`), then restart it.",
  );
}

type WantedPort = { host: string; port: number; running: URL | null; option: string };

async function examinePort(
  subject: string,
  { host, port, running, option }: WantedPort,
): Promise<Finding> {
  if (port === 0) return createOkFinding(subject, "the system chooses one");
  const code = listenErrorCode(host, port);
  if (code === null)
    return running === null
      ? createOkFinding(subject, `${port} is free`)
      : createSkippedFinding(
          subject,
          `${port} is free: the server that runs has other settings`,
          "Give `doctor` the same options as `serve`, so that it examines the running server.",
        );
  if (code === "EACCES")
    return createProblemFinding(
      subject,
      `${port} needs more rights than this user has`,
      `Run it with \`signalbox service install\`, or choose another ${option} from 1024 on.`,
    );
  if (code !== "EADDRINUSE")
    return createProblemFinding(
      subject,
      `this machine does not have the address ${host}`,
      "Change --host.",
    );
  if (running !== null && (await identifySignalbox(replacePort(running, port))) !== null)
    return createOkFinding(subject, `${port} is that of the server that runs`);
  const owner = findListener(port) ?? "another program";
  return (running === null ? createProblemFinding : createWarningFinding)(
    subject,
    `${port} is used by ${owner}`,
    `Stop that program, or choose another ${option}.`,
  );
}

function replacePort(url: URL, port: number): URL {
  const other = new URL(url);
  other.port = String(port);
  return other;
}

/** Problems that the doctor examines itself. */
const locallyExamined: readonly ProblemName[] = [
  "backup",
  "certificate",
  "disk",
  "drill",
  "on-call",
  "publishing",
];

/** Lists the open problems that the running server has reported. */
export async function examineProblems(store: Store, clock: Clock): Promise<Finding[]> {
  const open = (await listOpenProblems(store)).filter(
    (one) => !locallyExamined.includes(one.name) && !isExpired(one, clock()),
  );
  // Problems of the appliance are stored once per notified organization.
  const keyOf = (problem: OpenProblem) =>
    organizationProblems.has(problem.name)
      ? `${problem.name} ${problem.organizationId}`
      : buildProblemKey(problem);
  const each = new Map(open.map((problem) => [keyOf(problem), problem])).values();
  return [...each].map(({ name, message, since }) =>
    createWarningFinding(
      name,
      `since ${since}: ${message}`,
      "The log has details: `journalctl -u signalbox`.",
    ),
  );
}

/** Tries to listen on the port and returns the error code; null if the port is free. */
function listenErrorCode(hostname: string, port: number): string | null {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "";
  }
}

/**
 * Requests `/healthz` to identify the program. Returns null if it is not Signalbox, and `other` if
 * it is unhealthy or a public port.
 */
async function identifySignalbox(origin: URL): Promise<"healthy" | "other" | null> {
  const request = {
    url: new URL("/healthz", origin),
    method: "GET",
    headers: {},
    body: null,
    verifyTls: false,
  };
  try {
    const { status, headers } = await runWithTimeout(
      {
        targets: createTargetGuard(() => []),
        timeoutMs: 2_000,
        signal: new AbortController().signal,
      },
      async (context) => (await send(request, context)).response,
    );
    if (!headers.has("x-request-id")) return null;
    return status === 200 ? "healthy" : "other";
  } catch {
    return null;
  }
}
