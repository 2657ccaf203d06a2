/** Decides when the steps of an escalation policy run, and whom a step notifies. */
import { minuteMs } from "../../core/time/clock.ts";
import type { Priority } from "../../core/statuses.ts";
import { planContactMethods, type UsableMethod } from "../contact-methods/rules.ts";
import { findQuietEnd } from "../channels/rules.ts";
import type { QuietHours } from "../channels/routing-schema.ts";
import type { EscalationStep, EscalationTarget } from "../policies/schema.ts";
import type { OpenRecord, DueNotification } from "../records/rules.ts";

/** The times of a policy. */
export type Plan = {
  steps: readonly { afterMinutes: number }[];
  repeat: number;
  /** Minimum time in minutes from the last step to the repetition, or to the end. */
  pauseMinutes?: number;
};

/** A step, and the number of finished repetitions of all steps. */
export type Position = { step: number; round: number };

/** A stage of an escalation: a step, or the end, at which the default channels are notified. */
export type Stage = Position | "end";

/** Usual minimum time in minutes from the last step to the repetition, or to the end. */
const minPause = 5;

/**
 * Returns the minutes from the start of one round of steps to the next. The pause after the last step equals the pause
 * before it.
 */
function computeRoundMinutes({ steps, pauseMinutes = minPause }: Plan): number {
  const last = steps.at(-1)?.afterMinutes ?? 0;
  return last + Math.max(last - (steps.at(-2)?.afterMinutes ?? 0), pauseMinutes);
}

/** Returns the stage at a position. If its step was removed from the policy, the next round starts. */
export function findStage({ steps, repeat }: Plan, { step, round }: Position): Stage {
  if (step < steps.length && round <= repeat) return { step, round };
  return round < repeat && steps.length > 0 ? { step: 0, round: round + 1 } : "end";
}

/** Returns when a stage runs. `from` is the start of the escalation. Both in Unix milliseconds. */
export function computeStageTime(plan: Plan, stage: Stage, from: number): number {
  const round = stage === "end" ? plan.repeat + 1 : stage.round;
  const after = stage === "end" ? 0 : (plan.steps[stage.step]?.afterMinutes ?? 0);
  return from + (round * computeRoundMinutes(plan) + after) * minuteMs;
}

/** A contact method of a person, or an ordinary channel. */
export type Contact = UsableMethod & {
  name: string;
  personId: string | null;
  isDefault: boolean;
  quietHours: QuietHours | null;
};

export type EscalationFacts = {
  /** Time of the step, in Unix milliseconds. */
  at: number;
  people: ReadonlyMap<string, string>;
  schedules: { get(id: string): { name: string; personId: string | null } | undefined };
  channels: ReadonlyMap<string, Contact>;
};

/** Whether a planned notification may still be sent. Another address of a contact method must be verified first. */
export const isUsable = ({ enabled, personId, verifiedAt }: Contact): boolean =>
  enabled && (personId === null || verifiedAt !== null);

/**
 * A notification of a step. `delayMs` counts from the step. `heldUntil` is the end of the quiet hours that hold it, in
 * Unix milliseconds; null if it is sent at once.
 */
export type PlannedNotification = {
  channelId: string;
  personId: string | null;
  delayMs: number;
  heldUntil: number | null;
};

/** Whether a step reaches no one: it has no notifications, or quiet hours hold all of them. */
export const reachesNobody = (planned: readonly PlannedNotification[]): boolean =>
  planned.every(({ heldUntil }) => heldUntil !== null);

/** Returns the notifications of a step, each channel once, and a description of each target. */
export function planStep(
  targets: readonly EscalationTarget[],
  priority: Priority,
  facts: EscalationFacts,
): { planned: PlannedNotification[]; texts: string[] } {
  const planned = new Map<string, PlannedNotification>();
  const texts = targets.map((target) => {
    const found = planTarget(target, priority, facts);
    for (const one of found.planned) {
      const known = planned.get(one.channelId);
      if (known === undefined || known.delayMs > one.delayMs) planned.set(one.channelId, one);
    }
    return found.text;
  });
  return { planned: [...planned.values()], texts };
}

/** A run of a step, or the end, with `step` null. `at` is in Unix milliseconds. */
type PlannedRun = {
  step: number | null;
  round: number;
  at: number;
  planned: PlannedNotification[];
  texts: string[];
};

/**
 * Returns all runs before `until` of an escalation that nobody stops, from its start to the end. A step that
 * reaches nobody is followed by the next one at once.
 */
export function planEscalation(
  policy: Plan & { steps: readonly EscalationStep[] },
  priority: Priority,
  from: number,
  factsAt: (at: number) => EscalationFacts,
  until = Infinity,
): PlannedRun[] {
  const runs: PlannedRun[] = [];
  let stage = findStage(policy, { step: 0, round: 0 });
  let at = computeStageTime(policy, stage, from);
  while (stage !== "end" && at < until) {
    const { step, round } = stage;
    const plan = planStep(policy.steps[step]?.targets ?? [], priority, factsAt(at));
    runs.push({ step, round, at, ...plan });
    stage = findStage(policy, { step: step + 1, round });
    if (!reachesNobody(plan.planned)) at = computeStageTime(policy, stage, from);
  }
  if (at >= until) return runs;
  return [...runs, { step: null, round: policy.repeat, at, planned: [], texts: [] }];
}

