/** Compares the time zones that an appliance uses with the time zone data of the machine, which can be newer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import {
  createOkFinding,
  createSkippedFinding,
  type Finding,
  warningFinding,
} from "../../core/finding.ts";
import type { Store } from "../../database/store.ts";

/** Days that are compared. Governments announce most changes later. */
const comparedDays = 400;

const usedZonesSql = `select time_zone as zone from organization_settings
  union select time_zone from people where time_zone is not null
  union select time_zone from maintenance_windows
  union select time_zone from schedules
  union select time_zone from status_pages
  union select quiet_hours ->> 'timeZone' from alert_channels where quiet_hours is not null
  union select drill ->> 'timeZone' from escalation_policies where drill is not null
  union select drill ->> 'timeZone' from memberships where drill is not null
  union select settings ->> 'timeZone' from monitors where type = 'push'`;

/** Lists the time zones of all organizations. */
export const listUsedZones = async (store: Store): Promise<string[]> =>
  (await store.query<{ zone: string | null }>(usedZonesSql, [])).flatMap(({ zone }) => zone ?? []);

/** Warns of zones whose offset differs from that in the files of the machine within the next 400 days. */
export function examineTimeZones(
  zones: readonly string[],
  now: number,
  folder = "/usr/share/zoneinfo",
): Finding[] {
  const compared = zones.flatMap((zone) => {
    const file = readZoneFile(join(folder, zone));
    return file === null ? [] : [{ zone, from: findDifference(zone, file, now) }];
  });
  if (compared.length === 0)
    return [createSkippedFinding("time zones", "this machine has no time zone data to compare")];
  const different = compared.filter(({ from }) => from !== null);
  if (different.length === 0)
    return [createOkFinding("time zones", "Signalbox knows the same times as this machine")];
  return different.map(({ zone, from }) =>
    warningFinding(
      zone,
      `Signalbox and this machine disagree about its time from ${formatTimestamp(from ?? now).slice(0, 10)} on, so one of them is outdated`,
      "Update Signalbox and the package tzdata, or add newer rules: see “Time zones” in docs/operations.md.",
    ),
  );
}

/** Returns the first time at which the offsets differ, in Unix milliseconds; null for none. */
function findDifference(zone: string, file: ZoneFile, now: number): number | null {
  for (let at = now; at < now + comparedDays * dayMs; at += dayMs / 2) {
    const expected = findOffset(file, at / 1000);
    const known = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
    if (expected !== null && expected !== known.offsetNanoseconds / 1e9) return at;
  }
  return null;
}

/** Transitions of a zone in Unix seconds, the offset after each in seconds, and the offset after the last one. */
type ZoneFile = { times: readonly number[]; offsets: readonly number[]; later: number | null };

const headerBytes = 44;

/** Reads a file of time zone data, by RFC 9636. Returns null if there is none, or only in the format of version 1. */
function readZoneFile(path: string): ZoneFile | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return null;
  }
  if (bytes.toString("latin1", 0, 4) !== "TZif" || bytes[4] === 0) return null;
  const first = readCounts(bytes, 0);
  const start = headerBytes + measureData(first, 4);
  const counts = readCounts(bytes, start);
  const data = start + headerBytes;
  const kinds = data + counts.times * 8;
  const types = kinds + counts.times;
  const times = Array.from({ length: counts.times }, (_, index) =>
    Number(bytes.readBigInt64BE(data + index * 8)),
  );
  const offsets = times.map((_, index) =>
    bytes.readInt32BE(types + bytes.readUInt8(kinds + index) * 6),
  );
  const footer = bytes.toString("latin1", data + measureData(counts, 8)).trim();
  return { times, offsets, later: parseConstantOffset(footer) };
}

type Counts = {
  utc: number;
  standard: number;
  leaps: number;
  times: number;
  types: number;
  chars: number;
};

function readCounts(bytes: Buffer, start: number): Counts {
  const read = (index: number) => bytes.readUInt32BE(start + 20 + index * 4);
  return {
    utc: read(0),
    standard: read(1),
    leaps: read(2),
    times: read(3),
    types: read(4),
    chars: read(5),
  };
}

const measureData = ({ utc, standard, leaps, times, types, chars }: Counts, timeBytes: number) =>
  times * (timeBytes + 1) + types * 6 + chars + leaps * (timeBytes + 4) + standard + utc;

/** Returns the offset of a zone without daylight saving time, such as `<+01>-1`, in seconds; null for any other one. */
function parseConstantOffset(footer: string): number | null {
  const found = /^(?:<[^>]+>|[A-Za-z]+)([+-]?)(\d+)(?::(\d+))?(?::(\d+))?$/.exec(footer);
  if (found === null) return null;
  const [, sign = "", hours, minutes = 0, seconds = 0] = found;
  const behind = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === "-" ? behind : 0 - behind;
}

/** Returns the offset at a time in Unix seconds; null if it follows from a rule of daylight saving time. */
function findOffset({ times, offsets, later }: ZoneFile, at: number): number | null {
  const next = times.findIndex((time) => time > at);
  if (next === -1) return later;
  return next === 0 ? null : (offsets[next - 1] ?? null);
}
