import { type Clock, timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Vault } from "../base/secrets.ts";
import type { TargetGuard } from "../base/target-guard.ts";
import type { Store } from "../database/store.ts";
import { appendEvent, readSince } from "../events/log.ts";
import { followEvents, type Following } from "../events/follow.ts";
import { allowedSeconds, overdue, stillFailing } from "./kinds/push.ts";
import { tickMs, troubleWatch } from "./own-trouble.ts";
import { recorder } from "./record.ts";
import {
  momentAfter,
  nextSlot,
  phaseOf,
  secondsSince,
  secondsToNext,
  stateAfter,
} from "./rules.ts";
import {
  type Checkable,
  maxStallMs,
  type Outcome,
  runCheck,
  slowed,
  unjudged,
} from "./run-check.ts";
import { scheduler } from "./scheduler.ts";
import { findByPushToken, laneOf, type Watched } from "./watch-list.ts";
import { type FirstCheck, watching } from "./watching.ts";

/** Checks at one time, in all and of one host: far above what spread checks need, below what a machine has. */
const limits = { total: 2_000, perLane: 1_000 };
const minTickMs = 50;
/** A report that came in while we stood still is read a moment later. */
const pushPatienceMs = 10_000;
/** Own trouble after so long without any is told anew. */
const troubleEpisodeMs = 300_000;
/** Checks that are brought forward together come within this time. */
const rushMs = 5_000;

export type PushReport = {
  status: "up" | "down";
  message: string | null;
  latencyMs: number | null;
};

export type Engine = {
  /** Loads the monitors and spreads their checks over one interval from now on. */
  start(): Promise<void>;
  /** Drops checks under way, writes the results of those that ended. */
  stop(): Promise<void>;
  /** Follows the events and runs what is due now to its end, results written: for tests, instead of `start`. */
  runOnce(): Promise<void>;
  /** Checks at once; resolves when the result is stored, with false where the monitor is not to be checked. Throws UNAVAILABLE. */
  checkNow: (organizationId: string, monitorId: string) => Promise<boolean>;
  /** Makes one check of what is no monitor yet; nothing of it is kept. */
  tryCheck: (monitor: Checkable) => Promise<Outcome>;
  /** Brings the next checks of these monitors forward to the next seconds. */
  checkSoon: (monitorIds: readonly string[]) => void;
  /** Takes what a watched job reports; resolves when it is stored. False for a paused monitor, null for an unknown token. */
  report: (tokenHash: string, report: PushReport) => Promise<boolean | null>;
};

export type EngineRoom = {
  store: Store;
  clock: Clock;
  /** Milliseconds that only ever go forward, for due times. */
  monotonic?: Clock;
  vault: Vault;
  targets: TargetGuard;
  log: Log;
  /** What a maintenance window that holds for the monitor means for its results; null where none does. */
  maintenanceOf?: (monitor: Watched) => { countsUptime: boolean } | null;
};

