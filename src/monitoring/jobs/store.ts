/** Statements and queries of the reports to push monitors. */
import { jobBounds } from "../../core/limits.ts";
import type { Prepared, Store } from "../../database/store.ts";
import type { pushReports } from "../../database/tables/monitoring.ts";
import { type OpenRuns, noRuns, openRunsOf } from "./report-rules.ts";

export type ReportRow = typeof pushReports.$inferSelect;

const insertSql = `insert into push_reports
    (monitor_key, at, kind, run_id, duration_ms, exit_status, body, address, user_agent)
  select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value ->> 7, value ->> 8
  from json_each(?) join monitor_states s on s.key = value ->> 0 and s.epoch = value ->> 9
  where true on conflict do nothing`;

/** Difference between the clocks of nodes that does not mean that one of them was wrong. */
const toleratedAheadMs = 3_600_000;

/**
 * Moves reports with a future time directly before the new report, because they arrived while the clock was ahead.
 * Otherwise they would remain the newest ones, and the limit would delete all others.
 */
const moveAheadSql = `update or replace push_reports set at = moved.at from (
    select p.monitor_key as key, p.at as earlier,
      k.value ->> 1 - row_number() over (partition by p.monitor_key order by p.at desc) as at
    from json_each(?) k join push_reports p on p.monitor_key = k.value ->> 0
    where p.at > k.value ->> 1 + ${toleratedAheadMs}) moved
  where push_reports.monitor_key = moved.key and push_reports.at = moved.earlier`;

const limitSql = `delete from push_reports where (monitor_key, at) in (
  select p.monitor_key, p.at from json_each(?) k join push_reports p on p.monitor_key = k.value
  where p.at < (select l.at from push_reports l where l.monitor_key = k.value
    order by l.at desc limit 1 offset ${jobBounds.reports.value - 1}))`;

/**
 * Returns statements that store reports, and delete the oldest ones of the same monitors. A report is skipped if its
 * `epoch` differs from the current epoch of its monitor.
 */
export function insertReports(rows: readonly (ReportRow & { epoch: number })[]): Prepared[] {
  if (rows.length === 0) return [];
  const list = rows.map((row) => [
    row.monitorKey,
    row.at,
    row.kind,
    row.runId,
    row.durationMs,
    row.exitStatus,
    row.body,
    row.address,
    row.userAgent,
    row.epoch,
  ]);
  const newest = new Map(rows.map(({ monitorKey, at }) => [monitorKey, at]));
  return [
    { text: insertSql, parameters: [JSON.stringify(list)] },
    { text: moveAheadSql, parameters: [JSON.stringify([...newest])] },
    { text: limitSql, parameters: [JSON.stringify([...newest.keys()])] },
  ];
}

/** Selects the last reports of the monitor `s`, from which its open runs follow. */
export const lastReportsSql = `select json_group_array(json_array(r.at, r.kind, r.run_id)) from (
  select at, kind, run_id from push_reports where monitor_key = s.key order by at desc) r`;

/** Returns the open runs after the reports of `lastReportsSql`. */
export function parseOpenRuns(json: string): OpenRuns {
  const rows = JSON.parse(json) as [number, ReportRow["kind"], string | null][];
  if (rows.length === 0) return noRuns;
  return openRunsOf(rows.toReversed().map(([at, kind, runId]) => ({ at, kind, runId })));
}

/** Lists the reports of a monitor, newest first. Those from a time when the clock was ahead count as of `now`. */
export function listReports(store: Store, monitorKey: number, now: number): Promise<ReportRow[]> {
  return store.query<ReportRow>(
    `select monitor_key as monitorKey, min(at, ?) as at, kind, run_id as runId, duration_ms as durationMs,
      exit_status as exitStatus, body, address, user_agent as userAgent
    from push_reports where monitor_key = ? order by push_reports.at desc`,
    [now, monitorKey],
  );
}

/** Whether a report of this program is among the stored ones of a monitor. */
export async function hasReportFrom(
  store: Store,
  { organizationId, id }: { organizationId: string; id: string },
  userAgent: string,
): Promise<boolean> {
  const rows = await store.query(
    `select 1 as found from monitor_states s join push_reports r on r.monitor_key = s.key
    where s.organization_id = ? and s.monitor_id = ? and r.user_agent = ? limit 1`,
    [organizationId, id, userAgent],
  );
  return rows.length > 0;
}

/** Lists the push monitors with a slug; at most two, because more are as ambiguous. */
export function listBySlug(store: Store, organizationId: string, slug: string) {
  return store.query<{ organizationId: string; id: string }>(
    `select organization_id as organizationId, id from monitors
    where organization_id = ? and settings ->> 'slug' = ? and type = 'push' limit 2`,
    [organizationId, slug],
  );
}

/** A report without its sender and its output. */
export type BriefReport = Pick<ReportRow, "at" | "kind" | "runId" | "durationMs">;

/** Returns the last reports of monitors, newest first, by monitor ID. */
export async function listBriefReports(
  store: Store,
  organizationId: string,
  monitorIds: readonly string[],
  limit: number,
  now: number,
): Promise<Map<string, BriefReport[]>> {
  const rows = await store.query<{ id: string; reports: string }>(
    `select s.monitor_id as id, (
      select json_group_array(json_array(min(r.at, ?), r.kind, r.run_id, r.duration_ms)) from (
        select at, kind, run_id, duration_ms from push_reports where monitor_key = s.key
        order by at desc limit ?) r) as reports
    from monitor_states s
    where s.organization_id = ? and s.monitor_id in (select value from json_each(?))`,
    [now, limit, organizationId, JSON.stringify(monitorIds)],
  );
  type Brief = [number, ReportRow["kind"], string | null, number | null];
  return new Map(
    rows.map(({ id, reports }) => [
      id,
      (JSON.parse(reports) as Brief[]).map(([at, kind, runId, durationMs]) => ({
        at,
        kind,
        runId,
        durationMs,
      })),
    ]),
  );
}

/** Lists the IDs of all push monitors. */
export async function listPushMonitorIds(store: Store, organizationId: string): Promise<string[]> {
  const rows = await store.query<{ id: string }>(
    "select id from monitors where organization_id = ? and type = 'push'",
    [organizationId],
  );
  return rows.map(({ id }) => id);
}
