/** Runs checks on demand: of a stored monitor, or of one that is not saved yet. */
import type { CheckResult } from "./check.ts";
import type { Scope } from "../../events/scope.ts";
import { AppError } from "../../core/errors.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { selectVisibleMonitors } from "../../database/group-limit.ts";
import { unknownReferenceError } from "../../database/references.ts";
import type { NewMonitor } from "../monitors/schema.ts";
import { getMonitor, assertCheckable } from "../monitors/service.ts";
import type { Heartbeat } from "../uptime/schema.ts";
import { listMonitorHeartbeats } from "../uptime/service.ts";
import type { TestCheck } from "./schema.ts";
import type { CheckCaller, CheckTarget } from "./check.ts";

/** Timeout of a request with a check: the longest timeout of a monitor (60 s) plus its overhead. */
export const timeoutSeconds = 75;

export type CheckOnDemand = {
  /** Checks a monitor outside its schedule. Resolves when the result is stored, with false for a paused monitor. */
  checkNow: (caller: CheckCaller, monitorId: string) => Promise<boolean>;
  /** Checks an unsaved monitor once and stores nothing. */
  tryCheck: (caller: CheckCaller, monitor: CheckTarget) => Promise<CheckResult>;
};

/**
 * Checks a monitor at once and returns its heartbeat. Throws NOT_FOUND, RATE_LIMITED, CONFLICT for a paused or push
 * monitor.
 */
export async function checkNow(
  scope: Scope,
  run: CheckOnDemand["checkNow"],
  id: string,
): Promise<Heartbeat> {
  const { type } = await getMonitor(scope, id);
  if (type === "push")
    throw new AppError("CONFLICT", "A push monitor is not checked; it reports to its pushUrl.");
  if (!(await run(identifyCaller(scope), id))) {
    // Throws NOT_FOUND if the monitor was deleted meanwhile.
    await getMonitor(scope, id);
    throw new AppError("CONFLICT", "The monitor is paused, so it is not checked.");
  }
  const [newest] = await listMonitorHeartbeats(scope, id, { limit: 1 });
  if (newest === undefined) throw new Error("A check left no heartbeat.");
  return newest;
}

/**
 * Checks an unsaved monitor once and stores nothing. Throws RATE_LIMITED, and VALIDATION_ERROR for a push monitor or a
 * monitor that can't be saved.
 */
export async function tryMonitor(
  scope: Scope,
  run: CheckOnDemand["tryCheck"],
  input: NewMonitor,
): Promise<TestCheck> {
  await assertCheckable(scope, input);
  const { type, dependsOn } = input;
  // A composite monitor shows the states of others.
  if ((await selectVisibleMonitors(scope, dependsOn)).length < dependsOn.length)
    throw unknownReferenceError("dependsOn", "monitor");
  if (type === "push")
    throw invalidFieldError(
      "type",
      "can't be tried: a push monitor is not checked, it reports to its pushUrl",
    );
  const {
    status,
    message,
    serverText,
    latencyMs,
    certificateExpiresAt,
    details = {},
    number,
  } = await run(identifyCaller(scope), {
    type,
    settings: input,
    timeoutMs: input.timeout * 1000,
    degradedAfterMs: input.degradedAfterMs,
    inverted: input.inverted,
  });
  return {
    status,
    message: serverText ?? message,
    latencyMs,
    certificateExpiresAt: certificateExpiresAt ?? null,
    details: details as TestCheck["details"],
    number: number?.value ?? null,
  };
}

function identifyCaller({ organizationId, actor }: Scope): CheckCaller {
  return { organizationId, callerId: `${actor.type} ${actor.id}` };
}
