import type { Leases } from "../../../cluster/leases.ts";
import type { Clock } from "../../../core/time/clock.ts";
import { AppError } from "../../../core/errors.ts";
import { monitorBounds } from "../../../core/limits.ts";
import type { Log } from "../../../core/log.ts";
import type { Vault } from "../../../core/security/secrets.ts";
import type { TargetGuard } from "../../../core/security/target-guard.ts";
import type { Store } from "../../../database/store.ts";
import type { LoggedEvent } from "../../../events/catalogue.ts";
import { readSince } from "../../../events/log.ts";
import type { EventReader, Subscription } from "../../../events/reader.ts";
import type { Signals } from "../../../events/signals.ts";
import type { Family } from "../../../core/metrics.ts";
import { checkMetrics, stateFamilies } from "./metrics.ts";
import { onDemand } from "./on-demand.ts";
import {
  allowedSeconds,
  nextSilenceAt,
  silenceOutcome,
  stillFailing,
  stillReporting,
} from "../kinds/push.ts";
import { rateLimit } from "../../../http/access/rate-limit.ts";
import type { Machine } from "./own-machine.ts";
import { tickMs, TroubleWatch } from "./own-trouble.ts";
import { organizationChecks } from "./organization-checks.ts";
import { recorder } from "./record.ts";
import { type PushReport, requestsOf } from "./requests.ts";
import { goesDown, nextSlot, phaseOf } from "../rules.ts";
import { inverse, type Outcome, slowed, unknownResult } from "./run-check.ts";
import { type Limits, scheduler } from "./scheduler.ts";
import { settling } from "./settling.ts";
import { findChecked, type FirstCheck, targetOf, type Watched, watching } from "./watching.ts";
import type { CheckTarget, CheckCaller } from "../check.ts";

/** Checks at one time: far above what spread checks need, below what a machine has. */
const usual: Limits = { reserved: 1_000, shared: 1_000, perLane: 1_000 };
const minTickMs = 50;
/** Checks that are brought forward together come within this time. */
const rushMs = 5_000;
/** What was never checked waits no longer for it after a restart, however rarely it is checked. */
const maxUnknownSeconds = 60;
/** A result so shortly before a slot is the one of that slot, by another node's clock. */
const sameSlotMs = 1_000;
/** What could not be read is read again after so long. */
const retryMs = 1_000;

export type Engine = ReturnType<typeof checkEngine>;

type EngineContext = {
  store: Store;
  clock: Clock;
  leases: Leases;
  /** Milliseconds that only ever go forward, for due times. */
  monotonic?: Clock;
  vault: Vault;
  targets: TargetGuard;
  events: EventReader;
  signals: Signals;
  log: Log;
  /** The Chromium to use; else the one of this machine. */
  browser?: string | undefined;
  /** What a maintenance window that holds for the monitor means for its results; null where none does. */
  maintenanceOf?: (monitor: Watched) => { countsUptime: boolean } | null;
  /** Checks at one time. */
  places?: Limits;
  /** Defaults to the machine that this process runs on. */
  machine?: Machine;
};

