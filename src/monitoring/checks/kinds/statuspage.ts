/** Follows the status page of a third party: the whole page, or chosen components. */
import { setRecent } from "../../../core/collections/recent-set.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { parseJsonBody, readWholeBody } from "../../../core/outgoing/http/decoded-body.ts";
import { formatStatus } from "../../../core/outgoing/http/response.ts";
import { toRemoteLine } from "../../../core/text/formatting.ts";
import type { MonitorSettings } from "../../monitors/kinds-schema.ts";
import { type CheckContext, type CheckKind, measureElapsedMs } from "../check.ts";
import { requestWithRedirects } from "../protocols/request-with-redirects.ts";
import type { FollowedPage, FormatName, PageState } from "./statuspage-formats.ts";

type Settings = MonitorSettings<"statuspage">;
type Status = Exclude<PageState, "maintenance">;

const maxBytes = 4 * 1024 * 1024;
const maxNameLength = 60;
const maxTitleLength = 150;
/** Maximum number of components in a message. */
const maxNames = 3;
const maxDetectedFormats = 10_000;

const normalMessage = "The status page reports normal operation";
const maintenanceMessage = "The status page reports maintenance, which counts as up.";

/** The order in which formats are tried. Many pages also serve the format of Statuspage. */
const formatOrder = [
  "statuspage",
  "uptime-kuma",
  "incident-io",
  "better-stack",
  "instatus",
] as const satisfies readonly FormatName[];

/** Detected formats by organization and address, so that later checks send only the requests of one format. */
const knownFormats = new Map<string, FormatName>();

export const checkStatuspage: CheckKind<"statuspage"> = async (settings, context) => {
  const startedAt = performance.now();
  const page = await readPage(settings, context);
  const latencyMs = measureElapsedMs(startedAt);
  const { status, message, names, title } = judgePage(page, settings);
  const details = { page: page.name, ...(title !== null && { incident: title }) };
  if (status === "up")
    return {
      status,
      message: message ?? `${normalMessage}, read in ${latencyMs} ms.`,
      latencyMs,
      details,
    };
  const reason = [names, title === null ? "" : `“${title}”`].filter((text) => text !== "");
  return {
    status,
    message,
    ...(reason.length > 0 && { serverText: `${message} ${reason.join(": ")}` }),
    latencyMs: status === "down" ? null : latencyMs,
    details,
  };
};

async function readPage({ url, format }: Settings, context: CheckContext): Promise<FollowedPage> {
  const { followedFormats } = await import("./statuspage-formats.ts");
  const page = new URL(url);
  const read = async (name: FormatName) => {
    const { addresses, read } = followedFormats[name];
    const [first, ...others] = addresses(page);
    if (first === undefined) return null;
    const documents = [await readDocument(first, context)];
    if (documents[0] === null) return null;
    for (const address of others) documents.push(await readDocument(address, context));
    return read(documents);
  };
  if (format !== "auto") {
    const found = await read(format);
    if (found === null) throw new TargetFailure("The page does not provide the chosen format.");
    return found;
  }
  const key = `${context.organizationId} ${url}`;
  const known = knownFormats.get(key);
  for (const name of known === undefined ? formatOrder : [known]) {
    const found = await read(name);
    if (found === null) continue;
    setRecent(knownFormats, key, name, maxDetectedFormats);
    return found;
  }
  knownFormats.delete(key);
  throw new TargetFailure("There is no status page in a known format at this address.");
}

/** Returns a JSON document; null if there is none. Throws TargetFailure if the server is unavailable. */
async function readDocument(url: URL, context: CheckContext): Promise<unknown> {
  const { response, connection } = await requestWithRedirects(url, "application/json", context);
  const { status } = response;
  if (status === 429 || status >= 500)
    throw new TargetFailure(`${formatStatus(status)}, expected 200.`);
  if (status !== 200) {
    connection.close();
    return null;
  }
  context.step = "reading the response";
  const body = await readWholeBody(response, maxBytes, context);
  connection.close();
  return parseJsonBody(body);
}

/** Judges the chosen components, or else the whole page by its own verdict. Throws TargetFailure for an unknown one. */
function judgePage(page: FollowedPage, { components: chosen, maintenanceAs }: Settings) {
  const judge = (state: PageState): Status => (state === "maintenance" ? maintenanceAs : state);
  const followed = chosen.length === 0 ? page.components : findChosen(page, chosen);
  const bad = followed.filter(({ state }) => judge(state) !== "up");
  const states = chosen.length === 0 ? [page.state] : followed.map(({ state }) => state);
  const status = (["down", "degraded"] as const).find((one) => states.map(judge).includes(one));
  const worst = bad.filter(({ state }) => judge(state) === status);
  const ids = new Set((worst.length > 0 ? worst : followed).map(({ id }) => id));
  const incident =
    page.incidents.find(({ componentIds }) => componentIds.some((id) => ids.has(id))) ??
    page.incidents.find(({ componentIds }) => chosen.length === 0 || componentIds.length === 0);
  const title = incident === undefined ? null : toRemoteLine(incident.title, maxTitleLength);
  if (status === undefined) {
    const message = states.includes("maintenance") ? maintenanceMessage : null;
    return { status: "up", message, title } as const;
  }
  const message = `The status page reports ${status === "down" ? "an outage" : "degraded service"}.`;
  return { status, message, names: listNames(bad.map(({ name }) => name)), title };
}

/** Finds components by id or name. A page that lists only trouble omits components in normal operation. */
function findChosen({ components, isPartial = false }: FollowedPage, chosen: readonly string[]) {
  return chosen.flatMap((text) => {
    const searchedName = text.trim().toLowerCase();
    const found = components.filter(
      ({ id, name }) => id === text || name.trim().toLowerCase() === searchedName,
    );
    if (found.length === 0 && !isPartial) {
      const sentence = "The status page has no component of a chosen name.";
      throw new TargetFailure(sentence, false, `${sentence} ${text}`);
    }
    return found;
  });
}

function listNames(names: readonly string[]): string {
  const listedNames = names.slice(0, maxNames).map((name) => toRemoteLine(name, maxNameLength));
  const more = names.length - listedNames.length;
  return more > 0 ? `${listedNames.join(", ")} and ${more} more` : listedNames.join(", ");
}
