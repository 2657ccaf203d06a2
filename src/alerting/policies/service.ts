/** Use cases of escalation policies: list, read, create, update and delete. */
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createId } from "../../core/ids.ts";
import { deletedBody } from "../../core/paging.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { inUseError } from "../../database/uses.ts";
import { guardLimit } from "../../database/references.ts";
import { assertFound, buildFirstVersion, buildNextVersion } from "../../database/rows.ts";
import { retryOnStaleRead } from "../../database/store.ts";
import { escalationPolicies } from "../../database/tables/alerting.ts";
import { commit, guardCurrent } from "../../events/commit.ts";
import { runInOnCallTurn } from "../../events/organization-turns.ts";
import type { Scope } from "../../events/scope.ts";
import { findConflict } from "./rules.ts";
import type { EscalationPolicyPatch, NewEscalationPolicy } from "./schema.ts";
import {
  changePolicy,
  findPolicyUses,
  guardDistinctPolicies,
  guardPoliciesUnused,
  guardTargetsExist,
  insertPolicy,
  listPolicies,
  type PolicyRecord,
  removePolicy,
} from "./store.ts";

export { listPolicies };

/** Lists all policies by name. */
export const listAllPolicies = (scope: Scope): Promise<PolicyRecord[]> =>
  runInOnCallTurn(scope, () => listPolicies(scope));

/** Reads a policy. Throws NOT_FOUND. */
export async function getPolicy(scope: Scope, id: string): Promise<PolicyRecord> {
  const [policy] = await listPolicies(scope, id);
  return assertFound(policy, "escalation policy");
}

/**
 * Creates a policy. Throws NOT_FOUND for an unknown target, and CONFLICT for a second default policy, a severity of
 * another policy, or beyond the limit.
 */
export function createPolicy(scope: Scope, input: NewEscalationPolicy): Promise<PolicyRecord> {
  return retryOnStaleRead(async () => {
    const now = scope.clock();
    const id = createId(now);
    const policy: PolicyRecord = { ...input, id, ...buildFirstVersion(formatTimestamp(now)) };
    await assertDistinct(scope, policy);
    return commit(
      scope,
      [
        ...guardTargetsExist(scope, policy.steps),
        ...insertPolicy(scope, policy),
        guardLimit(scope, "escalation-policies", escalationPolicies),
        ...guardDistinctPolicies(scope),
      ],
      { action: "escalation-policy.created", subjectId: id },
      policy,
    );
  });
}

/**
 * Updates a policy. Throws NOT_FOUND, also for an unknown target, PRECONDITION_FAILED, and CONFLICT for a second
 * default policy or a severity of another policy.
 */
export function updatePolicy(scope: Scope, id: string, patch: EscalationPolicyPatch) {
  return retryOnStaleRead(async () => {
    const before = await getPolicy(scope, id);
    const after: PolicyRecord = {
      ...before,
      ...(patch as Partial<PolicyRecord>),
      ...buildNextVersion(before, formatTimestamp(scope.clock())),
    };
    await assertDistinct(scope, after);
    return commit(
      scope,
      [
        ...guardTargetsExist(scope, patch.steps ?? []),
        ...guardCurrent(scope, escalationPolicies, before),
        ...changePolicy(scope, after),
        ...guardDistinctPolicies(scope),
      ],
      {
        action: "escalation-policy.updated",
        subjectId: id,
        fields: listChangedFields(before, after, Object.keys(patch)),
      },
      after,
    );
  });
}

/** Throws CONFLICT that names the other policy, and the field. */
async function assertDistinct(scope: Scope, policy: PolicyRecord) {
  const conflict = findConflict(policy, await listPolicies(scope));
  if (conflict === null) return;
  const { field } = conflict;
  const { name } = conflict.policy;
  const message =
    field === "default"
      ? `${name} already is the default escalation policy.`
      : `${name} already is the escalation policy of incidents of this severity.`;
  throw new AppError("CONFLICT", message, {
    details: [{ path: field, message: `is in use by ${name}` }],
  });
}

/** Maximum users of a policy in an error. */
const maxListedUses = 20;

/** Deletes a policy. Throws NOT_FOUND, PRECONDITION_FAILED, and CONFLICT that lists the monitors and groups that use it. */
export function deletePolicy(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const policy = await getPolicy(scope, id);
    const uses = await findPolicyUses(scope, id, maxListedUses);
    return commit(
      scope,
      [
        ...guardCurrent(scope, escalationPolicies, policy),
        removePolicy(scope, id),
        ...guardPoliciesUnused(scope, [id], () => inUseError("escalation policy", uses)),
      ],
      { action: "escalation-policy.deleted", subjectId: id },
      deletedBody,
    );
  });
}
