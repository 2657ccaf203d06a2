/** Starts the monthly drills of escalation policies and people. */
import type { Store } from "../../database/store.ts";
import { createDrill } from "../drills/drill.ts";
import { findDrillTime, isWithinDrillHours } from "../drills/rules.ts";
import type { MonthlyDrill } from "../drills/schema.ts";
import { guardDue, listDueDrills, setDrillDueAt } from "../drills/store.ts";
import { insertRecord } from "../records/store.ts";
import { guardVersion } from "../../database/references.ts";
import { escalationPolicies } from "../../database/tables/alerting.ts";
import type { Decision, Timer } from "./decide.ts";
import { findRecord } from "./records.ts";

/** Finds due monthly drills of all organizations, up to `limit`. */
export async function findDueDrills(store: Store, now: number, limit: number): Promise<Timer[]> {
  const due = await listDueDrills(store, now, limit);
  return due.map((one) => ({
    kind: "drill",
    organizationId: one.organizationId,
    monitorId: one.id,
    drill: one,
  }));
}

/**
 * Starts the due drill of a policy or person, and plans the next one. A drill that was missed, because the
 * appliance was off during its hours, is left out.
 */
export function startMonthlyDrill({ snapshot, out, now }: Decision, { drill: due }: Timer) {
  if (due === undefined) return;
  const { organizationId, type, id, name } = due;
  const monthly = JSON.parse(due.drill) as MonthlyDrill;
  out.write(guardDue(due));
  const policy = snapshot.policies.find((one) => one.id === id);
  if (policy !== undefined) out.write(guardVersion(escalationPolicies, organizationId, policy));
  const isRunning = findRecord(snapshot, id, "drill") !== null;
  const hasTargets = type === "person" || (policy?.steps.length ?? 0) > 0;
  const isDue = due.dueAt <= now && isWithinDrillHours(monthly, now);
  if (isDue && hasTargets && !isRunning)
    out.write(insertRecord(createDrill(organizationId, { type, id, name }, "normal", now)));
  out.write(setDrillDueAt(organizationId, due, findDrillTime(id, monthly, now)));
}
