/** Concurrent writers of incidents, and a check that no acknowledged write is lost. */
import type { ServerClient } from "./machine.ts";

const steps = ["identified", "monitoring", "resolved", "investigating"] as const;

/** An incident with everything that was acknowledged to its writer. */
export type Notified = { path: string; title: string; messages: string[] };

type WriterOptions = {
  url: string;
  key: string;
  name: string;
  onAcknowledged: () => void;
  /** Delay between two writes. */
  pauseMs?: number;
};

/** Opens incidents and updates each one, one request at a time, until the server is gone. */
export async function writeUntilClosed({
  url,
  key,
  name,
  onAcknowledged,
  pauseMs,
}: WriterOptions): Promise<Notified[]> {
  const acknowledgedIncidents: Notified[] = [];
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const sendAcknowledged = async (method: string, path: string, body: object) => {
    const request = fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    const response = await request.catch(() => null);
    // A stopping server can respond with 503 instead of closing the connection.
    if (response === null || response.status === 503) return null;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    onAcknowledged();
    if (pauseMs !== undefined) await Bun.sleep(pauseMs);
    // A body cut off by the kill does not matter: the status had arrived.
    await response.text().catch(() => "");
    return response;
  };
  for (let count = 0; ; count++) {
    const title = `${name}, incident ${count}`;
    const message = `${title}, opened`;
    const created = await sendAcknowledged("POST", "/api/v1/incidents", { title, message });
    if (created === null) return acknowledgedIncidents;
    const incident = { path: created.headers.get("location") ?? "", title, messages: [message] };
    acknowledgedIncidents.push(incident);
    for (const status of steps) {
      const message = `${title}, ${status}`;
      const updated = await sendAcknowledged("PATCH", incident.path, { status, message });
      if (updated === null) return acknowledgedIncidents;
      incident.messages.push(message);
    }
  }
}

/**
 * Errors in the incidents of the writers: missing or incomplete acknowledged writes, and wrong
 * totals.
 */
export async function findWrongIncidents(
  api: ServerClient,
  notified: readonly Notified[],
): Promise<string[]> {
  const wrong: string[] = [];
  const byPath = new Map(notified.map((incident) => [incident.path, incident]));
  const paths = await listIncidentPaths(api, "", wrong);
  const found = new Set(paths);
  if (found.size !== paths.length) wrong.push("An incident is listed twice.");
  for (const { path, title } of notified)
    if (!found.has(path)) wrong.push(`${title} was acknowledged and is not there.`);
  const counted: Record<string, number> = {};
  for (const path of paths) {
    const { data } = (await api("GET", path)).json;
    const { status, resolvedAt, updates, title } = data;
    counted[status] = (counted[status] ?? 0) + 1;
    const script = [`${title}, opened`, ...steps.map((step) => `${title}, ${step}`)];
    const messages: string[] = updates.map(({ message }: { message: string }) => message);
    const isWhole =
      messages.every((message, index) => message === script[index]) &&
      status === updates.at(-1).status &&
      status === ["investigating", ...steps][updates.length - 1] &&
      (resolvedAt !== null) === (status === "resolved");
    if (!isWhole) wrong.push(`${title} is ${status} after ${JSON.stringify(messages)}.`);
    // The outcome of the one request without a response is unknown.
    const unanswered = updates.length - (byPath.get(path)?.messages.length ?? 0);
    if (unanswered !== 0 && unanswered !== 1)
      wrong.push(`${title} has ${unanswered} updates more than were acknowledged.`);
  }
  for (const status of steps) {
    const { length } = await listIncidentPaths(api, `&status=${status}`, wrong);
    if (length !== (counted[status] ?? 0))
      wrong.push(`${length} incidents are listed as ${status}.`);
  }
  return wrong;
}

/** The paths of all incidents. Expects every page to show the right total. */
async function listIncidentPaths(
  api: ServerClient,
  filter: string,
  wrong: string[],
): Promise<string[]> {
  const paths: string[] = [];
  for (let page = 1; ; page++) {
    const { json } = await api("GET", `/api/v1/incidents?per_page=100&page=${page}${filter}`);
    for (const { id } of json.data) paths.push(`/api/v1/incidents/${id}`);
    if (json.data.length === 100) continue;
    if (json.meta.total !== paths.length)
      wrong.push(`${json.meta.total} incidents are counted, ${paths.length} listed${filter}.`);
    return paths;
  }
}
