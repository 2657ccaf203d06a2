/** Validates a complete monitor before it is stored or checked. */
import type { Scope } from "../../events/scope.ts";
import { certificateIssue, keyIssue } from "../../core/security/certificates.ts";
import { expressionIssue } from "../../core/text/expressions.ts";
import { pingCommand } from "../../core/system/ping-command.ts";
import { mustBeAllowed, type TargetGuard } from "../../core/security/target-guard.ts";
import { invalid, parse } from "../../core/validation.ts";
import { editable } from "./record.ts";
import { credentialFields, expressionsIn, targetsOf, unusedCredential } from "./rules.ts";
import { type MonitorPatch, NewMonitor } from "./schema.ts";
import { sizeIssue } from "./size-rules.ts";
import type { MonitorRow } from "./store.ts";

/** Applies a patch to a stored monitor and validates the result, including secrets. Throws VALIDATION_ERROR. */
export async function changedMonitor(
  scope: Scope,
  before: MonitorRow,
  patch: MonitorPatch,
): Promise<NewMonitor> {
  if (patch.type !== undefined && patch.type !== before.type)
    throw invalid("type", "is fixed when the monitor is created");
  const current = editable(scope, before);
  const input = current.patched(patch, (whole) => parse(NewMonitor, whole));
  await mustBeAllowed(
    scope.targets,
    targetsOf(input),
    current.derive((fields) => targetsOf({ ...fields, type: before.type })),
  );
  if (["command", "arguments"].some((name) => patch[name] !== undefined))
    await mustRunCommands(scope.targets);
  if (credentialFields.some((name) => patch[name] !== undefined)) mustUseCredentials(input);
  await mustBeSearchable(input);
  current.derive((fields) => {
    const whole = { ...fields, type: before.type };
    mustFitMonitor(input, () => NewMonitor.safeParse(whole).data ?? whole);
  });
  const proof = current.derive(proofOf);
  if (proofOf(input).some((part, index) => part !== proof[index])) mustProve(input);
  return input;
}

/** Throws VALIDATION_ERROR for a monitor that is too large, unless its fields did not grow. */
export function mustFitMonitor(input: NewMonitor, before?: () => { type: string }) {
  const issue = sizeIssue(input, before);
  if (issue !== null) throw invalid(issue.path, issue.message);
}

const proofOf = (monitor: object) => {
  const { clientCertificate = null, clientKey = null } = monitor as Record<string, unknown>;
  return [clientCertificate, clientKey];
};

/** Throws VALIDATION_ERROR for a password that the check would ignore, such as one without a user name. */
function mustUseCredentials(input: NewMonitor) {
  const unused = unusedCredential(input);
  if (unused !== null) throw invalid(unused.path, unused.issue);
}

/** Throws VALIDATION_ERROR for an invalid client certificate or a key that does not match it. */
function mustProve(input: object) {
  const [certificate, key] = proofOf(input);
  if (typeof certificate !== "string" || typeof key !== "string") return;
  const issue = certificateIssue(certificate);
  if (issue !== null) throw invalid("clientCertificate", issue);
  const wrong = keyIssue(key, certificate);
  if (wrong !== null) throw invalid("clientKey", wrong);
}

/**
 * Throws VALIDATION_ERROR for an invalid regular expression. Schemas can't check this, because the admin page
 * loads them without the expression library.
 */
async function mustBeSearchable(input: NewMonitor) {
  for (const [path, expression] of expressionsIn(input)) {
    const issue = await expressionIssue(expression);
    if (issue !== null) throw invalid(path, issue);
  }
}

/** Throws VALIDATION_ERROR for a monitor that is invalid, not allowed, or not supported by this machine. */
export async function mustBeCheckable({ targets }: Scope, input: NewMonitor) {
  await mustBeAllowed(targets, targetsOf(input));
  if (input.type === "command") await mustRunCommands(targets);
  mustFitMonitor(input);
  mustUseCredentials(input);
  await mustBeSearchable(input);
  mustProve(input);
  if (input.type === "ping" && pingCommand() === null)
    throw invalid(
      "type",
      "needs the ping command of this machine, which is missing (Debian, Ubuntu: apt-get install iputils-ping)",
    );
}

/** Throws VALIDATION_ERROR if monitors are not allowed to run programs. */
async function mustRunCommands(targets: TargetGuard) {
  await targets.refresh();
  const issue = targets.issueOfCommands();
  if (issue !== null) throw invalid("type", issue);
}
