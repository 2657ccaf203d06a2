/** Carries out the steps of escalation policies until someone acknowledges an alert. */
import type { EscalationData } from "../alert.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { EscalationStep } from "../policies/schema.ts";
import { isQuiet, type OpenRecord } from "../records/rules.ts";
import { addEntry, guardRecord, planNotification, removeNotification } from "../records/store.ts";
import { applySnoozeEnd, type Decision, recordNotifiedAgain, type Timer } from "./decide.ts";
import {
  addRun,
  computeStageTime,
  findStage,
  type Plan,
  type PlannedNotification,
  planPersonDrill,
  planStep,
  isUsable,
  reachesNobody,
  type Stage,
} from "./escalation-rules.ts";
import { storeNextStep, createAlert, resolveRecord } from "./records.ts";
import { selectChannelsForProblems } from "./rules.ts";
import { listOrdinaryChannels } from "./snapshot.ts";

/** Applies the timer of an alert: the end of its snooze, or the next step of its policy. */
export function applyRecordTimer(decision: Decision, timer: Timer) {
  const { monitorId: subjectId, recordId } = timer;
  const record = decision.snapshot.records.get(subjectId)?.find(({ id }) => id === recordId);
  if (record === undefined) return;
  if (record.snoozedUntil !== null) applySnoozeEnd(decision, record);
  else runDueStep(decision, record);
}

/**
 * Runs the due step of an alert. A step that reaches nobody is followed by the next one at once.
 * After the last one, the default channels are notified. Edits of the policy apply from the next
 * step on.
 */
function runDueStep(decision: Decision, record: OpenRecord) {
  const { snapshot, out, now } = decision;
  if (isQuiet(record) || record.dueAt === null || record.dueAt > now) return;
  // Nothing is sent after an acknowledgment in the meantime.
  out.write(guardRecord(snapshot.organizationId, record));
  const policy = findPlan(decision, record);
  const stage = policy === undefined ? "end" : findStage(policy, record);
  if (policy === undefined || stage === "end") return finishEscalation(decision, record, policy);
  const step = policy.steps[stage.step];
  const { planned, texts } = planStep(step?.targets ?? [], record.priority, snapshot.escalation);
  const number = stage.step + 1;
  notifyOfRecord(
    decision,
    record,
    planned.filter(({ delayMs }) => delayMs === 0).map(({ channelId }) => channelId),
    describeStep(record, policy, number),
  );
  if (out.getRest() !== null) return;
  planLater(decision, record, planned, stage);
  addEscalation(decision, record, `Step ${number} of ${policy.steps.length}: ${texts.join(", ")}.`);
  const from = findStart(record.escalatedFrom ?? record.dueAt, record.dueAt, policy, stage, now);
  const next = findStage(policy, { step: number, round: stage.round });
  const nextAt = computeStageTime(policy, next, from);
  storeNextStep(decision, record, {
    ...positionOf(next, policy),
    dueAt: reachesNobody(planned) ? now : nextAt,
    escalatedFrom: from,
    runs: addRun(record.runs, stage.step, now),
  });
}

/** A policy, or the only step of the drill of a person, which has no name. */
type RunningPlan = Plan & { name: string | null; steps: readonly EscalationStep[] };

/** Returns the steps of an alert; undefined if its policy was deleted. */
function findPlan({ snapshot }: Decision, record: OpenRecord): RunningPlan | undefined {
  const { family, policyId, subjectId, priority } = record;
  if (family === "drill" && policyId === null)
    return { name: null, ...planPersonDrill(subjectId, priority, snapshot.escalation) };
  return snapshot.policies.find(({ id }) => id === policyId);
}

const describeStep = (
  { policyId }: OpenRecord,
  plan: RunningPlan | undefined,
  step: number,
): EscalationData | null =>
  policyId === null
    ? null
    : { policy: plan?.name ?? null, step, steps: plan?.steps.length ?? step };

/** A step that runs later than this was missed, because the appliance was off or stood still. */
const missedStepMs = 60_000;

