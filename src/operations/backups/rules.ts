/** Decides when a backup is due, how it is named, and which backups to remove. */
import { dayMs, formatFileStamp, minuteMs } from "../../core/time/clock.ts";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";

const extensionOf = (isEncrypted: boolean) => (isEncrypted ? "age" : "db");

/** Returns a file name such as `signalbox-2026-11-20-2302.db`, in UTC. Names sort by age. */
export function createFileName(now: number, isEncrypted: boolean): string {
  return `signalbox-${formatFileStamp(now).slice(0, 15)}.${extensionOf(isEncrypted)}`;
}

/** Returns the file name of a scheduled backup, with seconds. */
export function createScheduledName(now: number, isEncrypted: boolean): string {
  return `signalbox-${formatFileStamp(now)}.${extensionOf(isEncrypted)}`;
}

const scheduledName = /^signalbox-(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(\d\d)\.(?:db|age)$/;

/** Whether a file is left over from an interrupted scheduled backup. */
export const isPart = (name: string) =>
  name.endsWith(".part") && scheduledName.test(name.slice(0, -".part".length));

/** Returns the creation time in a scheduled backup's name; null for any other file. */
export function parseTime(name: string): number | null {
  const [, day, hour, minute, second] = scheduledName.exec(name) ?? [];
  const at = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}

type RetentionCounts = { keepDaily: number; keepWeekly: number; keepMonthly: number };

/**
 * Returns the scheduled backups beyond the retention. The last backup of each of the latest days,
 * weeks (from Monday) and months is retained, in UTC. Periods without a backup don't count. Other
 * files are never returned.
 */
export function listOutdated(names: readonly string[], keep: RetentionCounts): string[] {
  const backups = names
    .flatMap((name) => {
      const at = parseTime(name);
      return at === null ? [] : [{ name, at }];
    })
    .toSorted((one, other) => other.at - one.at);
  const dayNumberOf = (at: number) => Math.floor(at / dayMs);
  const retained = new Set([
    ...pickLastOfEachPeriod(backups, dayNumberOf, keep.keepDaily),
    // Weeks are counted from a Monday; 1 January 1970 was a Thursday.
    ...pickLastOfEachPeriod(
      backups,
      (at) => Math.floor((dayNumberOf(at) + 3) / 7),
      keep.keepWeekly,
    ),
    ...pickLastOfEachPeriod(
      backups,
      (at) => new Date(at).toISOString().slice(0, 7),
      keep.keepMonthly,
    ),
  ]);
  return backups.map(({ name }) => name).filter((name) => !retained.has(name));
}

function pickLastOfEachPeriod(
  newestFirst: readonly { name: string; at: number }[],
  periodOf: (at: number) => string | number,
  count: number,
): string[] {
  const periods = new Map<string | number, string>();
  for (const { name, at } of newestFirst)
    if (!periods.has(periodOf(at))) periods.set(periodOf(at), name);
  return [...periods.values()].slice(0, count);
}

type Daily = { time: string; timeZone: string };

/** Returns the latest instant up to `now` at which the local time of the zone was `time`. */
export function findLastMoment({ time, timeZone }: Daily, now: number): number {
  const today = toLocal(now, timeZone);
  const moments = [0, 1, 2].map((days) =>
    findMomentOnDay({ time, timeZone }, today - days * dayMs),
  );
  return moments.find((moment) => moment <= now) ?? now;
}

/** Returns the first instant after `now` at which the local time of the zone will be `time`. */
export function findNextMoment({ time, timeZone }: Daily, now: number): number {
  const today = toLocal(now, timeZone);
  const moments = [-1, 0, 1, 2].map((days) =>
    findMomentOnDay({ time, timeZone }, today + days * dayMs),
  );
  return moments.find((moment) => moment > now) ?? now + dayMs;
}

function findMomentOnDay({ time, timeZone }: Daily, local: number): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const midnight = Math.floor(local / dayMs) * dayMs;
  return toInstant(midnight + (hours * 60 + minutes) * minuteMs, timeZone);
}

/** Whether a backup or a retry is due. Stored times more than a day ahead come from a wrong clock and are ignored. */
export function isDue(
  daily: Daily,
  { triedFor, retryAt }: { triedFor: number; retryAt: number | null },
  now: number,
): boolean {
  return (
    findLastMoment(daily, now) > triedFor ||
    triedFor > now + dayMs ||
    (retryAt !== null && (retryAt <= now || retryAt > now + dayMs))
  );
}
