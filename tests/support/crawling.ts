import { api, dashboard } from "../../src/api.ts";
import type { Route } from "../../src/http/openapi.ts";
import type { Client } from "./appliance.ts";
import { nounOf } from "./records.ts";

const readable = (table: { routes: unknown }) =>
  (table.routes as Route[]).filter(
    ({ method, hooks }) => method === "GET" && hooks.detail?.endpoint?.streams === undefined,
  );

/** Every route that only reads: with a key, and on the admin page. */
export const reads = { api: readable(api), dashboard: readable(dashboard) };

export type Crawled = { path: string; status: number; text: string };

/** Every answer of these routes to this reader, headers included, twice: made, and as it may have been kept. `ids` by resource. */
export async function crawl(
  routes: readonly Route[],
  ids: Readonly<Record<string, string>>,
  client: Client,
): Promise<Crawled[]> {
  const answers: Crawled[] = [];
  for (const { path: pattern } of routes) {
    const path = pattern.replace(":id", ids[nounOf(pattern)] ?? "x").replace(/:\w+/, "x");
    for (const _ of ["made", "kept"]) {
      const { status, text, headers } = await client("GET", path);
      answers.push({ path, status, text: text + JSON.stringify([...headers]) });
    }
  }
  return answers;
}
