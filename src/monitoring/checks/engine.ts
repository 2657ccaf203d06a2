import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Vault } from "../../core/secrets.ts";
import type { TargetGuard } from "../../core/target-guard.ts";
import type { Store } from "../../database/store.ts";
import { readSince } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import type { Signals } from "../../events/signals.ts";
import { byteBudget } from "./byte-budget.ts";
import { family, type Family } from "../../core/metrics.ts";
import { checkMetrics } from "./metrics.ts";
import { type Caller, onDemand } from "./on-demand.ts";
import { allowedSeconds, overdue, stillFailing, stillReporting } from "./kinds/push.ts";
import { rateLimit } from "../../http/rate-limit.ts";
import { tickMs, troubleWatch } from "./own-trouble.ts";
import { recorder } from "./record.ts";
import { nextSlot, phaseOf } from "./rules.ts";
import {
  type Checkable,
  maxStallMs,
  type Outcome,
  runCheck,
  slowed,
  unknownResult,
} from "./run-check.ts";
import { type Limits, scheduler } from "./scheduler.ts";
import { settling } from "./settling.ts";
import { findByPushToken, type FirstCheck, termsOf, type Watched, watching } from "./watching.ts";

/** Checks at one time: far above what spread checks need, below what a machine has. */
const usual: Limits = { reserved: 1_000, shared: 1_000, perLane: 1_000 };
/** Monitors of one organization that are checked at once when they are made or changed, a minute; others soon. */
const immediatePerMinute = 120;
const minTickMs = 50;
/** A report that came in while we stood still is read a moment later. */
const pushPatienceMs = 10_000;
/** Checks that are brought forward together come within this time. */
const rushMs = 5_000;

type PushReport = {
  status: "up" | "down";
  message: string | null;
  latencyMs: number | null;
};

export type Engine = ReturnType<typeof checkEngine>;

type EngineContext = {
  store: Store;
  clock: Clock;
  /** Milliseconds that only ever go forward, for due times. */
  monotonic?: Clock;
  vault: Vault;
  targets: TargetGuard;
  events: EventReader;
  signals: Signals;
  log: Log;
  /** What a maintenance window that holds for the monitor means for its results; null where none does. */
  maintenanceOf?: (monitor: Watched) => { countsUptime: boolean } | null;
  /** Checks at one time. */
  places?: Limits;
};

