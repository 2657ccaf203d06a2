import type { Leases } from "../../cluster/leases.ts";
import { type Clock, hourMs, timestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { type Collector, family } from "../../core/metrics.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import type { Copying, Sealing } from "../../database/backup/copy.ts";
import type { Store } from "../../database/store.ts";
import {
  organizationsOfAdministrators,
  recordProblem,
  recordProblemEnd,
} from "../../events/problems.ts";
import { destinationOf } from "./destination.ts";
import { isDue, lastMoment, outdated, scheduledNameOf } from "./rules.ts";
import { planOf } from "./schedule-service.ts";
import { findSchedule, recordOutcome, type ScheduleRow } from "./schedule-store.ts";

const tickMs = 30_000;
/** A failed backup is made again after so long. */
const retryMs = hourMs;
/** A service that takes longer than this to answer does not. */
const patienceMs = 6 * hourMs;

type Dependencies = {
  store: Store;
  clock: Clock;
  leases: Leases;
  vault: Vault;
  targets: TargetGuard;
  log: Log;
  /** For what is sent elsewhere, until it is. */
  workIn: string;
  copyTo: (file: string, sealing: Sealing | null) => Copying;
};

type ScheduledBackups = Collector & {
  start(): void;
  stop(): void;
  /** Makes a backup if one is due: for tests, instead of `start`. */
  runOnce(): Promise<void>;
  /** Makes one now. Throws CONFLICT while one is being made or where none is set, and UNAVAILABLE with the reason. */
  runNow: () => Promise<void>;
};

/** Makes a backup each day at its time and removes those that are no longer kept. */
export function scheduledBackups({
  store,
  clock,
  leases,
  vault,
  targets,
  log,
  workIn,
  copyTo,
}: Dependencies): ScheduledBackups {
  let copying: Copying | null = null;
  let running: Promise<string | null> | null = null;
  let timer: ReturnType<typeof setInterval> | null = null;
  let isStopped = false;

  async function runOnce() {
    if (running !== null || leases.named("backups") === null) return;
    const row = await findSchedule(store);
    if (row === null || running !== null) return;
    const { enabled, ...daily } = planOf(vault, row);
    if (enabled && isDue(daily, row, clock())) await run(row);
  }

  function run(row: ScheduleRow): Promise<string | null> {
    running ??= made(row).finally(() => (running = null));
    return running;
  }

  /** Returns why it failed; null where it did not. */
  async function made(row: ScheduleRow): Promise<string | null> {
    const plan = planOf(vault, row);
    const { passphrase, includeKey } = plan;
    const sealing = passphrase === null ? null : { passphrase, withKey: includeKey };
    const now = clock();
    const name = scheduledNameOf(now, sealing !== null);
    const triedFor = lastMoment(plan, now);
    let isMade = false;
    try {
      const to = destinationOf(plan, {
        workIn,
        targets,
        clock,
        copyTo: (file) => {
          copying = copyTo(file, sealing);
          return copying.done;
        },
      });
      const lastBytes = await inTime(to.put(name));
      const lastSuccessAt = timestamp(clock());
      const success = { triedFor, lastSuccessAt, lastFile: name, lastBytes };
      await store.atomic([recordOutcome(store, success)]);
      isMade = true;
      for (const old of outdated(await inTime(to.names()), plan)) await inTime(to.remove(old));
      const over = { retryAt: null, failingSince: null, lastError: null };
      await store.atomic([
        recordOutcome(store, over),
        ...recordProblemEnd({ name: "backup" }, `${name} was made.`, clock()),
      ]);
      log.info("a scheduled backup was made", { name, bytes: lastBytes });
      return null;
    } catch (error) {
      if (isStopped) return null;
      copying?.cancel();
      const reason = isMade
        ? `It was made, but older ones can't be removed: ${reasonOf(error)}`
        : reasonOf(error);
      log.error("a scheduled backup failed", { cause: reason });
      await fail(row, { triedFor, retryAt: isMade ? null : clock() + retryMs, lastError: reason });
      return reason;
    } finally {
      copying = null;
    }
  }

  /** Tells of it once a day, however often it is tried. */
  async function fail(
    row: ScheduleRow,
    outcome: { triedFor: number; retryAt: number | null; lastError: string },
  ) {
    const now = clock();
    const problem = {
      name: "backup",
      stage: String(outcome.triedFor),
      severity: "warning",
      message: `The scheduled backup failed: ${outcome.lastError}`,
      until: null,
    } as const;
    await store.atomic([
      recordOutcome(store, { ...outcome, failingSince: row.failingSince ?? timestamp(now) }),
      ...recordProblem(await organizationsOfAdministrators(store), problem, now),
    ]);
  }

  return {
    start() {
      timer = setInterval(() => {
        runOnce().catch((error: unknown) =>
          log.error("scheduled backups are not looked at", { cause: String(error) }),
        );
      }, tickMs);
    },
    stop() {
      isStopped = true;
      if (timer !== null) clearInterval(timer);
      copying?.cancel();
    },
    runOnce,
    async metrics() {
      const row = await findSchedule(store);
      const lastSuccessAt = row?.lastSuccessAt ?? null;
      return [
        family(
          "signalbox_backup_enabled",
          "gauge",
          "1 while scheduled backups are on.",
          Number(row !== null && planOf(vault, row).enabled),
        ),
        family(
          "signalbox_backup_last_success_timestamp_seconds",
          "gauge",
          "Unix time of the last successful scheduled backup.",
          lastSuccessAt === null ? null : Date.parse(lastSuccessAt) / 1_000,
        ),
        family(
          "signalbox_backup_last_size_bytes",
          "gauge",
          "Size of the last successful scheduled backup.",
          row?.lastBytes ?? null,
        ),
        family(
          "signalbox_backup_failing",
          "gauge",
          "1 while the last scheduled backup failed.",
          Number((row?.failingSince ?? null) !== null),
        ),
      ];
    },
    async runNow() {
      if (running !== null)
        throw new AppError(
          "CONFLICT",
          "Another backup is in progress. Try again when it is finished.",
        );
      const row = await findSchedule(store);
      if (row === null || !planOf(vault, row).enabled)
        throw new AppError("CONFLICT", "Scheduled backups are off. Turn them on first.");
      const reason = await run(row);
      if (reason !== null) throw new AppError("UNAVAILABLE", `The backup failed: ${reason}`);
    },
  };
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("It took too long.")), patienceMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One sentence, without what a child process puts before it. */
function reasonOf(error: unknown): string {
  const { message, code } = error as Error & { code?: string };
  const text = (message || code || String(error)).replace(/^signalbox: /, "").trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