/** Looks at the world: runs the checks of all monitors, decides what they are, records it. */
export function checkEngine(room: EngineRoom): Engine {
  const { store, clock, monotonic = () => performance.now(), log } = room;
  const trouble = troubleWatch(clock, monotonic);
  const results = recorder(store, log);
  const monitors = watching(room, begin, end);
  const running = new Map<number, AbortController>();
  /** Checks whose result is not stored yet. */
  const recording = new Map<number, Promise<void>>();
  const troubled = new Map<string, number>();
  /** Checks that somebody asked for, outside their turn. */
  const wanted = new Set<number>();
  const keys = new Map<string, number>();
  const jobs = scheduler(check, monotonic, limits);
  let following: Following | null = null;
  let cursor: number | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let stopped = false;

  /** One check of one monitor, to its result and the time of its next one. */
  async function check(key: number): Promise<void> {
    const outsideTurn = wanted.delete(key);
    const monitor = monitors.get(key);
    if (monitor === undefined || stopped) return;
    const startedAt = monotonic();
    const ending = new AbortController();
    running.set(key, ending);
    const outcome =
      monitor.type === "push"
        ? silence(monitor, startedAt)
        : await outcomeOf(monitor, ending.signal);
    running.delete(key);
    // Changed, paused or deleted meanwhile: the result is about something else.
    if (monitors.get(key) !== monitor || stopped) return;
    const seconds = settle(monitor, outcome, outsideTurn);
    const interval = monitor.intervalSeconds * 1000;
    const isRetry = seconds < monitor.intervalSeconds;
    const next =
      monitor.type === "push"
        ? startedAt + seconds * 1000
        : isRetry
          ? Math.min(monotonic() + seconds * 1000, startedAt + interval)
          : nextSlot(key, interval, startedAt);
    jobs.schedule(key, next, laneOf(monitor));
    arm();
  }

  function outcomeOf(monitor: Watched, cancelled: AbortSignal): Promise<Outcome> | Outcome {
    if (monitor.settings === null)
      return unjudged("its secrets can't be opened with this secret.key");
    return runCheck(monitor as Checkable, { ...room, monotonic, trouble }, cancelled);
  }

  function silence(monitor: Watched, now: number): Outcome {
    const stalled = trouble.during(now - pushPatienceMs, now, maxStallMs);
    return stalled === null ? overdue(monitor) : unjudged(stalled);
  }

  /**
   * Moves the monitor to what the outcome makes of it and hands that to the recorder; returns the
   * seconds to the next check. A result that came outside its turn stands for the time since the last.
   */
  function settle(monitor: Watched, outcome: Outcome, outsideTurn: boolean): number {
    const at = momentAfter(monitor.lastAt, clock());
    const held = room.maintenanceOf?.(monitor) ?? null;
    const before = monitor.state;
    const patience = { retries: monitor.retries, inMaintenance: held !== null };
    const after = stateAfter(before, outcome, patience, timestamp(at));
    const toNext = secondsToNext(after, outcome, monitor);
    const seconds =
      outsideTurn || monitor.lastAt === null
        ? secondsSince(monitor.lastAt, at, allowedSeconds(monitor))
        : toNext;
    const { status, message, latencyMs, said = message, certificateExpiresAt: expiresAt } = outcome;
    const kept = status === "up" || status === "degraded" ? null : monitor.certificateExpiresAt;
    const certificateExpiresAt = expiresAt ?? kept;
    Object.assign(monitor, { state: after, lastAt: at, certificateExpiresAt });
    const heartbeat = {
      monitorKey: monitor.key,
      at,
      status: held === null || held.countsUptime ? status : ("maintenance" as const),
      latencyMs,
      seconds,
      message: status === "up" ? null : said,
    };
    const stored = results.add({
      monitor,
      heartbeat,
      before,
      after,
      reason: message,
      message: said,
      certificateExpiresAt,
    });
    recording.set(monitor.key, stored);
    const forget = () => {
      if (recording.get(monitor.key) === stored) recording.delete(monitor.key);
    };
    stored.then(forget, forget);
    if (status === "unknown") tellTrouble(monitor, message, at);
    return toNext;
  }

  /** Somebody waits for it: writes at once. Throws UNAVAILABLE where that fails; it is tried again later. */
  async function storedNow({ key }: Watched) {
    const stored = recording.get(key);
    void results.flush();
    await stored;
  }

  /** One event an episode and organization, for the alert that tells of it. */
  function tellTrouble({ organizationId }: Watched, message: string, at: number) {
    const last = troubled.get(organizationId);
    troubled.set(organizationId, at);
    if (last !== undefined && at - last < troubleEpisodeMs) return;
    log.warn("checks can't be judged", { message });
    results.addEvent(
      appendEvent({
        organizationId,
        at: timestamp(at),
        type: "appliance.troubled",
        subjectId: organizationId,
        data: { message },
      }),
    );
  }

  /** A monitor to check, new or other than it was: what runs now is about what it was. */
  function begin(monitor: Watched, firstCheck: FirstCheck) {
    running.get(monitor.key)?.abort();
    keys.set(monitor.id, monitor.key);
    jobs.schedule(monitor.key, firstDue(monitor, firstCheck), laneOf(monitor));
    arm();
  }

  function end({ id, key }: Watched) {
    jobs.remove(key);
    keys.delete(id);
    running.get(key)?.abort();
  }

  function firstDue(monitor: Watched, firstCheck: FirstCheck): number {
    const now = monotonic();
    if (monitor.type === "push") return now + allowedSeconds(monitor) * 1000;
    if (firstCheck === "soon") return now + phaseOf(monitor.key, rushMs);
    return firstCheck === "now" ? now : nextSlot(monitor.key, monitor.intervalSeconds * 1000, now);
  }

  function arm() {
    if (timer !== null || stopped || following === null) return;
    const wait = (jobs.nextDueAt() ?? Infinity) - monotonic();
    timer = setTimeout(turn, Math.min(Math.max(wait, minTickMs), tickMs));
  }

  function turn() {
    timer = null;
    trouble.tick();
    jobs.startDue();
    arm();
  }

  return {
    async start() {
      following = followEvents(store, log, monitors.take, await monitors.load());
      trouble.tick();
      arm();
    },
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await following?.stop();
      jobs.stop();
      for (const ending of running.values()) ending.abort();
      await jobs.settled();
      await results.stop();
    },
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
    async checkNow(organizationId, monitorId) {
      for (;;) {
        const monitor = await monitors.refresh(organizationId, monitorId);
        if (stopped) throw new AppError("UNAVAILABLE", "The appliance is stopping.");
        if (monitor === undefined || monitor.type === "push") return false;
        const { key, lastAt } = monitor;
        if (!jobs.isRunning(key)) wanted.add(key);
        await jobs.runNow(key, laneOf(monitor));
        // Else it was changed or paused meanwhile, and the result was void.
        if (monitors.get(key) === monitor && monitor.lastAt !== lastAt) {
          await storedNow(monitor);
          return true;
        }
      }
    },
    tryCheck: (monitor) =>
      runCheck(monitor, { ...room, monotonic, trouble }, new AbortController().signal),
    checkSoon(monitorIds) {
      const spreadMs = Math.min(monitorIds.length * 10, rushMs);
      for (const id of monitorIds) {
        const monitor = monitors.get(keys.get(id) ?? -1);
        if (monitor === undefined) continue;
        if (monitor.type !== "push")
          jobs.schedule(monitor.key, monotonic() + phaseOf(monitor.key, spreadMs), laneOf(monitor));
        // It can't be asked: what is known of it is that it failed.
        else if (monitor.state.failures > 0) settle(monitor, stillFailing, false);
      }
      arm();
    },
    async report(tokenHash, { status, message, latencyMs }) {
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
      settle(monitor, slowed(finding, monitor.degradedAfterMs), true);
      jobs.schedule(monitor.key, monotonic() + allowed * 1000, laneOf(monitor));
      await storedNow(monitor);
      return true;
    },
  };
}
