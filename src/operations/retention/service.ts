/** Removes old rows: short-lived ones every minute, logs and results once a day. */
import { sweepApiKeys } from "../../accounts/api-keys/service.ts";
import { sweepInvitations } from "../../accounts/invitations/retention.ts";
import { sweepSessions } from "../../accounts/sessions/store.ts";
import { sweepOverrides } from "../../alerting/schedules/store.ts";
import { sweepAlerts } from "../../alerting/sending/retention.ts";
import { sweepSources } from "../../alerting/sources/retention.ts";
import { type Leases, guardStoreWithLease } from "../../cluster/leases.ts";
import { sweepNodes } from "../../cluster/store.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import type { Log } from "../../core/log.ts";
import { type Collector, createFamily } from "../../core/metrics.ts";
import {
  setHousekeepingValue,
  type SweepContext,
  createSweeping,
  findHousekeepingValue,
} from "../../database/backup/sweeping.ts";
import type { Store } from "../../database/store.ts";
import { sweepEvents } from "../../events/retention.ts";
import { sweepHeldChanges } from "../../http/held-changes/store.ts";
import { sweepResponses } from "../../http/idempotency.ts";
import { sweepRemovedMonitors, sweepResults } from "../../monitoring/uptime/retention.ts";
import { sweepImports } from "../../imports/store.ts";
import { sweepSubscribers } from "../../status-pages/subscribers/store.ts";
import { sweepOrganizations } from "../appliance/store.ts";
import { sweepAuditLog } from "../audit-log/store.ts";
import { sweepDeletedRecords } from "../deleted-records/store.ts";
import { judgeClock, doubtedClockMs, isDue } from "./rules.ts";
import { readMemory, rememberClock } from "./store.ts";

const tickMs = 60_000;

/** Retention of results, hourly values and the audit log, in days. */
type RetentionDays = { results: number; hours: number; audit: number };

type Dependencies = {
  store: Store;
  clock: Clock;
  leases: Leases;
  log: Log;
  retention: RetentionDays;
  /** Returns the position in the event log that all followers of this process have reached. */
  readUpTo: () => Promise<number>;
  /** Work that every node does each minute. */
  eachMinute?: () => Promise<void>;
};

type Run = "minute" | "day";

export class Housekeeping implements Collector {
  readonly #dependencies: Dependencies;
  /** Wall time of the start: the reference for a jump ahead before the first run. */
  readonly #startedAt: number;
  #isStopped = false;
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;
  /** End of the last run, in Unix milliseconds. */
  #lastEndedAt: number | null = null;
  /** Duration of the last run of each kind, in seconds. */
  readonly #durations = new Map<Run, number>();
  #failures = 0;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#startedAt = dependencies.clock();
  }

  start() {
    this.#timer = setInterval(
      () =>
        this.runOnce().catch((error) => {
          this.#failures++;
          this.#dependencies.log.warn("housekeeping failed", { cause: String(error) });
        }),
      tickMs,
    );
  }

  /** Stops after the current portion. The next run continues with the rest. */
  async stop() {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running?.catch(() => {});
  }

  /** Runs the work of one minute. Tests use it instead of `start`. */
  runOnce() {
    return (this.#running ??= this.#run().finally(() => (this.#running = null)));
  }

  async metrics() {
    const lastDay = await findHousekeepingValue(this.#dependencies.store, "done");
    const at = { minute: this.#lastEndedAt, day: lastDay };
    return [
      createFamily(
        "signalbox_housekeeping_last_success_timestamp_seconds",
        "gauge",
        "Unix time of the last successful housekeeping, by run: each minute or once a day.",
        Object.entries(at).flatMap(([run, time]) =>
          time === null ? [] : [{ labels: { run }, value: time / 1_000 }],
        ),
      ),
      createFamily(
        "signalbox_housekeeping_last_duration_seconds",
        "gauge",
        "Duration of the last housekeeping, by run, including the time for other work.",
        [...this.#durations].map(([run, value]) => ({ labels: { run }, value })),
      ),
      createFamily(
        "signalbox_housekeeping_failures_total",
        "counter",
        "Failed runs of housekeeping.",
        this.#failures,
      ),
    ];
  }

  async #run() {
    const { leases, clock, eachMinute } = this.#dependencies;
    const startedAt = performance.now();
    await eachMinute?.();
    const lease = leases.findNamed("retention");
    if (lease === null) return;
    const store = guardStoreWithLease(this.#dependencies.store, lease);
    const memory = await readMemory(store, this.#startedAt);
    const now = await this.#updateBelievedTime(store, memory);
    const isOver = () => this.#isStopped || leases.findNamed("retention") !== lease;
    const sweeping = createSweeping(store, now, isOver);
    await sweepShortLived(sweeping);
    const run: Run = isDue(memory.lastNow, now) ? "day" : "minute";
    if (run === "day") {
      await this.#sweepDaily(sweeping);
      if (sweeping.isOver()) return;
      await store.atomic([setHousekeepingValue("done", now)]);
    }
    this.#lastEndedAt = clock();
    this.#durations.set(run, (performance.now() - startedAt) / 1_000);
  }

  /**
   * Stores the state of the clock, and returns the time by which age is judged. After a jump ahead,
   * that time stands still for three days.
   */
  async #updateBelievedTime(
    store: Store,
    { clock: before }: Awaited<ReturnType<typeof readMemory>>,
  ) {
    const { clock, log } = this.#dependencies;
    const state = judgeClock(before, clock());
    await store.atomic(rememberClock(state));
    const { believed, doubtedSince } = state;
    if (doubtedSince !== null && before.doubtedSince !== doubtedSince)
      log.warn(
        "the clock jumped ahead, or nothing ran for days: nothing is removed for its age for three days",
        {
          from: formatTimestamp(believed),
          to: formatTimestamp(doubtedSince),
          until: formatTimestamp(doubtedSince + doubtedClockMs),
        },
      );
    return believed;
  }

  async #sweepDaily(context: SweepContext) {
    const { retention, readUpTo } = this.#dependencies;
    await sweepNodes(context);
    await sweepAlerts(context);
    await sweepSources(context);
    await sweepOverrides(context);
    await sweepEvents(context, { hourDays: retention.hours, readUpTo: await readUpTo() });
    await sweepAuditLog(context, retention.audit);
    await sweepApiKeys(context, retention.audit);
    await sweepResults(context, { heartbeatDays: retention.results, hourDays: retention.hours });
  }
}

async function sweepShortLived(context: SweepContext) {
  await sweepSessions(context);
  await sweepInvitations(context);
  await sweepResponses(context);
  await sweepHeldChanges(context);
  await sweepSubscribers(context);
  await sweepOrganizations(context);
  await sweepImports(context);
  await sweepDeletedRecords(context);
  await sweepRemovedMonitors(context);
}
