import type { Priority } from "../../core/statuses.ts";
import { type EscalationFacts, type Plan, planEscalation } from "../deciding/escalation-rules.ts";
import type { EscalationStep } from "../policies/schema.ts";

type EscalatedSteps = { steps: number; messages: number };

/**
 * Counts the steps of a policy that would have run from the start of an outage to its end, without an acknowledgment,
 * and their messages. After the last step, the `atEnd` default channels are notified. Times are in Unix milliseconds.
 */
export function countSteps(
  policy: Plan & { steps: readonly EscalationStep[] },
  priority: Priority,
  { from, until }: { from: number; until: number },
  { factsAt, atEnd }: { factsAt: (at: number) => EscalationFacts; atEnd: number },
): EscalatedSteps {
  const found = { steps: 0, messages: 0 };
  if (policy.steps.length === 0) return found;
  for (const { step, at, planned } of planEscalation(policy, priority, from, factsAt, until)) {
    if (step === null) found.messages += atEnd;
    else found.steps++;
    const times = planned.map(({ delayMs, heldUntil }) => heldUntil ?? at + delayMs);
    found.messages += times.filter((time) => time < until).length;
  }
  return found;
}
