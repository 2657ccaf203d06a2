import { expect } from "bun:test";
import type { Outside } from "./outside.ts";

const steps = ["identified", "monitoring", "resolved", "investigating"] as const;

/** An incident as its writer was told that it is: everything in it was acknowledged. */
export type Notified = { path: string; title: string; messages: string[] };

type Work = { url: string; key: string; name: string; onAcknowledged: () => void };

/** Opens incidents and updates each of them, one request at a time, until the server is gone. */
export async function writeUntilGone({
  url,
  key,
  name,
  onAcknowledged,
}: Work): Promise<Notified[]> {
  const told: Notified[] = [];
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const acknowledged = async (method: string, path: string, body: object) => {
    const request = fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    const response = await request.catch(() => null);
    // A server that is about to stop may say so instead of closing the connection.
    if (response === null || response.status === 503) return null;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    onAcknowledged();
    // A body cut off by the kill takes nothing back: the status had arrived.
    await response.text().catch(() => "");
    return response;
  };
  for (let count = 0; ; count++) {
    const title = `${name}, incident ${count}`;
    const message = `${title}, opened`;
    const created = await acknowledged("POST", "/api/v1/incidents", { title, message });
    if (created === null) return told;
    const incident = { path: created.headers.get("location") ?? "", title, messages: [message] };
    told.push(incident);
    for (const status of steps) {
      const message = `${title}, ${status}`;
      const updated = await acknowledged("PATCH", incident.path, { status, message });
      if (updated === null) return told;
      incident.messages.push(message);
    }
  }
}

/** Every acknowledged write is there, every incident is whole, and the totals are what counting gives. */
export async function expectNothingLost(api: Outside, told: readonly Notified[]) {
  const byPath = new Map(told.map((incident) => [incident.path, incident]));
  const paths = await listed(api, "");
  expect(new Set(paths).size).toBe(paths.length);
  expect(told.filter(({ path }) => !paths.includes(path))).toEqual([]);
  const counted: Record<string, number> = {};
  for (const path of paths) {
    const { data } = (await api("GET", path)).json;
    const { status, resolvedAt, updates, title } = data;
    counted[status] = (counted[status] ?? 0) + 1;
    const script = [`${title}, opened`, ...steps.map((step) => `${title}, ${step}`)];
    const messages = updates.map(({ message }: { message: string }) => message);
    expect(messages).toEqual(script.slice(0, messages.length));
    expect(status).toBe(updates.at(-1).status);
    expect(status).toBe(["investigating", ...steps][updates.length - 1]);
    expect(resolvedAt !== null).toBe(status === "resolved");
    // The one request whose answer never came may have been carried out or not.
    const unanswered = updates.length - (byPath.get(path)?.messages.length ?? 0);
    expect([0, 1]).toContain(unanswered);
  }
  for (const status of steps)
    expect(await listed(api, `&status=${status}`)).toHaveLength(counted[status] ?? 0);
}

/** The paths of all incidents, having seen that every page tells their true number. */
async function listed(api: Outside, filter: string): Promise<string[]> {
  const paths: string[] = [];
  for (let page = 1; ; page++) {
    const { json } = await api("GET", `/api/v1/incidents?per_page=100&page=${page}${filter}`);
    for (const { id } of json.data) paths.push(`/api/v1/incidents/${id}`);
    if (json.data.length === 100) continue;
    expect(json.meta.total).toBe(paths.length);
    return paths;
  }
}
