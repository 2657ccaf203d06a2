/** Examines backups: their age, free space in their folder, and whether the bucket contains the last one. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, dayMs, minuteInUtc, timestamp } from "../../core/time/clock.ts";
import { fine, type Finding, problem, skipped, warning } from "../../core/finding.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { bytesInWords, durationInWords } from "../../core/text/words.ts";
import { freeBytesOf } from "../../database/file/data-files.ts";
import { isEncrypted } from "../../database/backup/encrypted-file.ts";
import type { Store } from "../../database/store.ts";
import { bytesOf } from "../appliance/store.ts";
import { destinationOf } from "../backups/destination.ts";
import { nextMoment, timeIn } from "../backups/rules.ts";
import { planOf } from "../backups/schedule-service.ts";
import { findSchedule } from "../backups/schedule-store.ts";
import type { Diagnosis } from "./diagnostic.ts";
import { adviceOn, hostMs, sentenceOf } from "./hosts.ts";

const subject = "backup";
const turnOn =
  "Turn on scheduled backups under Settings → Backup; or write them with `signalbox backup FILE` and have `doctor --backups FOLDER` look at them.";
/** Maximum age of the last backup. Schedules are daily, so a second missed backup is a problem. */
const maxAgeMs = 2 * dayMs;

type Stored = { store: Store; vault: Vault; clock: Clock };

/** Examines the last success of scheduled backups. Returns nothing if they are off. */
export async function examineSchedule({ store, vault, clock }: Stored): Promise<Diagnosis[]> {
  const now = clock();
  const row = await findSchedule(store);
  const plan = planOf(vault, row);
  if (row === null || !plan.enabled) return [];
  const { updatedAt, lastSuccessAt, failingSince, lastError } = row;
  // No problem is opened here, because the scheduler opens one for each failed backup.
  if (failingSince !== null)
    return [
      problem(
        subject,
        `it fails since ${failingSince}: ${lastError ?? ""}`,
        "Put that right, then choose Back up now under Settings → Backup.",
      ),
    ];
  const since = Date.parse(lastSuccessAt ?? updatedAt);
  // The age is counted from the last change of the schedule at the earliest, because the schedule
  // can have been off before.
  const judgedSince = Math.max(since, Date.parse(updatedAt));
  const age = ago(now, since);
  if (now - judgedSince <= maxAgeMs) {
    const next = `the next is due at ${timestamp(nextMoment(plan, now))}`;
    const message =
      lastSuccessAt === null ? `scheduled, ${next}` : `the last was made ${age} ago, ${next}`;
    return [fine(subject, message)];
  }
  const found = problem(
    subject,
    lastSuccessAt === null
      ? `scheduled for ${age}, and none was made`
      : `the last was made ${age} ago, at ${lastSuccessAt}`,
    "Is the server running? `signalbox service status`; its log (`journalctl -u signalbox`) says why none was made.",
  );
  const message = `There has been no scheduled backup since ${minuteInUtc(judgedSince)}, for more than two days. See Settings → Backup.`;
  return [
    {
      ...found,
      problem: { name: "backup", stage: "old", severity: "warning", message, until: null },
    },
  ];
}

/** Examines the newest backup of the schedule, of `folder`, or of litestream. */
export async function examineBackups({
  path,
  folder,
  ...stored
}: Stored & { path: string; folder?: string | undefined }): Promise<Finding[]> {
  const { store, vault, clock } = stored;
  const now = clock();
  if (folder !== undefined) return [examineFolder(folder, now)];
  const scheduled = await examineSchedule(stored);
  if (scheduled.length > 0) {
    const plan = planOf(vault, await findSchedule(store));
    if (plan.to !== "folder") return scheduled;
    return [...scheduled, ...examineTarget(plan.folder ?? "", path, await bytesOf(store))];
  }
  if (existsSync(join(path, ".signalbox.db-litestream")))
    return [fine(subject, "litestream copies the database")];
  const message = "no schedule, and no backup that is known of";
  // A missing backup is no warning on the first day.
  if (now - (await beganAt(store, now)) < dayMs) return [skipped(subject, message, turnOn)];
  return [warning(subject, message, turnOn)];
}

