import { setHousekeepingValue, type SweepContext, sweepLog } from "../database/backup/sweeping.ts";
import { stateTypes } from "./catalog.ts";
import { followerNames } from "./cursor.ts";
import { findRemovedSeq } from "./log.ts";
import { dayMs } from "../core/time/clock.ts";
import type { Statement, Store } from "../database/store.ts";

/** Minimum age of events before they are removed, in days. */
export const eventDays = 30;

/** Condition for state events. They are a monitor's history, and are retained as long as its hourly totals. */
const isStateSql = `type in (${stateTypes.map((type) => `'${type}'`).join(", ")})`;

const oldestEvents =
  "select seq, at from events where seq > ? and seq < (select max(seq) from events) order by seq limit ?";

/**
 * Removes old events that all followers have handled, except the newest one. `readUpTo` is the position of followers
 * whose position is not stored.
 */
export async function sweepEvents(
  context: SweepContext,
  { hourDays, readUpTo }: { hourDays: number; readUpTo: number },
): Promise<void> {
  const { store } = context;
  const last = Math.min(readUpTo, await findSlowestCursor(store));
  const sweptStates = await sweepLog(
    context,
    { name: "states", last, retentionMs: Math.max(hourDays, eventDays) * dayMs },
    oldestEvents,
    (from, to) => [removeBetween(from, to, "true")],
  );
  const from = Math.max(sweptStates, await findRemovedSeq(store));
  await sweepLog(
    context,
    { name: "events", from, last, retentionMs: eventDays * dayMs },
    oldestEvents,
    (from, to) => [
      removeBetween(from, to, `not (${isStateSql})`),
      setHousekeepingValue("events", to),
    ],
  );
}

function removeBetween(from: number, to: number, which: string): Statement {
  return {
    text: `delete from events where seq > ? and seq <= ? and ${which}`,
    parameters: [from, to],
  };
}

/** Returns the last event that all followers with a stored position have handled. */
export async function findSlowestCursor(store: Store): Promise<number> {
  const [row] = await store.query<{ seq: number }>(
    `select min(coalesce(f.seq, 0)) as seq from json_each(?) wanted
     left join followers f on f.name = wanted.value or f.name like wanted.value || '/%'`,
    [JSON.stringify(followerNames)],
  );
  return row?.seq ?? 0;
}
