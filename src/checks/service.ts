import type { Scope } from "../audit/scope.ts";
import { getMonitor } from "../monitors/service.ts";
import type { Heartbeat } from "../uptime/schema.ts";
import { heartbeatsOf } from "../uptime/service.ts";

/** Checks a monitor at once and returns its heartbeat. Throws NOT_FOUND, CONFLICT for a paused or push monitor. */
export async function checkNow(
  scope: Scope,
  run: (organizationId: string, monitorId: string) => Promise<void>,
  id: string,
): Promise<Heartbeat> {
  await getMonitor(scope, id);
  await run(scope.organizationId, id);
  const [newest] = await heartbeatsOf(scope, id, { limit: 1 });
  if (newest === undefined) throw new Error("A check left no heartbeat.");
  return newest;
}
