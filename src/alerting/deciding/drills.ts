/** Starts the monthly drills of escalation policies. */
import { guardVersion } from "../../database/references.ts";
import { escalationPolicies } from "../../database/tables/alerting.ts";
import { createDrill } from "../drills/drill.ts";
import { setDrillDueAt } from "../drills/store.ts";
import { findDrillTime, isWithinDrillHours } from "../policies/drill-rules.ts";
import { insertRecord } from "../records/store.ts";
import type { Decision, Timer } from "./decide.ts";
import { findRecord } from "./records.ts";

/**
 * Starts the due drill of a policy, and plans the next one. A drill that was missed, because the
 * appliance was off during its hours, is left out.
 */
export function startMonthlyDrill({ snapshot, out, now }: Decision, { monitorId: id }: Timer) {
  const { organizationId, policies } = snapshot;
  const policy = policies.find((one) => one.id === id);
  if (policy === undefined || policy.drill === null) return;
  const { name, drill, steps } = policy;
  out.write(guardVersion(escalationPolicies, organizationId, policy));
  const isRunning = findRecord(snapshot, id, "drill") !== null;
  if (!isRunning && steps.length > 0 && isWithinDrillHours(drill, now))
    out.write(
      insertRecord(createDrill(organizationId, { type: "policy", id, name }, "normal", now)),
    );
  out.write(setDrillDueAt(organizationId, id, findDrillTime(id, drill, now)));
}
