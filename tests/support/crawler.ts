import { api, dashboard } from "./routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import type { Client } from "./appliance.ts";
import { nounOf } from "./records.ts";

const selectReads = (table: { routes: unknown }) =>
  (table.routes as Route[]).filter(
    ({ method, hooks }) => method === "GET" && hooks.detail?.endpoint?.streams === undefined,
  );

/** Every read-only route, with a key and on the admin page. */
export const readRoutes = { api: selectReads(api), dashboard: selectReads(dashboard) };

export type CrawledResponse = { path: string; status: number; text: string };

/**
 * Requests each of these routes twice, and returns the responses with headers: rendered, and possibly cached. `ids` by
 * resource.
 */
export async function crawlRoutes(
  routes: readonly Route[],
  ids: Readonly<Record<string, string>>,
  client: Client,
): Promise<CrawledResponse[]> {
  const responses: CrawledResponse[] = [];
  for (const { path: pattern } of routes) {
    const path = pattern.replace(":id", ids[nounOf(pattern)] ?? "x").replace(/:\w+/, "x");
    for (const _ of ["made", "kept"]) {
      const { status, text, headers } = await client("GET", path);
      responses.push({ path, status, text: text + JSON.stringify([...headers]) });
    }
  }
  return responses;
}
