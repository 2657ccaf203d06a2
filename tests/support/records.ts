import { api as routes } from "../../src/server.ts";
import type { Route } from "../../src/http/openapi.ts";
import type { Client } from "./appliance.ts";

/** The routes of `/api/v1`, each with its endpoint. */
export const apiRoutes = routes.routes as unknown as Route[];

/** For each resource: what makes one, and a change to it. */
export const nouns: Record<string, { create: Record<string, unknown>; patch: object }> = {
  incidents: { create: { title: "Slow" }, patch: { title: "Slower" } },
  "monitor-groups": { create: { name: "Payments" }, patch: { name: "Billing" } },
  monitors: {
    create: { type: "ping", name: "Router", host: "192.168.1.1" },
    patch: { name: "Gateway" },
  },
  "alert-channels": {
    create: { type: "email", name: "On-call", to: ["oncall@team.example"] },
    patch: { name: "Office" },
  },
};

export const nounOf = (path: string) => path.split("/")[3] ?? "";

/** Makes a record of this resource and returns its id. */
export async function made(api: Client, noun: string, fields: object = {}): Promise<string> {
  const body = { ...nouns[noun]?.create, ...fields };
  const { status, json, text } = await api("POST", `/api/v1/${noun}`, { body });
  if (status !== 201) throw new Error(`${noun} could not be made: ${text}`);
  return json.data.id;
}

/** A body that this route takes; undefined where it takes none. */
export function bodyFor({ method, path, hooks }: Route): object | undefined {
  if (hooks.detail?.endpoint?.body === undefined) return undefined;
  return method === "PATCH" ? nouns[nounOf(path)]?.patch : nouns[nounOf(path)]?.create;
}