/** Looks at the world: runs the checks of all monitors, decides what they are, records it. */
export function checkEngine(context: EngineContext) {
  const { store, clock, leases, monotonic = () => performance.now(), log } = context;
  const { places = usual } = context;
  const trouble = new TroubleWatch(clock, monotonic, context.machine);
  const results = recorder(context);
  const counted = checkMetrics();
  const { settle, storedNow } = settling(context, results, counted.ended);
  const asked = onDemand(clock);
  const immediate = rateLimit(monitorBounds.checksAfterChanges.value, clock);
  let following: Promise<void> | null = null;
  const monitors = watching(context, begin, end, () => following);
  const running = new Map<number, AbortController>();
  /** Checks that somebody asked for, outside their turn. */
  const wanted = new Set<number>();
  const jobs = scheduler({ run: checkSafely, overdue: miss }, monotonic, places);
  const checks = organizationChecks(context, { monotonic, trouble }, jobs.organizations);
  let subscription: Subscription | null = null;
  let cursor: number | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let stopped = false;
  /** Ends the checks that are nobody's turn. */
  const stopping = new AbortController();
  /** What the monotonic clock is behind the one on the wall, by which all nodes count the same slots. */
  const behind = clock() - monotonic();
  const requests = requestsOf({ store, leases, asked, check: checkNow, take: takeReport, probe });
  let hasBegun = false;
  leases.onChange(() => (hasBegun ? follow() : undefined));
  const isOurs = ({ id, lease }: Watched) => leases.of(id) === lease;

  /** Leaves the monitors of leases that went, their results written, and takes in those of leases that came. */
  function follow(): Promise<void> {
    monitors.leave();
    const before = following;
    const now = (async () => {
      await before;
      while (!stopped)
        try {
          // Else what was checked would be checked again: what is read does not know of it.
          if (await results.flush()) {
            await monitors.load();
            return;
          }
          await Bun.sleep(retryMs);
        } catch (error) {
          log.error("monitors can't be read", { cause: String(error) });
          await Bun.sleep(retryMs);
        }
    })();
    following = now;
    return now;
  }

  /** Repeats a check that failed because of a bug after one interval, so that it stops no other. */
  async function checkSafely(key: number, dueAt: number): Promise<void> {
    try {
      await check(key, dueAt);
    } catch (error) {
      log.error("a check could not be finished", { cause: String(error) });
      running.delete(key);
      const monitor = monitors.get(key);
      if (monitor === undefined || stopped) return;
      const unknown = unknownResult("the check itself failed; see the log");
      const seconds = settle(monitor, unknown, "turn");
      jobs.schedule(key, monotonic() + seconds * 1000, monitor.terms);
    }
  }

  /** One check of one monitor, to its result and the time of its next one. */
  async function check(key: number, dueAt: number): Promise<void> {
    const outsideTurn = wanted.delete(key);
    const monitor = monitors.get(key);
    if (monitor === undefined || stopped || !isOurs(monitor)) return;
    const startedAt = monotonic();
    if (!outsideTurn) counted.began((startedAt - dueAt) / 1_000);
    const ending = new AbortController();
    running.set(key, ending);
    const outcome =
      monitor.type === "push"
        ? silenceOutcome(monitor, trouble, startedAt)
        : await judged(monitor, ending.signal);
    running.delete(key);
    if (monitor.type !== "push") counted.took(monitor.type, (monotonic() - startedAt) / 1_000);
    // Changed, paused or deleted meanwhile: the result is about something else.
    if (monitors.get(key) !== monitor || stopped) return;
    const slot = slotAfter(monitor, startedAt);
    const secondsToSlot = Math.max(1, Math.round((slot - monotonic()) / 1000));
    const period = outsideTurn && monitor.lastAt !== null ? secondsToSlot : "turn";
    const seconds = settle(monitor, outcome, period);
    const interval = monitor.intervalSeconds * 1000;
    const isRetry = seconds < monitor.intervalSeconds;
    const next =
      monitor.type === "push"
        ? nextSilenceAt(monitor, trouble, startedAt, seconds)
        : isRetry
          ? Math.min(monotonic() + seconds * 1000, startedAt + interval)
          : slot;
    jobs.schedule(key, next, monitor.terms);
    arm();
  }

  function outcomeOf(monitor: Watched, cancelled: AbortSignal): Promise<Outcome> | Outcome {
    const target = targetOf(monitor);
    if (target === null)
      return unknownResult("the secrets of the monitor can't be opened with this secret.key");
    return checks.run(monitor.organizationId, target, cancelled);
  }

  /** Of a failure that makes it down other nodes are asked first. */
  async function judged(monitor: Watched, cancelled: AbortSignal): Promise<Outcome> {
    const outcome = await outcomeOf(monitor, cancelled);
    if (outcome.status !== "down") return outcome;
    const { retries, successThreshold } = monitor;
    const inMaintenance = (context.maintenanceOf?.(monitor) ?? null) !== null;
    const patience = { retries, successThreshold, inMaintenance };
    return goesDown(monitor.state, outcome, patience)
      ? requests.confirmed(monitor, outcome)
      : outcome;
  }

  /** What this node sees of a monitor that any node checks. */
  async function probe(organizationId: string, monitorId: string): Promise<Outcome> {
    const monitor = await findChecked(context, organizationId, monitorId);
    return monitor === undefined
      ? unknownResult("it is not checked")
      : outcomeOf(monitor, stopping.signal);
  }

  async function take(events: readonly LoggedEvent[]) {
    checks.take(events);
    await monitors.take(events);
  }

  /** Its turn did not come: nobody knows what it is meanwhile. */
  function miss(key: number) {
    const monitor = monitors.get(key);
    if (monitor === undefined || stopped || !isOurs(monitor)) return;
    counted.missed();
    const seconds = monitor.terms.patienceMs / 1000;
    settle(monitor, unknownResult("too many other checks are under way"), seconds);
  }

  /** A monitor to check, new or other than it was: what runs now is about what it was. */
  function begin(monitor: Watched, firstCheck: FirstCheck) {
    running.get(monitor.key)?.abort();
    jobs.schedule(monitor.key, firstDue(monitor, firstCheck), monitor.terms);
    arm();
  }

  function end({ key }: Watched) {
    jobs.remove(key);
    running.get(key)?.abort();
  }

  function firstDue(monitor: Watched, firstCheck: FirstCheck): number {
    const now = monotonic();
    if (monitor.type === "push") return now + allowedSeconds(monitor) * 1000;
    if (firstCheck === "spread") return resumedAt(monitor, now);
    const atOnce = firstCheck === "now" && immediate.take(monitor.organizationId) === 0;
    return atOnce ? now : now + phaseOf(monitor.key, rushMs);
  }

  function slotAfter(
    { key, intervalSeconds }: Pick<Watched, "key" | "intervalSeconds">,
    after: number,
  ): number {
    return nextSlot(key, intervalSeconds * 1000, after + behind) - behind;
  }

  /** After a restart, or after another node: the slot behind the last result. One that was missed is made up for, as fast as they were missed. */
  function resumedAt(monitor: Watched, now: number): number {
    const { key, intervalSeconds } = monitor;
    if (monitor.lastAt === null)
      return slotAfter({ key, intervalSeconds: Math.min(intervalSeconds, maxUnknownSeconds) }, now);
    const next = slotAfter(monitor, now);
    const due = slotAfter(monitor, monitor.lastAt - behind + sameSlotMs);
    const intervalMs = intervalSeconds * 1000;
    if (due > now + intervalMs || due < now - intervalMs) return next;
    return due > now ? due : now + phaseOf(key, Math.floor(now - due));
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

  /** Resolves when its result is stored, with false where this node is not to check it. Throws UNAVAILABLE. */
  async function checkNow(organizationId: string, monitorId: string): Promise<boolean> {
    checks.forgetSettings(organizationId);
    for (;;) {
      const monitor = await monitors.refresh(organizationId, monitorId);
      if (stopped) throw new AppError("UNAVAILABLE", "The appliance is stopping.");
      if (monitor === undefined || monitor.type === "push") return false;
      const { key, lastAt } = monitor;
      if (!jobs.isRunning(key)) wanted.add(key);
      await jobs.runNow(key, monitor.terms);
      // Else it was changed or paused meanwhile, and the result was void.
      if (monitors.get(key) === monitor && monitor.lastAt !== lastAt) {
        await storedNow(monitor);
        return true;
      }
    }
  }

  /** Resolves when it is stored; false where this node is not to watch the monitor. Throws UNAVAILABLE. */
  async function takeReport(
    organizationId: string,
    monitorId: string,
    { status, message, latencyMs }: PushReport,
  ): Promise<boolean> {
    const known = monitors.byId(monitorId);
    const monitor =
      known && isOurs(known) ? known : await monitors.refresh(organizationId, monitorId);
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
    const judged = slowed(finding, monitor.degradedAfterMs);
    settle(monitor, monitor.inverted ? inverse(judged) : judged, "since the last");
    jobs.schedule(monitor.key, monotonic() + allowed * 1000, monitor.terms);
    await storedNow(monitor);
    return true;
  }

  return {
    metrics: (): Family[] => [
      ...counted.families(),
      ...stateFamilies({ jobs, results, monitors, now: clock() }),
    ],
    /** Loads the monitors and spreads their checks over one interval from now on. */
    async start() {
      hasBegun = true;
      subscription = context.events.subscribe("checks", await monitors.load(), take);
      trouble.tick();
      arm();
    },
    /** Drops checks under way, writes the results of those that ended. */
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await subscription?.stop();
      jobs.stop();
      stopping.abort();
      for (const ending of running.values()) ending.abort();
      await jobs.settled();
      await checks.settled();
      await results.stop();
    },
    /** Follows the events and runs what is due now to its end, results written: for tests, instead of `start`. */
    async runOnce() {
      if (cursor === null) {
        hasBegun = true;
        cursor = await monitors.load();
      } else {
        const events = await readSince(store, cursor, 10_000);
        cursor = events.at(-1)?.seq ?? cursor;
        await take(events);
      }
      trouble.tick();
      jobs.startDue();
      await jobs.settled();
      await results.flush();
    },
    /** Unix milliseconds since which this process has run without a standstill. */
    runningSince: () => trouble.runningSince,
    /** The resource that this machine lacked at some time since `from` (monotonic milliseconds), as a reason; null for none. */
    lackedSince: (from: number) => trouble.lackedFor([], from),
    lackedNow: () => trouble.lackedNow(),
    checkNow: requests.checkNow,
    report: requests.report,
    /** Makes one check of what is no monitor yet; nothing of it is kept. Throws RATE_LIMITED. */
    tryCheck: (caller: CheckCaller, monitor: CheckTarget) =>
      asked(caller, () => {
        checks.forgetSettings(caller.organizationId);
        return checks.run(caller.organizationId, monitor, stopping.signal);
      }),
    /** Brings the next checks of these monitors forward to the next seconds. */
    checkSoon: (monitorIds: readonly string[]) => {
      const spreadMs = Math.min(monitorIds.length * 10, rushMs);
      for (const id of monitorIds) {
        const monitor = monitors.byId(id);
        if (monitor === undefined) continue;
        const isMaintained = (context.maintenanceOf?.(monitor) ?? null) !== null;
        const { status, failures } = monitor.state;
        if (monitor.type !== "push")
          jobs.schedule(monitor.key, monotonic() + phaseOf(monitor.key, spreadMs), monitor.terms);
        // It can't be asked: what is known of it is what it reported, or did not, meanwhile.
        else if (failures > 0) settle(monitor, stillFailing, "turn");
        else if (status === "maintenance" && !isMaintained)
          settle(monitor, stillReporting, "in maintenance");
        else if (status === "up" && isMaintained)
          settle(monitor, stillReporting, "before maintenance");
      }
      arm();
    },
  };
}
