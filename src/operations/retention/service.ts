import { sweepApiKeys } from "../../accounts/api-keys/service.ts";
import { sweepInvitations } from "../../accounts/invitations/service.ts";
import { sweepSessions } from "../../accounts/sessions/store.ts";
import { sweepAlerts } from "../../alerting/sending/retention.ts";
import { type Leases, underLease } from "../../cluster/leases.ts";
import { sweepNodes } from "../../cluster/store.ts";
import { type Clock, timestamp } from "../../core/time/clock.ts";
import type { Log } from "../../core/log.ts";
import { type Collector, family } from "../../core/metrics.ts";
import { setValue, sweepingOf, valueOf } from "../../database/backup/portions.ts";
import type { Store } from "../../database/store.ts";
import { sweepEvents } from "../../events/retention.ts";
import { sweepResponses } from "../../http/idempotency.ts";
import { sweepRemovedMonitors, sweepResults } from "../../monitoring/uptime/retention.ts";
import { sweepImports } from "../../imports/store.ts";
import { sweepSubscribers } from "../../status-pages/subscribers/store.ts";
import { sweepOrganizations } from "../appliance/store.ts";
import { sweepAuditLog } from "../audit-log/store.ts";
import { clockAfter, doubtMs, isDue } from "./rules.ts";
import { readMemory, rememberClock } from "./store.ts";

const tickMs = 60_000;

/** Days that what grows with time is kept. */
type KeptDays = { results: number; hours: number; audit: number };

type Dependencies = {
  store: Store;
  clock: Clock;
  leases: Leases;
  log: Log;
  kept: KeptDays;
  /** Writes down how far those who follow the events have come; returns how far the others have. */
  readUpTo: () => Promise<number>;
  /** What every node does each minute. */
  eachMinute?: () => Promise<void>;
};

type Housekeeping = Collector & {
  start(): void;
  /** Ends between two portions; the next run goes on. */
  stop(): Promise<void>;
  /** What one minute brings: for tests, instead of `start`. */
  runOnce(): Promise<void>;
};

/**
 * Removes what is no longer kept: what lives for days each minute, logs and results once a day, in
 * portions between which everything else goes on.
 */
export function housekeeping({
  store: whole,
  clock,
  leases,
  log,
  kept,
  readUpTo,
  eachMinute = async () => {},
}: Dependencies): Housekeeping {
  let isOver = false;
  let running: Promise<void> | null = null;
  let timer: ReturnType<typeof setInterval> | null = null;

  /** When the last run of a minute ended, and how long each took. */
  let lastEndedAt: number | null = null;
  const took = new Map<"minute" | "day", number>();
  let failures = 0;

  async function run() {
    const startedAt = performance.now();
    const end = (run: "minute" | "day") => {
      lastEndedAt = clock();
      took.set(run, (performance.now() - startedAt) / 1_000);
    };
    await eachMinute();
    const lease = leases.named("retention");
    if (lease === null) return;
    const store = underLease(whole, lease);
    const memory = await readMemory(store, clock());
    const state = clockAfter(memory.clock, clock());
    await store.atomic(rememberClock(state));
    const { believed: now, doubtedSince } = state;
    if (doubtedSince !== null && memory.clock.doubtedSince !== doubtedSince)
      log.warn(
        "the clock jumped ahead, or nothing ran for days: nothing is removed for its age for three days",
        {
          from: timestamp(now),
          to: timestamp(doubtedSince),
          until: timestamp(doubtedSince + doubtMs),
        },
      );
    const sweeping = sweepingOf(store, now, () => isOver || leases.named("retention") !== lease);
    await sweepSessions(sweeping);
    await sweepInvitations(sweeping);
    await sweepResponses(sweeping);
    await sweepSubscribers(sweeping);
    await sweepOrganizations(sweeping);
    await sweepImports(sweeping);
    await sweepRemovedMonitors(sweeping);
    if (!isDue(memory.lastNow, now)) return end("minute");
    await sweepNodes(sweeping);
    await sweepAlerts(sweeping);
    await sweepEvents(sweeping, { hourDays: kept.hours, readUpTo: await readUpTo() });
    await sweepAuditLog(sweeping, kept.audit);
    await sweepApiKeys(sweeping, kept.audit);
    await sweepResults(sweeping, { heartbeatDays: kept.results, hourDays: kept.hours });
    if (sweeping.isOver()) return;
    await store.atomic([setValue("done", now)]);
    end("day");
  }

  const runOnce = () => (running ??= run().finally(() => (running = null)));
  return {
    start() {
      timer = setInterval(
        () =>
          runOnce().catch((error) => {
            failures++;
            log.warn("housekeeping failed", { cause: String(error) });
          }),
        tickMs,
      );
    },
    async stop() {
      isOver = true;
      if (timer !== null) clearInterval(timer);
      await running?.catch(() => {});
    },
    runOnce,
    async metrics() {
      const lastDay = await valueOf(whole, "done");
      const at = { minute: lastEndedAt, day: lastDay };
      return [
        family(
          "signalbox_housekeeping_last_success_timestamp_seconds",
          "gauge",
          "Unix time of the last successful housekeeping, by run: each minute or once a day.",
          Object.entries(at).flatMap(([run, time]) =>
            time === null ? [] : [{ labels: { run }, value: time / 1_000 }],
          ),
        ),
        family(
          "signalbox_housekeeping_last_duration_seconds",
          "gauge",
          "Duration of the last housekeeping, by run, including the time for other work.",
          [...took].map(([run, value]) => ({ labels: { run }, value })),
        ),
        family(
          "signalbox_housekeeping_failures_total",
          "counter",
          "Failed runs of housekeeping.",
          failures,
        ),
      ];
    },
  };
}
