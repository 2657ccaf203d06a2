/** Use cases of drills: preview and start a drill of a policy or of a person, and set the monthly drill of a person. */
import { findMembership, findMemberNames } from "../../accounts/people/store.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { AppError } from "../../core/errors.ts";
import { isAtLeast } from "../../core/roles.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { Priority } from "../../core/statuses.ts";
import { guardVersion } from "../../database/references.ts";
import { assertFound } from "../../database/rows.ts";
import { guardCondition, retryOnStaleRead, type Statement } from "../../database/store.ts";
import { escalationPolicies } from "../../database/tables/alerting.ts";
import { commit, guardUnconditional } from "../../events/commit.ts";
import { runInOnCallTurn } from "../../events/organization-turns.ts";
import type { Scope } from "../../events/scope.ts";
import { consumeLimit, type RateLimit } from "../../http/access/rate-limit.ts";
import { formatQuietEnd } from "../channels/rules.ts";
import {
  computeEnd,
  findHeldMessage,
  type Plan,
  planPersonDrill,
  planStep,
} from "../deciding/escalation-rules.ts";
import { loadEscalation } from "../deciding/snapshot.ts";
import type { EscalationStep } from "../policies/schema.ts";
import { getPolicy } from "../policies/service.ts";
import type { AlertSummary } from "../records/schema.ts";
import { toSummary } from "../records/service.ts";
import { insertRecord } from "../records/store.ts";
import { previewSteps } from "../service.ts";
import type { DrillPreview, NewDrill, PersonDrill } from "./schema.ts";
import { createDrill, type DrillSubject } from "./drill.ts";
import { changePersonDrill, findPersonDrill, guardNoDrill } from "./store.ts";

export type DrillDependencies = {
  /** Limits test alerts and drills per organization and minute. */
  testAlertLimit: RateLimit;
};

/** Previews the recipients of a drill of a policy, step by step. Throws NOT_FOUND, CONFLICT without steps. */
export const previewPolicyDrill = (
  scope: Scope,
  id: string,
  query: NewDrill,
): Promise<DrillPreview> => runInOnCallTurn(scope, () => readDrillPreview(scope, id, query));

async function readDrillPreview(
  scope: Scope,
  id: string,
  { priority }: NewDrill,
): Promise<DrillPreview> {
  const policy = await getDrillablePolicy(scope, id);
  const now = scope.clock();
  const steps = await previewSteps(scope, policy, priority, now);
  return { at: formatTimestamp(now), name: policy.name, steps };
}

/** Starts a drill of a policy. Throws NOT_FOUND, RATE_LIMITED, and CONFLICT without steps, in quiet hours, or if one is running. */
export function startPolicyDrill(
  scope: Scope,
  { testAlertLimit }: DrillDependencies,
  id: string,
  { priority }: NewDrill,
): Promise<AlertSummary> {
  consumeLimit(testAlertLimit, scope.organizationId);
  return retryOnStaleRead(async () => {
    const policy = await getDrillablePolicy(scope, id);
    await assertNotHeld(scope, policy.name, policy, priority);
    const guards = [guardVersion(escalationPolicies, scope.organizationId, policy)];
    return startDrill(scope, { type: "policy", id, name: policy.name }, priority, guards);
  });
}

async function getDrillablePolicy(scope: Scope, id: string) {
  const policy = await getPolicy(scope, id);
  if (policy.steps.length > 0) return policy;
  throw new AppError("CONFLICT", `${policy.name} has no steps, so a drill would notify no one.`);
}

/** Previews the recipients of a drill of a person. Throws NOT_FOUND. */
export async function previewPersonDrill(
  scope: Scope,
  id: string,
  { priority }: NewDrill,
): Promise<DrillPreview> {
  const name = await getPersonName(scope, id);
  const now = scope.clock();
  const facts = (await loadEscalation(scope, [], now))(now);
  const plan = planPersonDrill(id, priority, facts);
  return { at: formatTimestamp(now), name, steps: await previewSteps(scope, plan, priority, now) };
}

