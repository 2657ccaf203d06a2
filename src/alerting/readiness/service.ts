import { dayMs } from "../../core/time/clock.ts";
import { mapYielding } from "../../core/time/event-loop.ts";
import type { Tenant } from "../../database/rows.ts";
import { findOnCall, findUpcoming } from "../schedules/rules.ts";
import { judgeReadiness } from "./rules.ts";
import type { Readiness } from "./schema.ts";
import { loadReadiness } from "./store.ts";

/** Time in which gaps of schedules are reported. */
const gapHorizonMs = 14 * dayMs;

/** Judges whether alerts reach people at `now`, in Unix milliseconds. Gaps take most of the time. */
export async function readReadiness(
  tenant: Tenant,
  now: number,
  { withGaps }: { withGaps: boolean },
): Promise<Readiness> {
  const facts = await loadReadiness(tenant, now, now + gapHorizonMs);
  const schedules = await mapYielding(facts.schedules, (schedule) => ({
    ...schedule,
    onCall: findOnCall(schedule, now)?.personId ?? null,
    gapAt: withGaps ? findUpcoming(schedule, now, now + gapHorizonMs).gapAt : null,
  }));
  return judgeReadiness({ ...facts, schedules }, now);
}