const ago = (now: number, at: number) => durationInWords(Math.max(0, now - at) / 1000);

/** Examines whether the folder of scheduled backups is writable and has space for one more. */
function examineTarget(folder: string, path: string, needed: number): Finding[] {
  const where = "backup folder";
  const owner = "Give it to the account that `serve` runs as: chown signalbox";
  // The first backup creates the folder, so its nearest existing parent is examined.
  const there = nearestExisting(folder);
  try {
    accessSync(there, constants.W_OK);
  } catch {
    return [problem(where, `${there} can't be written by this user`, `${owner} ${there}`)];
  }
  const free = freeBytesOf(there);
  if (free < needed)
    return [
      problem(
        where,
        `${folder} has ${bytesInWords(free)} free, and a backup takes ${bytesInWords(needed)}`,
        "Make room there, or keep fewer under Settings → Backup.",
      ),
    ];
  const isSame = statSync(there).dev === statSync(path).dev;
  return [
    fine(
      where,
      isSame ? `${folder}, on the same disk as the data: copy them elsewhere, too` : folder,
    ),
  ];
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || folder === dirname(folder)
    ? folder
    : nearestExisting(dirname(folder));
}

/** Returns when the first organization was created; `now` without one. */
async function beganAt(store: Store, now: number): Promise<number> {
  const [row] = await store.query<{ at: string | null }>(
    "select min(created_at) as at from organizations",
    [],
  );
  return row?.at == null ? now : Date.parse(row.at);
}

/** Examines the newest backup in a folder, by its modification time. */
function examineFolder(folder: string, now: number): Finding {
  const naming = "Name the folder that backups are written to: --backups FOLDER.";
  if (!existsSync(folder)) return problem(subject, `${folder} does not exist`, naming);
  const times = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile() && isBackup(file))
    .map((file) => statSync(file).mtimeMs);
  if (times.length === 0) return problem(subject, `${folder} holds no backup`, naming);
  const message = `the last in ${folder} is ${ago(now, Math.max(...times))} old`;
  return now - Math.max(...times) <= maxAgeMs
    ? fine(subject, message)
    : problem(subject, message, "See what writes them: cron, a timer, `journalctl`.");
}

function isBackup(file: string): boolean {
  const start = Buffer.alloc(22);
  const handle = openSync(file, "r");
  readSync(handle, start, 0, start.length, 0);
  closeSync(handle);
  return start.toString("latin1", 0, 16) === "SQLite format 3\0" || isEncrypted(start);
}

/** Examines whether the bucket still contains the last scheduled backup. */
export async function examineBucket({
  store,
  vault,
  path,
  clock,
  targets,
}: Stored & { path: string; targets: TargetGuard }): Promise<Finding[]> {
  const row = await findSchedule(store);
  const plan = planOf(vault, row);
  if (row === null || !plan.enabled || plan.to !== "s3" || plan.s3 === null) return [];
  const where = "backup bucket";
  const { endpoint, bucket } = plan.s3;
  const name = `${bucket} at ${new URL(endpoint).origin}`;
  try {
    const destination = destinationOf(plan, {
      workIn: path,
      targets,
      clock,
      copyTo: () => Promise.reject(new Error("Nothing is copied.")),
      patience: { timeoutMs: hostMs, attempts: 1 },
    });
    const names = await destination.names();
    const backups = names.filter((one) => timeIn(one) !== null);
    if (row.lastFile !== null && !backups.includes(row.lastFile))
      return [
        warning(
          where,
          `${name} does not hold ${row.lastFile}, the last that was sent`,
          "See who removes it: a lifecycle rule of the bucket, or a person.",
        ),
      ];
    return [fine(where, `${name} answers, backups in it: ${backups.length}`)];
  } catch (error) {
    return [
      problem(where, `${name}: ${sentenceOf(error)}`, adviceOn(error, new URL(endpoint).origin)),
    ];
  }
}
