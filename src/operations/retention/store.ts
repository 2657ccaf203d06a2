import { setHousekeepingValue } from "../../database/backup/sweeping.ts";
import type { Statement, Store } from "../../database/store.ts";
import type { ClockState } from "./rules.ts";

/** State that housekeeping stores. A killed run stores nothing and starts again. */
type Memory = { clock: ClockState; lastNow: number | null };

/** Reads the state. Before the first run, the newest stored row is the reference for the clock. */
export async function readMemory(store: Store, now: number): Promise<Memory> {
  const rows = await store.query<{ name: string; value: number }>(
    "select name, value from housekeeping",
    [],
  );
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  const believed = values.get("believed") ?? Math.min((await findLastWrite(store)) ?? now, now);
  return {
    clock: {
      believed,
      seen: values.get("seen") ?? believed,
      doubtedSince: values.get("doubted since") ?? null,
    },
    lastNow: values.get("done") ?? null,
  };
}

async function findLastWrite(store: Store): Promise<number | null> {
  const [row] = await store.query<{ at: string | null }>(
    `select max(at) as at from (select max(last_checked_at) as at from monitor_states
       union all select max(at) from (select at from events order by seq desc limit 1))`,
    [],
  );
  return row?.at ? Date.parse(row.at) : null;
}

export function rememberClock({ believed, seen, doubtedSince }: ClockState): Statement[] {
  return [
    setHousekeepingValue("believed", believed),
    setHousekeepingValue("seen", seen),
    doubtedSince === null
      ? { text: "delete from housekeeping where name = 'doubted since'", parameters: [] }
      : setHousekeepingValue("doubted since", doubtedSince),
  ];
}