/** Returns the first message of an escalation that starts at `from`, if quiet hours hold all of them; otherwise null. */
export function findHeldMessage(
  policy: Plan & { steps: readonly EscalationStep[] },
  priority: Priority,
  from: number,
  factsAt: (at: number) => EscalationFacts,
): (PlannedNotification & { heldUntil: number }) | null {
  const planned = planEscalation(policy, priority, from, factsAt).flatMap((run) => run.planned);
  const heldNotifications = planned.flatMap(({ heldUntil, ...one }) =>
    heldUntil === null ? [] : [{ ...one, heldUntil }],
  );
  const first = heldNotifications.toSorted((a, b) => a.heldUntil - b.heldUntil)[0];
  return first === undefined || heldNotifications.length < planned.length ? null : first;
}

/** Returns the steps of a drill of one person. It ends after their last contact method had the usual pause. */
export function planPersonDrill(
  personId: string,
  priority: Priority,
  facts: EscalationFacts,
): { steps: EscalationStep[]; repeat: number; pauseMinutes: number } {
  const targets: EscalationTarget[] = [{ type: "person", id: personId }];
  const { planned } = planStep(targets, priority, facts);
  const last = Math.max(0, ...planned.map(({ delayMs }) => delayMs));
  return {
    steps: [{ afterMinutes: 0, targets }],
    repeat: 0,
    pauseMinutes: last / minuteMs + minPause,
  };
}

/** Adds the run of a step to the runs of its repetition. */
export function addRun(runs: OpenRecord["runs"], step: number, at: number): OpenRecord["runs"] {
  if (step === 0) return [at];
  return Array.from({ length: step + 1 }, (_, index) =>
    index === step ? at : (runs[index] ?? null),
  );
}

/**
 * Decides how an escalation continues after its acknowledgment or snooze: the time of its next step, and the
 * notifications of earlier steps that became due meanwhile. Uses the current targets and contact methods. The caller
 * leaves out notifications that were sent already.
 */
export function resumeEscalation(
  plan: Plan & { steps: readonly EscalationStep[] },
  { step, round, runs, priority }: Pick<OpenRecord, "step" | "round" | "runs" | "priority">,
  from: number,
  facts: EscalationFacts,
): { dueAt: number; waiting: DueNotification[] } {
  const { at: now } = facts;
  const next = findStage(plan, { step, round });
  const dueAt = Math.max(now, computeStageTime(plan, next, from));
  const planTargets = (index: number) =>
    planStep(plan.steps[index]?.targets ?? [], priority, facts).planned;
  // The next step notifies these at once.
  const notified = new Set(
    next === "end" || dueAt > now
      ? []
      : planTargets(next.step)
          .filter(({ delayMs }) => delayMs === 0)
          .map(({ channelId }) => channelId),
  );
  const waiting: DueNotification[] = [];
  for (const [index, ranAt] of [...runs.entries()].toReversed()) {
    if (ranAt === null) continue;
    for (const { channelId, personId, delayMs } of planTargets(index)) {
      const due = Math.max(now, ranAt + delayMs);
      if (due === now && notified.has(channelId)) continue;
      if (due === now) notified.add(channelId);
      const position = { step: index, round: step === 0 ? round - 1 : round };
      waiting.push({ channelId, personId, ...position, ranAt, dueAt: due });
    }
  }
  return { dueAt, waiting };
}

/** Returns the latest time at which an escalation can end. Both in Unix milliseconds. */
export const computeEnd = (plan: Plan, from: number) => computeStageTime(plan, "end", from);

function planTarget({ type, id }: EscalationTarget, priority: Priority, facts: EscalationFacts) {
  if (type === "channel") return planChannel(id, priority, facts);
  if (type === "person") return planPerson(id, priority, facts, "");
  const schedule = facts.schedules.get(id);
  if (schedule === undefined) return { planned: [], text: "a deleted schedule" };
  const { name, personId } = schedule;
  return personId === null
    ? { planned: [], text: `nobody is on call in ${name}` }
    : planPerson(personId, priority, facts, ` (on call in ${name})`);
}

function planChannel(id: string, priority: Priority, { channels, at }: EscalationFacts) {
  const channel = channels.get(id);
  if (channel === undefined) return { planned: [], text: "a deleted channel" };
  const { name, enabled } = channel;
  if (!enabled) return { planned: [], text: `${name} is disabled` };
  const heldUntil = findHoldEnd(channel, priority, at);
  return {
    planned: [{ channelId: id, personId: null, delayMs: 0, heldUntil }],
    text: heldUntil === null ? name : `${name} has quiet hours`,
  };
}

function planPerson(
  personId: string,
  priority: Priority,
  { people, channels, at }: EscalationFacts,
  role: string,
) {
  const name = `${people.get(personId) ?? "a removed person"}${role}`;
  const personalChannels = [...channels.values()].filter((one) => one.personId === personId);
  const methods = planContactMethods(personalChannels, priority);
  if (methods.length === 0) return { planned: [], text: `${name} can't be reached` };
  const planned = methods.map(({ method, afterMinutes }) => {
    const delayMs = afterMinutes * minuteMs;
    const heldUntil = findHoldEnd(method, priority, at + delayMs);
    return { channelId: method.id, personId, delayMs, heldUntil };
  });
  return { planned, text: reachesNobody(planned) ? `${name} has quiet hours` : name };
}

/** Returns the end of the quiet hours that hold a message at `at`; null if it is sent at once. */
const findHoldEnd = ({ quietHours }: Contact, priority: Priority, at: number) =>
  priority === "critical" ? null : findQuietEnd(quietHours, at);
