/** The response of `/healthz`, and which requests ask for it. */
import { formatTimestamp } from "../core/time/clock.ts";
import type { Store } from "../database/store.ts";
import { pathOf } from "./request.ts";

/**
 * Returns the resource that this machine currently lacks, and since when (Unix milliseconds). Checks are not judged
 * meanwhile.
 */
export type FindLack = () => { resource: string; since: number } | null;

export const isHealthCheck = (request: Request): boolean =>
  request.method === "GET" && pathOf(request) === "/healthz";

/**
 * Reports 503 while results can't be stored. If the machine only lacks a resource, the status is 200 and the body
 * names it.
 */
export function createHealthResponse(store: Store, findCurrentLack: FindLack): Response {
  const failingSince = store.writes.getFailingSince();
  const headers = { "Cache-Control": "no-store" };
  const buildHealthBody = (status: string, reason: string, since: number) => ({
    status,
    reasons: [reason],
    since: formatTimestamp(since),
  });
  if (failingSince !== null)
    return Response.json(buildHealthBody("failing", "storage", failingSince), {
      status: 503,
      headers,
    });
  const lack = findCurrentLack();
  const body =
    lack === null ? { status: "ok" } : buildHealthBody("degraded", lack.resource, lack.since);
  return Response.json(body, { headers });
}
