/** Decides which escalation policy applies to a monitor or an incident. */
import type { Severity } from "../../core/fields.ts";
import type { EscalationPolicy } from "./schema.ts";

type Choice = Pick<EscalationPolicy, "id" | "default" | "incidentSeverities">;

/** Returns the policy of a monitor: its own, which can come from its group, or the default one. Null for none. */
export function findPolicyOfMonitor<P extends Choice>(
  policies: readonly P[],
  { escalationPolicyId }: { escalationPolicyId: string | null },
): P | null {
  const ownPolicy = policies.find(({ id }) => id === escalationPolicyId);
  return ownPolicy ?? policies.find((policy) => policy.default) ?? null;
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
