/** Decides which escalation policy applies to a monitor or an incident, and describes a policy in words. */
import type { Severity } from "../../core/fields.ts";
import { formatDuration } from "../../core/text/formatting.ts";
import type { MonthlyDrill } from "../drills/schema.ts";
import type { EscalationPolicy, EscalationStep, EscalationTarget } from "./schema.ts";

type Choice = Pick<EscalationPolicy, "id" | "default" | "incidentSeverities">;

/** Returns the policy of a monitor: its own, which can come from its group, or the default one. Null for none. */
export function findPolicyOfMonitor<P extends Choice>(
  policies: readonly P[],
  { escalationPolicyId }: { escalationPolicyId: string | null },
): P | null {
  const own = policies.find(({ id }) => id === escalationPolicyId);
  return own ?? policies.find((policy) => policy.default) ?? null;
}

/** Returns the policy of incidents of this severity. Null for none: the default policy is only for monitors. */
export function findPolicyOfIncident<P extends Choice>(
  policies: readonly P[],
  severity: Severity,
): P | null {
  return policies.find(({ incidentSeverities }) => incidentSeverities.includes(severity)) ?? null;
}

/** Returns a policy that conflicts with this one, and the field of the conflict. Null for none. */
export function findConflict<P extends Choice>(
  { id, default: isDefault, incidentSeverities }: Choice,
  policies: readonly P[],
): { field: "default" | "incidentSeverities"; policy: P } | null {
  for (const policy of policies) {
    if (policy.id === id) continue;
    if (isDefault && policy.default) return { field: "default", policy };
    if (policy.incidentSeverities.some((one) => incidentSeverities.includes(one)))
      return { field: "incidentSeverities", policy };
  }
  return null;
}

type NameOf = (target: EscalationTarget) => string | null;

const times = ["", "once", "twice", "three times"];

/** Describes a policy in one sentence per part, such as `At once Ada; after 10 min #ops. Repeated twice.` */
export function describePolicy(
  { steps, repeat }: { steps: readonly EscalationStep[]; repeat: number },
  nameOf: NameOf,
): string {
  if (steps.length === 0) return "Notifies no one.";
  const parts = steps.map(({ afterMinutes, targets }, index) => {
    const when = afterMinutes === 0 ? "at once" : `after ${formatDuration(afterMinutes * 60)}`;
    const text = `${when} ${joinWords(targets.map((target) => describeTarget(target, nameOf)))}`;
    return index === 0 ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  });
  const end = repeat === 0 ? "" : ` Repeated ${times[repeat] ?? `${repeat} times`}.`;
  return `${parts.join("; ")}.${end}`;
}

/** Describes a monthly drill, such as `Drilled monthly, on the first Tuesday, 10:00–16:00 (Europe/Berlin).` */
export function describeDrill({ day, from, until, timeZone }: MonthlyDrill): string {
  const when =
    typeof day === "number"
      ? `on day ${day}`
      : `on the first ${day.charAt(0).toUpperCase()}${day.slice(1)}`;
  return `Drilled monthly, ${when}, ${from}–${until} (${timeZone}).`;
}

function describeTarget(target: EscalationTarget, nameOf: NameOf): string {
  const name = nameOf(target) ?? "a deleted record";
  return target.type === "schedule" ? `the person on call in ${name}` : name;
}

const joinWords = (words: readonly string[]) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`;
