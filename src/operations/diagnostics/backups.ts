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
import { type Clock, dayMs, formatUtcMinute, formatTimestamp } from "../../core/time/clock.ts";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createSkippedFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { formatBytes, formatDuration } from "../../core/text/formatting.ts";
import { measureFreeBytes } from "../../database/file/data-files.ts";
import { isEncrypted } from "../../database/backup/encrypted-file.ts";
import type { Store } from "../../database/store.ts";
import { readDataBytes } from "../appliance/store.ts";
import { createDestination } from "../backups/destination.ts";
import { findNextMoment, parseTime } from "../backups/rules.ts";
import { openPlan } from "../backups/schedule-service.ts";
import { findSchedule } from "../backups/schedule-store.ts";
import type { Diagnosis } from "./diagnostic.ts";
import { adviseOnFailure, hostTimeoutMs, describeFailure } from "./hosts.ts";

const subject = "backup";
const turnOn =
  "Turn on scheduled backups under Settings → Backup; or write them with `signalbox backup FILE` and have `doctor --backups FOLDER` look at them.";
/** Maximum age of the last backup. Schedules are daily, so a second missed backup is a problem. */
const maxAgeMs = 2 * dayMs;

type BackupContext = { store: Store; vault: Vault; clock: Clock };

/** Examines the last success of scheduled backups. Returns nothing if they are off. */
export async function examineSchedule({
  store,
  vault,
  clock,
}: BackupContext): Promise<Diagnosis[]> {
  const now = clock();
  const row = await findSchedule(store);
  const plan = openPlan(vault, row);
  if (row === null || !plan.enabled) return [];
  const { updatedAt, lastSuccessAt, failingSince, lastError } = row;
  // No problem is opened here, because the scheduler opens one for each failed backup.
  if (failingSince !== null)
    return [
      createProblemFinding(
        subject,
        `it fails since ${failingSince}: ${lastError ?? ""}`,
        "Put that right, then choose Back up now under Settings → Backup.",
      ),
    ];
  const since = Date.parse(lastSuccessAt ?? updatedAt);
  // Time before the last change to the schedule does not count, because the schedule can have been off.
  const judgedSince = Math.max(since, Date.parse(updatedAt));
  const age = describeAge(now, since);
  if (now - judgedSince <= maxAgeMs) {
    const next = `the next is due at ${formatTimestamp(findNextMoment(plan, now))}`;
    const message =
      lastSuccessAt === null ? `scheduled, ${next}` : `the last was made ${age} ago, ${next}`;
    return [createOkFinding(subject, message)];
  }
  const found = createProblemFinding(
    subject,
    lastSuccessAt === null
      ? `scheduled for ${age}, and none was made`
      : `the last was made ${age} ago, at ${lastSuccessAt}`,
    "Is the server running? `signalbox service status`; its log (`journalctl -u signalbox`) shows why none was created.",
  );
  const message = `There has been no scheduled backup since ${formatUtcMinute(judgedSince)}, for more than two days. See Settings → Backup.`;
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
}: BackupContext & { path: string; folder?: string | undefined }): Promise<Finding[]> {
  const { store, vault, clock } = stored;
  const now = clock();
  if (folder !== undefined) return [examineFolder(folder, now)];
  const scheduled = await examineSchedule(stored);
  if (scheduled.length > 0) {
    const plan = openPlan(vault, await findSchedule(store));
    if (plan.to !== "folder") return scheduled;
    return [...scheduled, ...examineTarget(plan.folder ?? "", path, await readDataBytes(store))];
  }
  if (existsSync(join(path, ".signalbox.db-litestream")))
    return [createOkFinding(subject, "litestream copies the database")];
  const message = "no schedule, and no backup that is known of";
  // A missing backup causes no warning on the first day.
  if (now - (await findFirstCreation(store, now)) < dayMs)
    return [createSkippedFinding(subject, message, turnOn)];
  return [createWarningFinding(subject, message, turnOn)];
}

