import { existsSync, statfsSync, statSync } from "node:fs";
import { type Clock, dayMs, timestamp } from "../../core/time/clock.ts";
import { fine, type Finding, problem, warning } from "../../core/finding.ts";
import { bytesInWords } from "../../core/text/words.ts";
import { files, freeBytesOf } from "../../database/file/data-files.ts";
import type { Store } from "../../database/store.ts";
import { bytesPerDay, daysUntilFull, type Growing, rowBytes } from "../retention/growth.ts";
import { diskProblem } from "../problems/rules.ts";

/** What an upgrade needs of the database's size; see `copyBeforeUpgrade`. */
const upgradeShare = 1.5;
/** A log is cut to 64 MiB when nobody reads it. */
const longLogBytes = 256 * 1024 ** 2;
const soonDays = 30;
/** So many days of changes tell how many a day there are. */
const observedDays = 7;

type Kept = { keepResults: number; keepHours: number };

/** Room on the disk against what the database has and what it will take. */
export async function examineDisk(
  path: string,
  { store, clock, kept }: { store: Store; clock: Clock; kept: Kept },
  freeBytes = freeBytesOf(path),
): Promise<Finding[]> {
  const { database } = files(path);
  const size = statSync(database).size;
  const growing = await growthOf(store, kept, clock());
  return [
    diskSpace(path, freeBytes),
    growth(freeBytes, growing),
    copies(freeBytes, size),
    await sizeOf(store, size),
    log(`${database}-wal`),
  ];
}

const roomAdvice = "Make room, or move the data directory to a larger disk.";

/** Also where there is no database that could be asked. */
export function diskSpace(path: string, free = freeBytesOf(path)): Finding {
  const { blocks, bsize } = statfsSync(path);
  const total = blocks * bsize;
  const message = `${bytesInWords(free)} of ${bytesInWords(total)} are free`;
  return diskProblem({ free, total }, false) === null
    ? fine("disk space", message)
    : problem("disk space", message, roomAdvice);
}

function growth(free: number, growing: readonly Growing[]): Finding {
  const days = daysUntilFull(free, growing);
  const a = `it takes ${bytesInWords(bytesPerDay(growing))} more a day`;
  if (days > 10 * 365) return fine("growth", `${a}, and the disk is enough for ten years`);
  const message = `${a}: the disk is full in ${Math.floor(days)} days`;
  return days < soonDays
    ? warning("growth", message, `${roomAdvice} \`serve --keep-results DAYS\` keeps less.`)
    : fine("growth", message);
}

function copies(free: number, size: number): Finding {
  const needed = Math.ceil(size * upgradeShare);
  if (free >= needed) return fine("room for copies", "there is, for an upgrade and for a backup");
  return warning(
    "room for copies",
    `an upgrade keeps the old data where ${bytesInWords(needed)} are free, and they are not`,
    `${roomAdvice} Until then upgrade with \`--require-copy\`, which refuses without one.`,
  );
}

async function sizeOf(store: Store, size: number): Promise<Finding> {
  const [row] = await store.query<{ bytes: number }>(
    "select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size",
    [],
  );
  const unused = row?.bytes ?? 0;
  const more = unused < 1_000_000 ? "" : ` (\`signalbox compact\` gives it back)`;
  return fine(
    "size",
    `${bytesInWords(size)}, of which ${bytesInWords(unused)} are room for new rows${more}`,
  );
}

function log(file: string): Finding {
  const bytes = existsSync(file) ? statSync(file).size : 0;
  if (bytes <= longLogBytes) return fine("log", `the database's log has ${bytesInWords(bytes)}`);
  return warning(
    "log",
    `the database's log has ${bytesInWords(bytes)}: something reads the database without an end`,
    "End what has it open (`fuser -v signalbox.db`), such as a forgotten sqlite3, or restart the server.",
  );
}

/** What grows, by the monitors that there are and the changes of the last days. */
async function growthOf(store: Store, kept: Kept, now: number): Promise<Growing[]> {
  const since = timestamp(now - observedDays * dayMs);
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
  const daysSince = (at: number | null | undefined) => (at == null ? 0 : (now - at) / dayMs);
  const firstHour = counts?.["first_hour"];
  const changes =
    count("state_changes") * rowBytes.stateChange +
    count("events") * rowBytes.event +
    count("audit_entries") * rowBytes.auditEntry +
    count("deliveries") * rowBytes.delivery;
  return [
    {
      bytesPerDay: count("checks") * rowBytes.result,
      daysLeft: kept.keepResults - daysSince(counts?.["first_result"]),
    },
    {
      bytesPerDay: count("monitors") * 24 * rowBytes.hour,
      daysLeft: kept.keepHours - daysSince(firstHour == null ? null : firstHour * 3_600_000),
    },
    { bytesPerDay: count("monitors") * rowBytes.day, daysLeft: Infinity },
    { bytesPerDay: changes / observedDays, daysLeft: Infinity },
  ];
}
