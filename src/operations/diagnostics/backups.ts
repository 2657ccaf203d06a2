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
import { type Clock, dayMs, timestamp } from "../../core/time/clock.ts";
import { fine, type Finding, problem, skipped, warning } from "../../core/finding.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { bytesInWords, durationInWords } from "../../core/text/words.ts";
import { freeBytesOf } from "../../database/file/data-files.ts";
import { isEncrypted } from "../../database/backup/encrypted-file.ts";
import type { Store } from "../../database/store.ts";
import { bytesOf } from "../about/store.ts";
import { destinationOf } from "../backups/destination.ts";
import { nextMoment, timeIn } from "../backups/rules.ts";
import type { BackupPlan } from "../backups/schedule-schema.ts";
import { planOf } from "../backups/schedule-service.ts";
import { findSchedule, type ScheduleRow } from "../backups/schedule-store.ts";
import { backupProblem } from "../problems/rules.ts";
import { adviceOn, hostMs, sentenceOf } from "./hosts.ts";

const subject = "backup";
const turnOn =
  "Turn on scheduled backups under Settings → Backup; or write them with `signalbox backup FILE` and have `doctor --backups FOLDER` look at them.";

type Looking = {
  store: Store;
  vault: Vault;
  path: string;
  clock: Clock;
  /** Where other programs keep backups. */
  folder?: string | undefined;
};

/** Whether the latest backup that is known of is young enough. */
export async function examineBackups({
  store,
  vault,
  path,
  clock,
  folder,
}: Looking): Promise<Finding[]> {
  const now = clock();
  if (folder !== undefined) return [inFolder(folder, now)];
  const row = await findSchedule(store);
  const plan = planOf(vault, row);
  if (row !== null && plan.enabled)
    return [
      bySchedule(row, plan, now),
      ...(plan.to === "folder" ? place(plan.folder ?? "", path, await bytesOf(store)) : []),
    ];
  if (existsSync(join(path, ".signalbox.db-litestream")))
    return [fine(subject, "litestream copies the database")];
  const message = "no schedule, and no backup that is known of";
  // Nothing is lost yet.
  if (now - (await beganAt(store, now)) < dayMs) return [skipped(subject, message, turnOn)];
  return [warning(subject, message, turnOn)];
}

function bySchedule(row: ScheduleRow, plan: BackupPlan, now: number): Finding {
  const { lastSuccessAt, failingSince, lastError } = row;
  const trying = "Put that right, then choose Back up now under Settings → Backup.";
  if (failingSince !== null)
    return problem(subject, `it fails since ${failingSince}: ${lastError ?? ""}`, trying);
  const since = Date.parse(lastSuccessAt ?? row.updatedAt);
  const judgedSince = Math.max(since, Date.parse(row.updatedAt));
  const next = `the next is due at ${timestamp(nextMoment(plan, now))}`;
  if (backupProblem(judgedSince, now) === null)
    return fine(
      subject,
      lastSuccessAt === null
        ? `scheduled, ${next}`
        : `the last was made ${ago(now, since)} ago, ${next}`,
    );
  return problem(
    subject,
    lastSuccessAt === null
      ? `scheduled for ${ago(now, since)}, and none was made`
      : `the last was made ${ago(now, since)} ago, at ${lastSuccessAt}`,
    "Is the server running? `signalbox service status`; its log (`journalctl -u signalbox`) says why none was made.",
  );
}

const ago = (now: number, at: number) => durationInWords(Math.max(0, now - at) / 1000);

/** Whether the folder of scheduled backups takes one more. */
function place(folder: string, path: string, needed: number): Finding[] {
  const where = "backup folder";
  const owner = "Give it to the account that `serve` runs as: chown signalbox";
  // It is made with the first backup.
  const there = nearest(folder);
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

function nearest(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearest(dirname(folder));
}

/** When the first organization was made; now where there is none. */
async function beganAt(store: Store, now: number): Promise<number> {
  const [row] = await store.query<{ at: string | null }>(
    "select min(created_at) as at from organizations",
    [],
  );
  return row?.at == null ? now : Date.parse(row.at);
}

/** The youngest file there that is a backup of ours, by when it was written. */
function inFolder(folder: string, now: number): Finding {
  const naming = "Name the folder that backups are written to: --backups FOLDER.";
  if (!existsSync(folder)) return problem(subject, `${folder} does not exist`, naming);
  const times = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile() && isBackup(file))
    .map((file) => statSync(file).mtimeMs);
  if (times.length === 0) return problem(subject, `${folder} holds no backup`, naming);
  const message = `the last in ${folder} is ${ago(now, Math.max(...times))} old`;
  return backupProblem(Math.max(...times), now) === null
    ? fine(subject, message)
    : problem(subject, message, "See what writes them: cron, a timer, `journalctl`.");
}

function isBackup(file: string): boolean {
  const start = Buffer.alloc(16);
  const handle = openSync(file, "r");
  readSync(handle, start, 0, start.length, 0);
  closeSync(handle);
  return start.toString("latin1") === "SQLite format 3\0" || isEncrypted(start);
}

type Asking = { store: Store; vault: Vault; path: string; clock: Clock; targets: TargetGuard };

/** Whether the last scheduled backup is where it was put; for a bucket with its own credentials. */
export async function examineKept({
  store,
  vault,
  path,
  clock,
  targets,
}: Asking): Promise<Finding[]> {
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
