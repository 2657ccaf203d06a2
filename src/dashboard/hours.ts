import { perStore, type Store } from "../database/store.ts";
import { hourMs, lastPeriods, ratioOf, toneOf } from "../monitoring/uptime/rules.ts";
import { totalsText } from "../status-pages/days.ts";
import type { Totals } from "../status-pages/public-data.ts";
import type { Day } from "./store.ts";

const hours = 24;

/** What a monitor measured in one hour, and the letter that stands for it. */
type Hour = Totals & { letter: string };

const letters = { up: "u", degraded: "g", down: "d", maintenance: "m", none: "-" };
const unmeasured: Hour = {
  upSeconds: 0,
  degradedSeconds: 0,
  downSeconds: 0,
  maintenanceSeconds: 0,
  letter: letters.none,
};

const hourText = totalsText("uptime_hours", "hour");

/**
 * The last 24 hours of monitors, the current one included. Hours that are over stay in memory: of
 * 1,000 monitors two rows each are read, not 24.
 */
function hourReader(store: Store) {
  const known = new Map<number, Map<number, Hour>>();

  async function read(hour: number, keys: readonly number[], into: Map<number, Hour>) {
    const rows = await store.query<Totals & { key: number }>(hourText, [
      JSON.stringify(keys),
      hour,
    ]);
    for (const key of keys) into.set(key, unmeasured);
    for (const { key, ...sums } of rows) into.set(key, { ...sums, letter: letters[toneOf(sums)] });
  }

  return async (keys: readonly number[], nowMs: number): Promise<(key: number) => Day> => {
    const periods = lastPeriods(nowMs, hourMs, hours);
    const current = periods.at(-1) ?? 0;
    for (const hour of known.keys()) if (!periods.includes(hour)) known.delete(hour);
    const all: Map<number, Hour>[] = [];
    for (const hour of periods) {
      const sums = known.get(hour) ?? new Map<number, Hour>();
      known.set(hour, sums);
      // Results of the last seconds of an hour are written in the next.
      const isOpen = hour >= current - 1;
      const wanted = isOpen ? keys : keys.filter((key) => !sums.has(key));
      if (wanted.length > 0) await read(hour, wanted, sums);
      all.push(sums);
    }
    return (key) => {
      const total = { upSeconds: 0, degradedSeconds: 0, downSeconds: 0 };
      let day = "";
      for (const sums of all) {
        const hour = sums.get(key) ?? unmeasured;
        total.upSeconds += hour.upSeconds;
        total.degradedSeconds += hour.degradedSeconds;
        total.downSeconds += hour.downSeconds;
        day += hour.letter;
      }
      return { day, uptime24h: ratioOf(total) };
    };
  };
}

export const hoursOf = perStore(hourReader);
