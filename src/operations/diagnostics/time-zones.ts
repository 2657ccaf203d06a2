/** Compares the time zones that an appliance uses with the time zone data of the machine, which can be newer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import {
  createOkFinding,
  createSkippedFinding,
  type Finding,
  createWarningFinding,
} from "../../core/finding.ts";
import { plainEnvironment } from "../../core/system/programs.ts";
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

/** Warns of zones whose offset differs from that of the machine within the next 400 days. */
export async function examineTimeZones(
  zones: readonly string[],
  now: number,
  folder = "/usr/share/zoneinfo",
  environment = plainEnvironment,
): Promise<Finding[]> {
  const times = Array.from({ length: comparedDays * 2 }, (_, index) => now + (index * dayMs) / 2);
  const unknown: Finding[] = [];
  const different: Finding[] = [];
  for (const zone of zones) {
    const offsets = await readOffsets(join(folder, zone), times, environment);
    const from = times.find(
      (at, index) => offsets !== null && offsets[index] !== findOffset(zone, at),
    );
    if (offsets === null)
      unknown.push(createSkippedFinding(zone, "this machine has no data about this time zone"));
    else if (from !== undefined)
      different.push(
        createWarningFinding(
          zone,
          `Signalbox and this machine disagree about its time from ${formatTimestamp(from).slice(0, 10)} on, so one of them is outdated`,
          "Update Signalbox and the package tzdata, or add newer rules: see “Time zones” in docs/operations.md.",
        ),
      );
  }
  if (unknown.length === zones.length)
    return [
      createSkippedFinding(
        "time zones",
        "this machine has no time zone data, or no GNU `date` that reads them",
      ),
    ];
  return unknown.length + different.length === 0
    ? [createOkFinding("time zones", "Signalbox knows the same times as this machine")]
    : [...different, ...unknown];
}

const findOffset = (zone: string, at: number): string =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).offset;

/**
 * Asks the machine for the offsets of a time zone, such as `+01:00`. Null without a file of the zone, and without GNU
 * `date`, because other versions accept only one time.
 */
async function readOffsets(
  file: string,
  times: readonly number[],
  environment: typeof plainEnvironment,
): Promise<string[] | null> {
  // Without the file, `date` would use UTC.
  if (!existsSync(file)) return null;
  try {
    const run = Bun.spawn(["date", "--file=-", "+%:z"], {
      env: { ...environment, TZ: `:${file}` },
      stdin: Buffer.from(times.map((at) => `@${Math.floor(at / 1000)}\n`).join("")),
      stderr: "ignore",
    });
    const offsets = (await new Response(run.stdout).text()).trimEnd().split("\n");
    return offsets.length === times.length ? offsets : null;
  } catch {
    return null;
  }
}
