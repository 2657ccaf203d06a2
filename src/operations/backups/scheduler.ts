/** Creates scheduled backups, and removes those beyond the retention. */
import type { Leases } from "../../cluster/leases.ts";
import { type Clock, hourMs, formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { type Collector, createFamily } from "../../core/metrics.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import type { RunningCopy, Sealing } from "../../database/backup/copy.ts";
import type { Store } from "../../database/store.ts";
import {
  listAdministratorOrganizations,
  recordProblem,
  recordProblemEnd,
} from "../../events/problems.ts";
import { createDestination } from "./destination.ts";
import { isDue, findLastMoment, listOutdated, createScheduledName } from "./rules.ts";
import type { BackupPlan } from "./schedule-schema.ts";
import { openPlan } from "./schedule-service.ts";
import { findSchedule, recordOutcome, type ScheduleRow } from "./schedule-store.ts";

const tickMs = 30_000;
/** Retry interval after a failed backup. */
const retryMs = hourMs;
/** Timeout of each operation of a destination. */
const timeoutMs = 6 * hourMs;

type Dependencies = {
  store: Store;
  clock: Clock;
  leases: Leases;
  vault: Vault;
  targets: TargetGuard;
  log: Log;
  /** Folder for a backup until it is uploaded. */
  workIn: string;
  copyTo: (file: string, sealing: Sealing | null) => RunningCopy;
};

type Outcome = { triedFor: number; retryAt: number | null; lastError: string };

export class ScheduledBackups implements Collector {
  readonly #dependencies: Dependencies;
  #copying: RunningCopy | null = null;
  /** Backup in progress. Resolves to the reason of a failure, or to null after success. */
  #running: Promise<string | null> | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;
  #isStopped = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  start() {
    const { log } = this.#dependencies;
    this.#timer = setInterval(() => {
      this.runOnce().catch((error: unknown) =>
        log.error("scheduled backups are not looked at", { cause: String(error) }),
      );
    }, tickMs);
  }

  stop() {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#copying?.cancel();
  }

  /** Creates a backup if one is due. Tests use it instead of `start`. */
  async runOnce() {
    const { store, vault, leases, clock } = this.#dependencies;
    if (this.#running !== null || leases.findNamed("backups") === null) return;
    const row = await findSchedule(store);
    if (row === null || this.#running !== null) return;
    const { enabled, ...daily } = openPlan(vault, row);
    if (enabled && isDue(daily, row, clock())) await this.#run(row);
  }

  /**
   * Creates a backup now. Throws CONFLICT while another is in progress or if scheduled backups are
   * off, and UNAVAILABLE with the reason of a failure.
   */
  async runNow() {
    const { store, vault } = this.#dependencies;
    if (this.#running !== null)
      throw new AppError(
        "CONFLICT",
        "Another backup is in progress. Try again when it is finished.",
      );
    const row = await findSchedule(store);
    if (row === null || !openPlan(vault, row).enabled)
      throw new AppError("CONFLICT", "Scheduled backups are off. Turn them on first.");
    const reason = await this.#run(row);
    if (reason !== null) throw new AppError("UNAVAILABLE", `The backup failed: ${reason}`);
  }

  async metrics() {
    const { store, vault } = this.#dependencies;
    const row = await findSchedule(store);
    const lastSuccessAt = row?.lastSuccessAt ?? null;
    return [
      createFamily(
        "signalbox_backup_enabled",
        "gauge",
        "1 while scheduled backups are on.",
        Number(row !== null && openPlan(vault, row).enabled),
      ),
      createFamily(
        "signalbox_backup_last_success_timestamp_seconds",
        "gauge",
        "Unix time of the last successful scheduled backup.",
        lastSuccessAt === null ? null : Date.parse(lastSuccessAt) / 1_000,
      ),
      createFamily(
        "signalbox_backup_last_size_bytes",
        "gauge",
        "Size of the last successful scheduled backup.",
        row?.lastBytes ?? null,
      ),
      createFamily(
        "signalbox_backup_failing",
        "gauge",
        "1 while the last scheduled backup failed.",
        Number((row?.failingSince ?? null) !== null),
      ),
    ];
  }

  #run(row: ScheduleRow): Promise<string | null> {
    this.#running ??= this.#createBackup(row).finally(() => (this.#running = null));
    return this.#running;
  }

  async #createBackup(row: ScheduleRow): Promise<string | null> {
    const { store, vault, clock, log } = this.#dependencies;
    const plan = openPlan(vault, row);
    const now = clock();
    const name = createScheduledName(now, plan.passphrase !== null);
    const triedFor = findLastMoment(plan, now);
    let isCreated = false;
    try {
      const destination = this.#createDestination(plan);
      const lastBytes = await runWithTimeout(destination.put(name));
      const lastSuccessAt = formatTimestamp(clock());
      const success = { triedFor, lastSuccessAt, lastFile: name, lastBytes };
      await store.atomic([recordOutcome(store, success)]);
      isCreated = true;
      for (const old of listOutdated(await runWithTimeout(destination.names()), plan))
        await runWithTimeout(destination.remove(old));
      const recovered = { retryAt: null, failingSince: null, lastError: null };
      await store.atomic([
        recordOutcome(store, recovered),
        ...recordProblemEnd({ name: "backup" }, `${name} was made.`, clock()),
      ]);
      log.info("a scheduled backup was made", { name, bytes: lastBytes });
      return null;
    } catch (error) {
      if (this.#isStopped) return null;
      this.#copying?.cancel();
      const reason = isCreated
        ? `It was made, but older ones can't be removed: ${describeReason(error)}`
        : describeReason(error);
      const retryAt = isCreated ? null : clock() + retryMs;
      await this.#recordFailure(row, { triedFor, retryAt, lastError: reason });
      return reason;
    } finally {
      this.#copying = null;
    }
  }

  #createDestination(plan: BackupPlan) {
    const { workIn, targets, clock, copyTo } = this.#dependencies;
    const { passphrase, includeKey } = plan;
    const sealing = passphrase === null ? null : { passphrase, withKey: includeKey };
    return createDestination(plan, {
      workIn,
      targets,
      clock,
      copyTo: (file) => {
        this.#copying = copyTo(file, sealing);
        return this.#copying.done;
      },
    });
  }

  /** Records a failure. Retries of the same scheduled time belong to one problem, so it is reported once. */
  async #recordFailure(row: ScheduleRow, outcome: Outcome) {
    const { store, clock, log } = this.#dependencies;
    log.error("a scheduled backup failed", { cause: outcome.lastError });
    const now = clock();
    const problem = {
      name: "backup",
      stage: String(outcome.triedFor),
      severity: "warning",
      message: `The scheduled backup failed: ${outcome.lastError}`,
      until: null,
    } as const;
    await store.atomic([
      recordOutcome(store, { ...outcome, failingSince: row.failingSince ?? formatTimestamp(now) }),
      ...recordProblem(await listAdministratorOrganizations(store), problem, now),
    ]);
  }
}

async function runWithTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("It took too long.")), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error as one sentence, without the prefix of a child process. */
function describeReason(error: unknown): string {
  const { message, code } = error as Error & { code?: string };
  const text = (message || code || String(error)).replace(/^signalbox: /, "").trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
