import { AppError } from "../../core/errors.ts";
import { guardText, type Prepared } from "../../database/store.ts";

const idleGuard = guardText(`not exists (select 1 from alert_records
  where organization_id = ? and subject_id = ? and family = 'drill' and resolved_at is null)`);

/** Guards that no drill of a policy or person is running. */
export const guardNoDrill = (
  organizationId: string,
  { id, name }: { id: string; name: string },
): Prepared => ({
  ...idleGuard,
  parameters: [organizationId, id],
  otherwise: () => new AppError("CONFLICT", `A drill of ${name} is already running.`),
});

/** Stores when the next monthly drill of a policy starts, in Unix milliseconds. */
export const setDrillDueAt = (organizationId: string, policyId: string, at: number): Prepared => ({
  text: "update escalation_policies set drill_due_at = ? where organization_id = ? and id = ?",
  parameters: [at, organizationId, policyId],
});
