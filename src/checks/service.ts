import type { Scope } from "../audit/scope.ts";
import { AppError } from "../base/errors.ts";
import { getMonitor } from "../monitors/service.ts";
import type { Heartbeat } from "../uptime/schema.ts";
import { heartbeatsOf } from "../uptime/service.ts";

/** Checks a monitor at once and returns its heartbeat. Throws NOT_FOUND, CONFLICT for a paused or push monitor. */
export async function checkNow(
  scope: Scope,
  run: (organizationId: string, monitorId: string) => Promise<boolean>,
  id: string,
): Promise<Heartbeat> {
  const { type } = await getMonitor(scope, id);
  if (type === "push")
    throw new AppError("CONFLICT", "A push monitor is not checked; it reports to its pushUrl.");
  if (!(await run(scope.organizationId, id))) {
    // It may be gone by now.
    await getMonitor(scope, id);
    throw new AppError("CONFLICT", "The monitor is paused, so it is not checked.");
  }
  const [newest] = await heartbeatsOf(scope, id, { limit: 1 });
  if (newest === undefined) throw new Error("A check left no heartbeat.");
  return newest;
}
