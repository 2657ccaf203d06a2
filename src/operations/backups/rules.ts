/** Decides when a backup is due, what it is called and which ones to remove. */
import { dayMs, fileStamp } from "../../core/time/clock.ts";
import { toInstant, toLocal } from "../../core/time/time-zones.ts";

const ending = (isEncrypted: boolean) => (isEncrypted ? "age" : "db");

/** `signalbox-2026-11-20-2302.db`, in UTC: sorts by age, and distinguishes backups of one day. */
export function fileNameOf(now: number, isEncrypted: boolean): string {
  return `signalbox-${fileStamp(now).slice(0, 15)}.${ending(isEncrypted)}`;
}

/** The same to the second. */
export function scheduledNameOf(now: number, isEncrypted: boolean): string {
  return `signalbox-${fileStamp(now)}.${ending(isEncrypted)}`;
}

const scheduledName = /^signalbox-(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(\d\d)\.(?:db|age)$/;

/** Leftover of an interrupted backup. */
export const isPart = (name: string) =>
  name.endsWith(".part") && scheduledName.test(name.slice(0, -".part".length));

/** Creation time from the name of a scheduled backup; null for any other file. */
export function timeIn(name: string): number | null {
  const [, day, hour, minute, second] = scheduledName.exec(name) ?? [];
  const at = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}

type Keep = { keepDaily: number; keepWeekly: number; keepMonthly: number };

/**
 * Backups beyond the retention: neither the last of one of the latest days, weeks
 * (from Monday) or months that have one, in UTC. Whatever is no scheduled backup is never named.
 */
export function outdated(names: readonly string[], keep: Keep): string[] {
  const backups = names
    .flatMap((name) => {
      const at = timeIn(name);
      return at === null ? [] : [{ name, at }];
    })
    .toSorted((one, other) => other.at - one.at);
  const day = (at: number) => Math.floor(at / dayMs);
  const kept = new Set([
    ...lastOfEach(backups, day, keep.keepDaily),
    // The first day of 1970 was a Thursday.
    ...lastOfEach(backups, (at) => Math.floor((day(at) + 3) / 7), keep.keepWeekly),
    ...lastOfEach(backups, (at) => new Date(at).toISOString().slice(0, 7), keep.keepMonthly),
  ]);
  return backups.map(({ name }) => name).filter((name) => !kept.has(name));
}

function lastOfEach(
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

/** The last moment up to `now` at which a clock of the zone showed this time of day. */
export function lastMoment({ time, timeZone }: Daily, now: number): number {
  const today = toLocal(now, timeZone);
  const moments = [0, 1, 2].map((days) => momentOn({ time, timeZone }, today - days * dayMs));
  return moments.find((moment) => moment <= now) ?? now;
}

/** The next one after it. */
export function nextMoment({ time, timeZone }: Daily, now: number): number {
  const today = toLocal(now, timeZone);
  const moments = [-1, 0, 1, 2].map((days) => momentOn({ time, timeZone }, today + days * dayMs));
  return moments.find((moment) => moment > now) ?? now + dayMs;
}

function momentOn({ time, timeZone }: Daily, local: number): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const midnight = Math.floor(local / dayMs) * dayMs;
  return toInstant(midnight + (hours * 60 + minutes) * 60_000, timeZone);
}

/** Whether a backup or the retry of a failed one is due. Ignores times far ahead, which a clock set back leaves. */
export function isDue(
  daily: Daily,
  { triedFor, retryAt }: { triedFor: number; retryAt: number | null },
  now: number,
): boolean {
  return (
    lastMoment(daily, now) > triedFor ||
    triedFor > now + dayMs ||
    (retryAt !== null && (retryAt <= now || retryAt > now + dayMs))
  );
}
