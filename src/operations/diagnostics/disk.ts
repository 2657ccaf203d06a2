/** Examines the free disk space, and the size and growth of the database. */
import { existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { type Clock, dayMs, formatTimestamp, hourMs } from "../../core/time/clock.ts";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import { formatBytes } from "../../core/text/formatting.ts";
import { getDataFiles } from "../../database/file/data-files.ts";
import type { Store } from "../../database/store.ts";
import {
  sumBytesPerDay,
  computeDaysUntilFull,
  type DataGrowth,
  rowBytes,
} from "../retention/growth.ts";
import type { Diagnosis } from "./diagnostic.ts";

/** Free space that an upgrade needs for its copy, as a multiple of the database size. See `copyBeforeUpgrade`. */
const upgradeShare = 1.5;
/** Size above which the database's log is too long. SQLite truncates an unused log to 64 MiB. */
const longLogBytes = 256 * 1024 ** 2;
const soonDays = 30;
/** Number of past days from which the daily growth is estimated. */
const observedDays = 7;

/** Free space below this is a problem on any disk … */
const minFreeBytes = 1_000_000_000;
/** … and so is a free share of the disk below this. */
const minFreeShare = 0.05;
/** A problem ends only if the free space is this factor above the threshold. */
const recoveryFactor = 1.2;

/** Free and total bytes of a file system. `free` is the space available to this process. */
export type Disk = { free: number; total: number };

export async function measureDisk(path: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}

const roomAdvice = "Make room, or move the data directory to a larger disk.";

export function examineDiskSpace({ free, total }: Disk, isOpen: boolean): Diagnosis {
  const subject = "disk space";
  const message = `${formatBytes(free)} of ${formatBytes(total)} are free`;
  const threshold = Math.max(minFreeBytes, total * minFreeShare) * (isOpen ? recoveryFactor : 1);
  if (free >= threshold) return createOkFinding(subject, message);
  return {
    ...createProblemFinding(subject, message, roomAdvice),
    problem: {
      name: "disk",
      stage: "",
      severity: "error",
      message: `The disk of the data directory has ${formatBytes(free)} left of ${formatBytes(total)}. When it is full, no check results and no alerts can be stored. Free some space, or keep less (--keep-results).`,
      until: null,
    },
  };
}

type Retention = { keepResults: number; keepHours: number };
type DiskContext = {
  path: string;
  store: Store;
  clock: Clock;
  settings: Retention & { database?: string | undefined };
  diskOf: () => Promise<Disk>;
};

/** Compares the free disk space with the size and growth of the database. Returns nothing on a cluster. */
export async function examineDatabaseSize({
  path,
  store,
  clock,
  settings,
  diskOf,
}: DiskContext): Promise<Finding[]> {
  if (settings.database !== undefined) return [];
  const { database } = getDataFiles(path);
  const { free } = await diskOf();
  const { size } = statSync(database);
  return [
    examineGrowth(free, await estimateGrowth(store, settings, clock())),
    examineRoomForCopies(free, size),
    await examineSize(store, size),
    examineLog(`${database}-wal`),
  ];
}

function examineGrowth(free: number, growths: readonly DataGrowth[]): Finding {
  const days = computeDaysUntilFull(free, growths);
  const a = `it grows by ${formatBytes(sumBytesPerDay(growths))} a day`;
  if (days > 10 * 365)
    return createOkFinding("growth", `${a}, and the disk is enough for ten years`);
  const message = `${a}: the disk is full in ${Math.floor(days)} days`;
  return days < soonDays
    ? createWarningFinding(
        "growth",
        message,
        `${roomAdvice} \`serve --keep-results DAYS\` keeps less.`,
      )
    : createOkFinding("growth", message);
}

function examineRoomForCopies(free: number, size: number): Finding {
  const needed = Math.ceil(size * upgradeShare);
  if (free >= needed)
    return createOkFinding("room for copies", "there is, for an upgrade and for a backup");
  return createWarningFinding(
    "room for copies",
    `an upgrade stores a copy of the old data if ${formatBytes(needed)} are free, but there is less`,
    `${roomAdvice} Until then, upgrade with \`--require-copy\`, which fails without space for a copy.`,
  );
}

async function examineSize(store: Store, size: number): Promise<Finding> {
  const [row] = await store.query<{ bytes: number }>(
    "select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size",
    [],
  );
  const unused = row?.bytes ?? 0;
  const compactHint = unused < 1_000_000 ? "" : ` (\`signalbox compact\` gives it back)`;
  return createOkFinding(
    "size",
    `${formatBytes(size)}, of which ${formatBytes(unused)} are room for new rows${compactHint}`,
  );
}

function examineLog(file: string): Finding {
  const bytes = existsSync(file) ? statSync(file).size : 0;
  if (bytes <= longLogBytes)
    return createOkFinding("log", `the database's log has ${formatBytes(bytes)}`);
  return createWarningFinding(
    "log",
    `the database's log has ${formatBytes(bytes)}: a program holds a read transaction open`,
    "Stop the program that has it open (`fuser -v signalbox.db`), such as a forgotten sqlite3, or restart the server.",
  );
}

/** Estimates the growth from the active monitors and the changes of recent days. */
async function estimateGrowth(
  store: Store,
  retentionDays: Retention,
  now: number,
): Promise<DataGrowth[]> {
  const since = formatTimestamp(now - observedDays * dayMs);
  const [counts] = await store.query<Record<string, number | null>>(
    `select
       (select count(*) from monitor_states where not paused) as monitors,
       (select coalesce(sum(86400.0 / interval_seconds), 0)
          from monitors m join monitor_states s
            on s.organization_id = m.organization_id and s.monitor_id = m.id
          where not s.paused) as checks,
       (select min((select h.at from heartbeats h where h.monitor_key = s.key order by h.at limit 1))
          from monitor_states s) as first_result,
       (select min(hour) from uptime_hours) as first_hour,
       (select count(*) from events where at >= ?1 and type like 'monitor.%') as state_changes,
       (select count(*) from events where at >= ?1 and type not like 'monitor.%') as events,
       (select count(*) from audit_entries where at >= ?1) as audit_entries,
       (select count(*) from deliveries where created_at >= ?1) as deliveries`,
    [since],
  );
  const count = (name: string) => counts?.[name] ?? 0;
  const countDaysSince = (at: number | null | undefined) => (at == null ? 0 : (now - at) / dayMs);
  const firstHour = counts?.["first_hour"];
  const changes =
    count("state_changes") * rowBytes.stateChange +
    count("events") * rowBytes.event +
    count("audit_entries") * rowBytes.auditEntry +
    count("deliveries") * rowBytes.delivery;
  return [
    {
      bytesPerDay: count("checks") * rowBytes.result,
      daysLeft: retentionDays.keepResults - countDaysSince(counts?.["first_result"]),
    },
    {
      bytesPerDay: count("monitors") * 24 * rowBytes.hour,
      daysLeft:
        retentionDays.keepHours - countDaysSince(firstHour == null ? null : firstHour * hourMs),
    },
    { bytesPerDay: count("monitors") * rowBytes.day, daysLeft: Infinity },
    { bytesPerDay: changes / observedDays, daysLeft: Infinity },
  ];
}