/** Looks at the world: runs the checks of all monitors, decides what they are, records it. */
export function checkEngine(context: EngineContext) {
  const { store, clock, monotonic = () => performance.now(), log, places = usual } = context;
  const trouble = troubleWatch(clock, monotonic);
  const results = recorder(store, log, context.signals);
  const counted = checkMetrics();
  const { settle, storedNow } = settling(context, results, counted.ended);
  const asked = onDemand(clock);
  const immediate = rateLimit(immediatePerMinute, clock);
  const monitors = watching(context, begin, end);
  const running = new Map<number, AbortController>();
  /** Checks that somebody asked for, outside their turn. */
  const wanted = new Set<number>();
  const jobs = scheduler({ run: check, overdue: miss }, monotonic, places);
  const budget = byteBudget(jobs.organizations);
  let subscription: Subscription | null = null;
  let cursor: number | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let stopped = false;

  /** One check of one monitor, to its result and the time of its next one. */
  async function check(key: number, dueAt: number): Promise<void> {
    const outsideTurn = wanted.delete(key);
    const monitor = monitors.get(key);
    if (monitor === undefined || stopped) return;
    const startedAt = monotonic();
    if (!outsideTurn) counted.began((startedAt - dueAt) / 1_000);
    const ending = new AbortController();
    running.set(key, ending);
    const outcome =
      monitor.type === "push"
        ? silence(monitor, startedAt)
        : await outcomeOf(monitor, ending.signal);
    running.delete(key);
    if (monitor.type !== "push") counted.took(monitor.type, (monotonic() - startedAt) / 1_000);
    // Changed, paused or deleted meanwhile: the result is about something else.
    if (monitors.get(key) !== monitor || stopped) return;
    const seconds = settle(monitor, outcome, outsideTurn ? "since the last" : "turn");
    const interval = monitor.intervalSeconds * 1000;
    const isRetry = seconds < monitor.intervalSeconds;
    const next =
      monitor.type === "push"
        ? startedAt + seconds * 1000
        : isRetry
          ? Math.min(monotonic() + seconds * 1000, startedAt + interval)
          : nextSlot(key, interval, startedAt);
    jobs.schedule(key, next, termsOf(monitor));
    arm();
  }

  function outcomeOf(monitor: Watched, cancelled: AbortSignal): Promise<Outcome> | Outcome {
    if (monitor.settings === null)
      return unknownResult("its secrets can't be opened with this secret.key");
    return runCheck(monitor as Checkable, checkDependencies(monitor.organizationId), cancelled);
  }

  function checkDependencies(organizationId: string) {
    return { ...context, monotonic, trouble, memory: budget.of(organizationId) };
  }

  function silence(monitor: Watched, now: number): Outcome {
    const stalled = trouble.during(now - pushPatienceMs, now, maxStallMs);
    return stalled === null ? overdue(monitor) : unknownResult(stalled);
  }

  /** Its turn did not come: nobody knows what it is meanwhile. */
  function miss(key: number) {
    const monitor = monitors.get(key);
    if (monitor === undefined || stopped) return;
    const { patienceMs } = termsOf(monitor);
    counted.missed();
    settle(monitor, unknownResult("too many other checks are under way"), patienceMs / 1000);
  }

  /** A monitor to check, new or other than it was: what runs now is about what it was. */
  function begin(monitor: Watched, firstCheck: FirstCheck) {
    running.get(monitor.key)?.abort();
    jobs.schedule(monitor.key, firstDue(monitor, firstCheck), termsOf(monitor));
    arm();
  }

  function end({ key }: Watched) {
    jobs.remove(key);
    running.get(key)?.abort();
  }

  function firstDue(monitor: Watched, firstCheck: FirstCheck): number {
    const now = monotonic();
    if (monitor.type === "push") return now + allowedSeconds(monitor) * 1000;
    if (firstCheck === "spread") return nextSlot(monitor.key, monitor.intervalSeconds * 1000, now);
    const atOnce = firstCheck === "now" && immediate.take(monitor.organizationId) === 0;
    return atOnce ? now : now + phaseOf(monitor.key, rushMs);
  }

  function arm() {
    if (timer !== null || stopped || subscription === null) return;
    const wait = (jobs.nextDueAt() ?? Infinity) - monotonic();
    timer = setTimeout(tick, Math.min(Math.max(wait, minTickMs), tickMs));
  }

  function tick() {
    timer = null;
    trouble.tick();
    jobs.startDue();
    arm();
  }

  function monitorsByState() {
    const byType = Map.groupBy(monitors.values(), ({ type }) => type);
    return [...byType].flatMap(([type, its]) =>
      [...Map.groupBy(its, ({ state }) => state.status)].map(([status, { length }]) => ({
        labels: { type, status },
        value: length,
      })),
    );
  }

  return {
    metrics: (): Family[] => [
      ...counted.families(),
      family("signalbox_checks_running", "gauge", "Checks under way.", jobs.running()),
      family(
        "signalbox_checks_waiting",
        "gauge",
        "Checks that are due and wait for their turn.",
        jobs.waiting(),
      ),
      family(
        "signalbox_results_waiting",
        "gauge",
        "Results of checks that are not written yet.",
        results.waiting(),
      ),
      family(
        "signalbox_results_delay_seconds",
        "gauge",
        "How long the result that waits longest has not been written.",
        Math.max(0, clock() - (results.waitingSince() ?? clock())) / 1_000,
      ),
      family(
        "signalbox_results_dropped_total",
        "counter",
        "Results of checks that were given up because they could not be written for too long.",
        results.dropped(),
      ),
      family(
        "signalbox_monitors",
        "gauge",
        "Monitors that are checked, by type and status; paused ones are not.",
        monitorsByState(),
      ),
    ],
    /** Loads the monitors and spreads their checks over one interval from now on. */
    async start() {
      subscription = context.events.subscribe("checks", await monitors.load(), monitors.take);
      trouble.tick();
      arm();
    },
    /** Drops checks under way, writes the results of those that ended. */
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await subscription?.stop();
      jobs.stop();
      for (const ending of running.values()) ending.abort();
      await jobs.settled();
      await results.stop();
    },
    /** Follows the events and runs what is due now to its end, results written: for tests, instead of `start`. */
    async runOnce() {
      if (cursor === null) {
        cursor = await monitors.load();
      } else {
        const events = await readSince(store, cursor, 10_000);
        cursor = events.at(-1)?.seq ?? cursor;
        await monitors.take(events);
      }
      trouble.tick();
      jobs.startDue();
      await jobs.settled();
      await results.flush();
    },
    /** Checks at once; resolves when the result is stored, with false where the monitor is not to be checked. Throws UNAVAILABLE, RATE_LIMITED. */
    checkNow: (caller: Caller, monitorId: string) =>
      asked(caller, async () => {
        for (;;) {
          const monitor = await monitors.refresh(caller.organizationId, monitorId);
          if (stopped) throw new AppError("UNAVAILABLE", "The appliance is stopping.");
          if (monitor === undefined || monitor.type === "push") return false;
          const { key, lastAt } = monitor;
          if (!jobs.isRunning(key)) wanted.add(key);
          await jobs.runNow(key, termsOf(monitor));
          // Else it was changed or paused meanwhile, and the result was void.
          if (monitors.get(key) === monitor && monitor.lastAt !== lastAt) {
            await storedNow(monitor);
            return true;
          }
        }
      }),
    /** Makes one check of what is no monitor yet; nothing of it is kept. Throws RATE_LIMITED. */
    tryCheck: (caller: Caller, monitor: Checkable) =>
      asked(caller, () =>
        runCheck(monitor, checkDependencies(caller.organizationId), new AbortController().signal),
      ),
    /** Brings the next checks of these monitors forward to the next seconds. */
    checkSoon: (monitorIds: readonly string[]) => {
      const spreadMs = Math.min(monitorIds.length * 10, rushMs);
      for (const id of monitorIds) {
        const monitor = monitors.byId(id);
        if (monitor === undefined) continue;
        if (monitor.type !== "push")
          jobs.schedule(
            monitor.key,
            monotonic() + phaseOf(monitor.key, spreadMs),
            termsOf(monitor),
          );
        // It can't be asked: what is known of it is what it reported, or did not, meanwhile.
        else if (monitor.state.failures > 0) settle(monitor, stillFailing, "turn");
        else if (monitor.state.status === "maintenance" && !context.maintenanceOf?.(monitor))
          settle(monitor, stillReporting, "since the last");
      }
      arm();
    },
    /** Takes what a watched job reports; resolves when it is stored. False for a paused monitor, null for an unknown token. */
    report: async (
      tokenHash: string,
      { status, message, latencyMs }: PushReport,
    ): Promise<boolean | null> => {
      const found = await findByPushToken(store, tokenHash);
      if (found === null) return null;
      const monitor =
        monitors.get(found.key) ?? (await monitors.refresh(found.organizationId, found.id));
      if (stopped) throw new AppError("UNAVAILABLE", "The appliance is stopping.");
      if (monitor === undefined) return false;
      const usual = status === "up" ? "Reported up." : "Reported down.";
      const allowed = allowedSeconds(monitor);
      const finding = {
        status,
        message: usual,
        latencyMs,
        ...(message !== null && { said: message }),
      };
      settle(monitor, slowed(finding, monitor.degradedAfterMs), "since the last");
      jobs.schedule(monitor.key, monotonic() + allowed * 1000, termsOf(monitor));
      await storedNow(monitor);
      return true;
    },
  };
}
