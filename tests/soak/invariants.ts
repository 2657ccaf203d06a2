import { Database } from "bun:sqlite";
import type { ArrivedAlert } from "../support/inbox.ts";

/** Invariants after any faults and kills. Each returns its violations as sentences. */

/** Each monitor's alerts arrived in the order of its changes, none is missing, and duplicates have the same delivery id. */
export function findWrongAlerts(
  arrived: readonly ArrivedAlert[],
  changes: ReadonlyMap<string, readonly string[]>,
): string[] {
  const wrong: string[] = [];
  const deliveryOf = new Map<string, string>();
  const firsts = new Map<string, string[]>();
  for (const { alertId, delivery, monitorId, type } of arrived) {
    const known = deliveryOf.get(alertId);
    if (known === undefined) {
      deliveryOf.set(alertId, delivery);
      firsts.set(monitorId, [...(firsts.get(monitorId) ?? []), type]);
    } else if (known !== delivery) wrong.push(`Alert ${alertId} came as ${known} and ${delivery}.`);
  }
  for (const [id, expected] of changes) {
    const got = firsts.get(id) ?? [];
    if (got.join() !== expected.join())
      wrong.push(
        `Monitor ${id} was ${expected.join(", ")}; alerted: ${got.join(", ") || "nothing"}.`,
      );
  }
  for (const id of firsts.keys())
    if (!changes.has(id)) wrong.push(`Monitor ${id} never changed, and was alerted of.`);
  return wrong;
}

const buildSums = (period: string) => `select monitor_key, at / ${period} as period,
  sum(seconds * (status = 0)) as up, sum(seconds * (status = 1)) as degraded,
  sum(seconds * (status = 2)) as down, sum(seconds * (status = 3)) as unknown,
  sum(seconds * (status = 4)) as maintenance, count(latency_ms) as latencies,
  coalesce(sum(latency_ms), 0) as latency, min(latency_ms) as fastest, max(latency_ms) as slowest
  from heartbeats group by 1, 2`;
const buildRollup = (table: string, period: string) => `select monitor_key, ${period} as period,
  up_seconds, degraded_seconds, down_seconds, unknown_seconds, maintenance_seconds,
  latency_count, latency_sum, latency_min, latency_max from ${table}`;

/** Violations inside a database without removed rows. */
export function findWrongRows(file: string): string[] {
  using database = new Database(file, { readonly: true });
  const readRows = (sql: string) => database.query(sql).values();
  const wrong = readRows("pragma integrity_check").flatMap(([line]) =>
    line === "ok" ? [] : [`Integrity: ${String(line)}`],
  );
  for (const orphan of readRows("pragma foreign_key_check"))
    wrong.push(`A row without its parent: ${orphan.join(" ")}`);
  for (const [table, period, length] of [
    ["uptime_hours", "hour", "3600000"],
    ["uptime_days", "day", "86400000"],
  ] as const) {
    const [raw, sum] = [buildSums(length), buildRollup(table, period)];
    for (const row of readRows(`select * from (${raw}) except select * from (${sum})`))
      wrong.push(`${table} lacks what results add up to: ${row.join(" ")}`);
    for (const row of readRows(`select * from (${sum}) except select * from (${raw})`))
      wrong.push(`${table} has what no results add up to: ${row.join(" ")}`);
  }
  const repeated = `select subject_id, type from
    (select subject_id, type, lag(type) over (partition by subject_id order by seq) as earlier
     from events where type in ('monitor.up', 'monitor.degraded', 'monitor.down'))
    where type = earlier`;
  for (const [id, type] of readRows(repeated))
    wrong.push(`Monitor ${String(id)} became ${String(type)} twice in a row.`);
  return wrong;
}

type Group = { id: string; monitorIds: readonly string[] };
type Grouped = { id: string; groupId: string | null };

/** A monitor is in at most one group, and both records agree. */
export function findWrongGroups(groups: readonly Group[], monitors: readonly Grouped[]): string[] {
  const texts = groups.flatMap(({ id, monitorIds }) => monitorIds.map((one) => [one, id] as const));
  const groupOf = new Map(texts);
  const wrong = texts
    .filter(([monitor, group]) => groupOf.get(monitor) !== group)
    .map(([monitor, group]) => `Monitor ${monitor} is in ${group} and ${groupOf.get(monitor)}.`);
  for (const { id, groupId } of monitors)
    if ((groupOf.get(id) ?? null) !== groupId)
      wrong.push(`Monitor ${id} names the group ${groupId}; listed is ${groupOf.get(id) ?? null}.`);
  return wrong;
}