/**
 * Returns the start from which the next steps count. If an acknowledgment, a snooze or a standstill postponed this
 * step, the next ones keep their distance, so that people have time to acknowledge.
 */
function findStart(from: number, dueAt: number, policy: Plan, stage: Stage, now: number): number {
  const lateMs = now - dueAt > missedStepMs ? now - dueAt : 0;
  return from + Math.max(0, dueAt - computeStageTime(policy, stage, from)) + lateMs;
}

const positionOf = (stage: Stage, { steps, repeat }: Plan) =>
  stage === "end" ? { step: steps.length, round: repeat } : stage;

/**
 * Notifies the default channels that nobody acknowledged. A drill ends, and the problem that it
 * becomes notifies the same channels. Nobody failed to acknowledge a drill that reached nobody.
 */
function finishEscalation(decision: Decision, record: OpenRecord, policy: RunningPlan | undefined) {
  const { snapshot, out, now } = decision;
  if (record.family === "drill") {
    const isDeleted = policy === undefined;
    const { isReached } = record;
    if (!isDeleted)
      addEscalation(decision, record, isReached ? "Nobody acknowledged." : "No message arrived.");
    const because = isDeleted ? "deleted" : isReached ? "unacknowledged" : "unreached";
    const at = formatTimestamp(now);
    return resolveRecord(decision, record.subjectId, "drill", { because, at });
  }
  const to = selectChannelsForProblems(listOrdinaryChannels(snapshot));
  notifyOfRecord(
    decision,
    record,
    to.map(({ id }) => id),
    { policy: policy?.name ?? null, step: null, steps: null },
  );
  if (out.getRest() !== null) return;
  const names = to.map(({ name }) => name).join(", ");
  addEscalation(
    decision,
    record,
    `Nobody acknowledged. ${names === "" ? "There is no channel to notify" : `Notified: ${names}`}.`,
  );
  const { escalatedFrom, step, round, runs } = record;
  storeNextStep(decision, record, { step, round, dueAt: null, escalatedFrom, runs });
}

function planLater(
  { snapshot, out, now }: Decision,
  { id }: OpenRecord,
  planned: readonly PlannedNotification[],
  { step, round }: Exclude<Stage, "end">,
) {
  const { organizationId } = snapshot;
  for (const { channelId, personId, delayMs } of planned) {
    if (delayMs === 0) continue;
    const dueAt = now + delayMs;
    out.write(
      planNotification({ organizationId, recordId: id, channelId, personId, step, round, dueAt }),
    );
  }
}

/** Sends a planned notification that is due, unless someone takes care of the alert. */
export function sendPlanned(
  decision: Decision,
  { monitorId: subjectId, recordId, channelId, step = 0 }: Timer,
) {
  const { snapshot, out, now } = decision;
  const record = snapshot.records.get(subjectId)?.find(({ id }) => id === recordId);
  if (record === undefined || channelId === undefined) return;
  const channel = snapshot.escalation.channels.get(channelId);
  if (!isQuiet(record) && channel !== undefined && isUsable(channel)) {
    out.write(guardRecord(snapshot.organizationId, record));
    const data = describeStep(record, findPlan(decision, record), step + 1);
    notifyOfRecord(decision, record, [channelId], data);
    if (out.getRest() !== null) return;
  }
  out.write(removeNotification(snapshot.organizationId, { recordId: record.id, channelId, now }));
}

function notifyOfRecord(
  decision: Decision,
  record: OpenRecord,
  channelIds: readonly string[],
  escalation: EscalationData | null,
) {
  if (channelIds.length === 0) return;
  const { out, now } = decision;
  const known = JSON.parse(record.data) as object;
  const data = escalation === null ? known : { ...known, escalation };
  const alert = createAlert(record.type, formatTimestamp(now), data, now);
  recordNotifiedAgain(decision, record, out.notify(alert, channelIds, false, record));
}

function addEscalation({ snapshot, out, now }: Decision, record: OpenRecord, message: string) {
  const at = formatTimestamp(now);
  out.write(addEntry(snapshot.organizationId, record.id, { at, type: "escalated", message }));
}