const describeAge = (now: number, at: number) => formatDuration(Math.max(0, now - at) / 1000);

/** Examines whether the folder of scheduled backups is writable and has space for one more. */
function examineTarget(folder: string, path: string, needed: number): Finding[] {
  const where = "backup folder";
  const owner = "Give it to the account that `serve` runs as: chown signalbox";
  // The first backup creates the folder, so its nearest existing parent is examined.
  const existingFolder = findNearestExisting(folder);
  try {
    accessSync(existingFolder, constants.W_OK);
  } catch {
    return [
      createProblemFinding(
        where,
        `${existingFolder} can't be written by this user`,
        `${owner} ${existingFolder}`,
      ),
    ];
  }
  const free = measureFreeBytes(existingFolder);
  if (free < needed)
    return [
      createProblemFinding(
        where,
        `${folder} has ${formatBytes(free)} free, and a backup takes ${formatBytes(needed)}`,
        "Make room there, or keep fewer under Settings → Backup.",
      ),
    ];
  const isSame = statSync(existingFolder).dev === statSync(path).dev;
  return [
    createOkFinding(
      where,
      isSame ? `${folder}, on the same disk as the data: copy them elsewhere, too` : folder,
    ),
  ];
}

function findNearestExisting(folder: string): string {
  return existsSync(folder) || folder === dirname(folder)
    ? folder
    : findNearestExisting(dirname(folder));
}

/** Returns when the first organization was created; `now` without one. */
async function findFirstCreation(store: Store, now: number): Promise<number> {
  const [row] = await store.query<{ at: string | null }>(
    "select min(created_at) as at from organizations",
    [],
  );
  return row?.at == null ? now : Date.parse(row.at);
}

/** Examines the newest backup in a folder, by its modification time. */
function examineFolder(folder: string, now: number): Finding {
  const naming = "Name the folder that backups are written to: --backups FOLDER.";
  if (!existsSync(folder)) return createProblemFinding(subject, `${folder} does not exist`, naming);
  const times = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile() && isBackup(file))
    .map((file) => statSync(file).mtimeMs);
  if (times.length === 0) return createProblemFinding(subject, `${folder} holds no backup`, naming);
  const message = `the last in ${folder} is ${describeAge(now, Math.max(...times))} old`;
  return now - Math.max(...times) <= maxAgeMs
    ? createOkFinding(subject, message)
    : createProblemFinding(subject, message, "See what writes them: cron, a timer, `journalctl`.");
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
}: BackupContext & { path: string; targets: TargetGuard }): Promise<Finding[]> {
  const row = await findSchedule(store);
  const plan = openPlan(vault, row);
  if (row === null || !plan.enabled || plan.to !== "s3" || plan.s3 === null) return [];
  const where = "backup bucket";
  const { endpoint, bucket } = plan.s3;
  const name = `${bucket} at ${new URL(endpoint).origin}`;
  try {
    const destination = createDestination(plan, {
      workIn: path,
      targets,
      clock,
      copyTo: () => Promise.reject(new Error("Nothing is copied.")),
      patience: { timeoutMs: hostTimeoutMs, attempts: 1 },
    });
    const names = await destination.names();
    const backups = names.filter((one) => parseTime(one) !== null);
    if (row.lastFile !== null && !backups.includes(row.lastFile))
      return [
        createWarningFinding(
          where,
          `${name} does not hold ${row.lastFile}, the last that was sent`,
          "See who removes it: a lifecycle rule of the bucket, or a person.",
        ),
      ];
    return [createOkFinding(where, `${name} responds, backups in it: ${backups.length}`)];
  } catch (error) {
    return [
      createProblemFinding(
        where,
        `${name}: ${describeFailure(error)}`,
        adviseOnFailure(error, new URL(endpoint).origin),
      ),
    ];
  }
}
