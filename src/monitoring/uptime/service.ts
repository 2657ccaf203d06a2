import type { Scope } from "../../events/scope.ts";
import { found } from "../../database/rows.ts";
import { dayMs, hourMs, lastPeriods, latencySpan, type Measured, ratioOf } from "./rules.ts";
import type { HeartbeatQuery, LatencyQuery, Uptime } from "./schema.ts";
import { findKey, listDays, listHeartbeats, listLatencies, sumsOfHours } from "./store.ts";

async function keyOf({ store, organizationId }: Scope, monitorId: string): Promise<number> {
  return found(await findKey(store, organizationId, monitorId), "monitor");
}

/** Newest first. Throws NOT_FOUND. */
export async function heartbeatsOf(scope: Scope, monitorId: string, query: HeartbeatQuery) {
  return listHeartbeats(scope.store, await keyOf(scope, monitorId), query);
}

/** At most `points` points, oldest first; without the times in which nothing was measured. Throws NOT_FOUND. */
export async function latenciesOf(scope: Scope, monitorId: string, query: LatencyQuery) {
  const key = await keyOf(scope, monitorId);
  return listLatencies(scope.store, key, latencySpan(query, scope.clock()));
}

/** Throws NOT_FOUND. */
export async function uptimeOf(scope: Scope, monitorId: string): Promise<Uptime> {
  const { store } = scope;
  const key = await keyOf(scope, monitorId);
  const now = scope.clock();
  const ofHours = async (count: number) => {
    const sums = await sumsOfHours(store, [key], lastPeriods(now, hourMs, count));
    return ratioOf(sums.get(key) ?? nothing);
  };
  const year = lastPeriods(now, dayMs, 365);
  const [day, week, days] = await Promise.all([
    ofHours(24),
    ofHours(7 * 24),
    listDays(store, key, year),
  ]);
  const ofDays = (count: number) => {
    const last = days.filter(({ day }) => day > (year.at(-1) ?? 0) - count);
    const sum = (name: keyof Measured) => last.reduce((total, day) => total + day[name], 0);
    const [upSeconds, degradedSeconds] = [sum("upSeconds"), sum("degradedSeconds")];
    return ratioOf({ upSeconds, degradedSeconds, downSeconds: sum("downSeconds") });
  };
  return {
    ratios: { "24h": day, "7d": week, "30d": ofDays(30), "90d": ofDays(90), "365d": ofDays(365) },
    days: days.map(({ day, ...sums }) => ({
      date: new Date(day * dayMs).toISOString().slice(0, 10),
      ratio: ratioOf(sums),
      ...sums,
    })),
  };
}

const nothing: Measured = { upSeconds: 0, degradedSeconds: 0, downSeconds: 0 };
