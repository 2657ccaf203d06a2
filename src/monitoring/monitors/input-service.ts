/** Validates a complete monitor before it is stored or checked. */
import type { Scope } from "../../events/scope.ts";
import { findCertificateIssue, findKeyIssue } from "../../core/security/certificates.ts";
import { findExpressionIssue } from "../../core/text/expressions.ts";
import { findPingCommand } from "../../core/system/ping-command.ts";
import { assertTargetsAllowed, type TargetGuard } from "../../core/security/target-guard.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { findScheduleIssue } from "../jobs/schedule-rules.ts";
import { computePause, findPauseEndIssue, type GivenPause } from "./pause-rules.ts";
import { openMonitor } from "./record.ts";
import { decidingFields, findShortPassword, findUnusedSetting } from "./credential-rules.ts";
import { listExpressions, listTargets } from "./rules.ts";
import { type MonitorPatch, NewMonitor } from "./schema.ts";
import { findSizeIssue } from "./size-rules.ts";
import type { MonitorRow } from "./store.ts";

/** Applies a patch to a stored monitor and validates the result, including secrets. Throws VALIDATION_ERROR. */
export async function applyMonitorPatch(
  scope: Scope,
  before: MonitorRow,
  patch: MonitorPatch,
): Promise<NewMonitor> {
  if (patch.type !== undefined && patch.type !== before.type)
    throw invalidFieldError("type", "is fixed when the monitor is created");
  const current = openMonitor(scope, before);
  const pause = computePause(before, patch);
  if (pause.pausedUntil !== before.pausedUntil) assertPauseEnd(scope, pause);
  const input = current.applyPatch({ ...patch, ...pause }, (whole) => parse(NewMonitor, whole));
  await assertTargetsAllowed(
    scope.targets,
    listTargets(input),
    current.derive((fields) => listTargets({ ...fields, type: before.type })),
  );
  if (["command", "arguments"].some((name) => patch[name] !== undefined))
    await assertCommandsAllowed(scope.targets);
  if (decidingFields.some((name) => patch[name] !== undefined)) assertSettingsUsable(input);
  await assertExpressionsValid(input);
  assertScheduleValid(input);
  current.derive((fields) => {
    const mergedInput = { ...fields, type: before.type };
    assertMonitorFits(input, () => NewMonitor.safeParse(mergedInput).data ?? mergedInput);
  });
  const proof = current.derive(proofOf);
  if (proofOf(input).some((part, index) => part !== proof[index])) assertClientCertificate(input);
  return input;
}

/** Throws VALIDATION_ERROR if a pause ends in the past or too far in the future. `path` names the field. */
export function assertPauseEnd(
  { clock }: Pick<Scope, "clock">,
  { pausedUntil }: GivenPause,
  path = "pausedUntil",
) {
  const issue = pausedUntil == null ? null : findPauseEndIssue(pausedUntil, clock());
  if (issue !== null) throw invalidFieldError(path, issue);
}

/** Throws VALIDATION_ERROR for a monitor that is too large, unless its fields did not grow. */
export function assertMonitorFits(input: NewMonitor, before?: () => { type: string }) {
  const issue = findSizeIssue(input, before);
  if (issue !== null) throw invalidFieldError(issue.path, issue.message);
}

const proofOf = (monitor: object) => {
  const { clientCertificate = null, clientKey = null } = monitor as Record<string, unknown>;
  return [clientCertificate, clientKey];
};

/** Throws VALIDATION_ERROR for a password without a user name, or too short for its protocol. */
function assertSettingsUsable(input: NewMonitor) {
  const found = findUnusedSetting(input) ?? findShortPassword(input);
  if (found !== null) throw invalidFieldError(found.path, found.issue);
}

/** Throws VALIDATION_ERROR for an invalid client certificate or a key that does not match it. */
function assertClientCertificate(input: object) {
  const [certificate, key] = proofOf(input);
  if (typeof certificate !== "string" || typeof key !== "string") return;
  const issue = findCertificateIssue(certificate);
  if (issue !== null) throw invalidFieldError("clientCertificate", issue);
  const wrong = findKeyIssue(key, certificate);
  if (wrong !== null) throw invalidFieldError("clientKey", wrong);
}

/**
 * Throws VALIDATION_ERROR for an invalid regular expression. Schemas can't check this, because the admin page
 * loads them without the expression library.
 */
async function assertExpressionsValid(input: NewMonitor) {
  for (const [path, expression] of listExpressions(input)) {
    const issue = await findExpressionIssue(expression);
    if (issue !== null) throw invalidFieldError(path, issue);
  }
}

/** Throws VALIDATION_ERROR for an invalid schedule of a job. Schemas can't check it, like regular expressions. */
export function assertScheduleValid(input: object, path = "schedule") {
  const { schedule = null } = input as { schedule?: string | null };
  const issue = schedule === null ? null : findScheduleIssue(schedule);
  if (issue !== null) throw invalidFieldError(path, issue);
}

/** Throws VALIDATION_ERROR for a monitor that is invalid, not allowed, or not supported by this machine. */
export async function assertCheckable({ targets }: Scope, input: NewMonitor) {
  await assertTargetsAllowed(targets, listTargets(input));
  if (input.type === "command") await assertCommandsAllowed(targets);
  assertMonitorFits(input);
  assertSettingsUsable(input);
  await assertExpressionsValid(input);
  assertScheduleValid(input);
  assertClientCertificate(input);
  if (input.type === "ping" && findPingCommand() === null)
    throw invalidFieldError(
      "type",
      "needs the ping command of this machine, which is missing (Debian, Ubuntu: apt-get install iputils-ping)",
    );
}

/** Throws VALIDATION_ERROR if monitors are not allowed to run programs. */
async function assertCommandsAllowed(targets: TargetGuard) {
  await targets.refresh();
  const issue = targets.findCommandIssue();
  if (issue !== null) throw invalidFieldError("type", issue);
}