/** Starts a drill of a person. Throws NOT_FOUND, FORBIDDEN, RATE_LIMITED, and CONFLICT in quiet hours, or if one is running. */
export async function startPersonDrill(
  scope: Scope,
  { testAlertLimit }: DrillDependencies,
  id: string,
  { priority }: NewDrill,
): Promise<AlertSummary> {
  await getPersonName(scope, id);
  await assertMayDrill(scope, id);
  consumeLimit(testAlertLimit, scope.organizationId);
  return retryOnStaleRead(async () => {
    const name = await getPersonName(scope, id);
    const now = scope.clock();
    const facts = (await loadEscalation(scope, [], now))(now);
    await assertNotHeld(scope, name, planPersonDrill(id, priority, facts), priority);
    return startDrill(scope, { type: "person", id, name }, priority, [guardMember(scope, id)]);
  });
}

/** Reads when a person is drilled every month. Throws NOT_FOUND. */
export async function getPersonDrill(scope: Scope, id: string): Promise<PersonDrill> {
  return { drill: await readPersonDrill(scope, id) };
}

/** Sets when a person is drilled every month. Throws NOT_FOUND, and FORBIDDEN for another person, unless by an admin or a key. */
export function setPersonDrill(
  scope: Scope,
  id: string,
  { drill }: PersonDrill,
): Promise<PersonDrill> {
  return retryOnStaleRead(async () => {
    const before = await readPersonDrill(scope, id);
    await assertMayDrill(scope, id);
    if (Bun.deepEquals(before, drill)) return { drill };
    return commit(
      scope,
      [
        ...guardUnconditional(scope),
        guardMember(scope, id),
        changePersonDrill(scope.organizationId, id, drill, scope.clock()),
      ],
      {
        action: "person.drill-changed",
        subjectId: id,
        fields: listChangedFields({ drill: before }, { drill }, ["drill"]),
      },
      { drill },
    );
  });
}

async function readPersonDrill(scope: Scope, id: string) {
  const drill = await findPersonDrill(scope, id);
  return assertFound(drill === undefined ? null : { drill }, "person").drill;
}

type DrillPlan = Omit<Plan, "steps"> & { steps: EscalationStep[] };

/** Throws CONFLICT if quiet hours hold all messages of a drill: nobody could acknowledge it in time. */
async function assertNotHeld(scope: Scope, name: string, plan: DrillPlan, priority: Priority) {
  const now = scope.clock();
  const factsAt = await loadEscalation(scope, [plan], now, computeEnd(plan, now) + 1);
  const heldMessage = findHeldMessage(plan, priority, now, factsAt);
  const quietHours = heldMessage && factsAt(now).channels.get(heldMessage.channelId)?.quietHours;
  if (heldMessage === null || quietHours == null) return;
  const end = formatQuietEnd(quietHours, heldMessage.heldUntil, now);
  const { planned } = planStep(plan.steps[0]?.targets ?? [], "critical", factsAt(now));
  const advice = planned.length > 0 ? " Choose critical priority to send it now." : "";
  throw new AppError(
    "CONFLICT",
    `Quiet hours hold all messages of a drill of ${name} until ${end}.${advice}`,
  );
}

async function getPersonName(scope: Scope, id: string): Promise<string> {
  const names = await findMemberNames(scope, [id]);
  return assertFound(names.get(id), "person");
}

/** Throws FORBIDDEN for another person, unless the caller is an admin or a key. */
async function assertMayDrill(scope: Scope, personId: string) {
  const { actor } = scope;
  if (actor.type !== "person" || actor.id === null || actor.id === personId) return;
  const membership = await findMembership(scope, actor.id);
  if (membership === null || !isAtLeast(membership.role, "admin"))
    throw new AppError("FORBIDDEN", "Only admins can drill other people.");
}

const guardMember = ({ organizationId }: Scope, personId: string) =>
  guardCondition("exists (select 1 from memberships where organization_id = ? and person_id = ?)", [
    organizationId,
    personId,
  ]);

function startDrill(
  scope: Scope,
  subject: DrillSubject,
  priority: Priority,
  guards: readonly Statement[],
): Promise<AlertSummary> {
  const { organizationId } = scope;
  const drill = createDrill(organizationId, subject, priority, scope.clock());
  return commit(
    scope,
    [
      ...guardUnconditional(scope),
      ...guards,
      guardNoDrill(organizationId, subject),
      insertRecord(drill),
    ],
    {
      action: subject.type === "policy" ? "escalation-policy.drilled" : "person.drilled",
      subjectId: subject.id,
    },
    toSummary(drill, []),
  );
}
