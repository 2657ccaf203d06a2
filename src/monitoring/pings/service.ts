/** Lists the runs of a job, and the next due times of a job or of an unsaved schedule. */
import { AppError } from "../../core/errors.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import type { Scope } from "../../events/scope.ts";
import { computeDeadline, computeDue } from "../checks/kinds/push.ts";
import { getMonitor } from "../monitors/service.ts";
import { getMeasured } from "../uptime/service.ts";
import { openRunsOf } from "../jobs/report-rules.ts";
import { findScheduleIssue } from "../jobs/schedule-rules.ts";
import type { Job, SchedulePreview } from "../jobs/schema.ts";
import { listReports, type ReportRow } from "../jobs/store.ts";

/** Number of due times that are shown. */
const shownTimes = 3;

/** Returns the next due times and the last reports of a push monitor. Throws NOT_FOUND, CONFLICT. */
export async function getJob(scope: Scope, id: string, limit: number): Promise<Job> {
  const monitor = await getMonitor(scope, id);
  if (monitor.type !== "push")
    throw new AppError("CONFLICT", "Only a push monitor has reports of a job.");
  const now = scope.clock();
  const reports = await listReports(scope.store, (await getMeasured(scope, id)).key, now);
  const runs = openRunsOf(reports.toReversed());
  const reporting = { intervalSeconds: monitor.interval, settings: { ...monitor } };
  const last = reports.find(({ kind }) => kind === "success" || kind === "failure");
  const since = last?.at ?? Date.parse(monitor.createdAt);
  const overdueAt = computeDeadline({ ...reporting, runs }, runs.current?.at ?? since);
  const isWaiting = monitor.status !== "paused" && overdueAt !== Infinity && overdueAt > now;
  return {
    nextDueAt: listDueTimes(reporting, since, now).map(formatTimestamp),
    overdueAt: isWaiting ? formatTimestamp(overdueAt) : null,
    startedAt: runs.current === null ? null : formatTimestamp(runs.current.at),
    reports: reports.slice(0, limit).map(toReport),
  };
}

const toReport = ({ at, monitorKey: _key, ...row }: ReportRow) => ({
  at: formatTimestamp(at),
  ...row,
});

/** Lists the next due times. With an interval, they count from the last report, unless it is overdue. */
function listDueTimes(
  reporting: Parameters<typeof computeDue>[0],
  lastAt: number,
  now: number,
): number[] {
  const times: number[] = [];
  let at = computeDue(reporting, lastAt) > now ? lastAt : now;
  while (times.length < shownTimes) {
    at = computeDue(reporting, at);
    if (at === Infinity) break;
    if (at > now) times.push(at);
  }
  return times;
}

/** Returns the next due times of a schedule, or the reason why it is invalid. */
export function previewSchedule(
  { clock }: Pick<Scope, "clock">,
  { schedule, timeZone }: { schedule: string; timeZone: string },
): SchedulePreview {
  const issue = findScheduleIssue(schedule);
  if (issue !== null) return { dueAt: [], issue };
  const now = clock();
  const reporting = { intervalSeconds: 0, settings: { schedule, timeZone } };
  return { dueAt: listDueTimes(reporting, now, now).map(formatTimestamp), issue: null };
}
