/** Runs the due checks of all monitors of this node, derives monitor states, and records both. */
import {
  listAncestorIds,
  listCompositeIds,
  listFailingDependentIds,
} from "../../dependencies/store.ts";
import type { CheckResult } from "../check.ts";
import type { Leases } from "../../../cluster/leases.ts";
import type { Clock } from "../../../core/time/clock.ts";
import { AppError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import type { Vault } from "../../../core/security/secrets.ts";
import type { TargetGuard } from "../../../core/security/target-guard.ts";
import type { Store } from "../../../database/store.ts";
import { type EventType, type LoggedEvent, stateTypes } from "../../../events/catalog.ts";
import { readSince } from "../../../events/log.ts";
import type { EventReader, Subscription } from "../../../events/reader.ts";
import type { Signals } from "../../../events/signals.ts";
import type { Family } from "../../../core/metrics.ts";
import type { CheckTarget, CheckCaller } from "../check.ts";
import { computeNextMoment, goesDown } from "../rules.ts";
import { judgeSilence, stillFailingResult, stillReportingResult } from "../kinds/push.ts";
import {
  describeReport,
  findOutputIssue,
  type PushReport,
  updateRuns,
} from "../../jobs/report-rules.ts";
import { createCheckRunner } from "./check-runner.ts";
import { DueTimes } from "./due-times.ts";
import { createCheckMetrics, createStateFamilies } from "./metrics.ts";
import { limitOnDemand } from "./on-demand.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";
import type { Machine } from "./own-machine.ts";
import { tickMs, TroubleWatch } from "./own-trouble.ts";
import { ResultWriter } from "./record.ts";
import { createCheckRequests } from "./requests.ts";
import { invertOutcome, markSlow, createUnknownResult } from "./run-check.ts";
import { type Limits, Scheduler } from "./scheduler.ts";
import {
  findChecked,
  type FirstCheck,
  buildTarget,
  type Watched,
  WatchedMonitors,
} from "./watched-monitors.ts";

/** Concurrent checks. Evenly spread checks need far fewer, and a machine can run more. */
const defaultLimits: Limits = { reserved: 1_000, shared: 1_000, perLane: 1_000 };
const minTickMs = 50;
/** Delay before the next attempt to read the monitors. */
const retryMs = 1_000;

type EngineContext = {
  store: Store;
  clock: Clock;
  leases: Leases;
  /** Monotonic clock in milliseconds, for due times. Defaults to performance.now(). */
  monotonic?: Clock;
  vault: Vault;
  targets: TargetGuard;
  events: EventReader;
  signals: Signals;
  log: Log;
  /** Path of Chromium. Defaults to the installed one. */
  browser?: string | undefined;
  /** Current maintenance of a monitor and its effect on uptime; null outside maintenance. */
  maintenanceOf?: (monitor: Watched) => { countsUptime: boolean } | null;
  /** Maximum concurrent checks. */
  checkLimits?: Limits;
  /** Network and file handles to watch. Defaults to those of this machine. */
  machine?: Machine;
};

/** The monitors whose checks can explain a change. */
const relatedMonitors = [
  [["monitor.down"], listAncestorIds],
  [["monitor.up"], listFailingDependentIds],
  [stateTypes, listCompositeIds],
] as const;

export class CheckEngine {
  private readonly monotonic: Clock;
  private readonly trouble: TroubleWatch;
  private readonly writer: ResultWriter;
  private readonly counted = createCheckMetrics();
  private readonly outcomes: OutcomeRecorder;
  private readonly monitors: WatchedMonitors;
  private readonly jobs: Scheduler;
  private readonly due: DueTimes;
  private readonly runner: ReturnType<typeof createCheckRunner>;
  private readonly limited: ReturnType<typeof limitOnDemand>;
  private readonly requests: ReturnType<typeof createCheckRequests>;
  private readonly running = new Map<number, AbortController>();
  /** Monitors whose next check was requested outside the schedule. */
  private readonly unscheduled = new Set<number>();
  /** Aborts checks started outside the schedule. */
  private readonly stopping = new AbortController();
  /** Reload of the monitors after the latest change of leases. */
  private reload: Promise<void> | null = null;
  private subscription: Subscription | null = null;
  private cursor: number | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private isStarted = false;
  private isStopped = false;
  private readonly context: EngineContext;

  constructor(context: EngineContext) {
    this.context = context;
    const { store, clock, leases, monotonic = () => performance.now() } = context;
    this.monotonic = monotonic;
    this.trouble = new TroubleWatch(clock, monotonic, context.machine);
    this.writer = new ResultWriter(context);
    this.outcomes = new OutcomeRecorder(context, this.writer, this.counted.ended);
    this.monitors = new WatchedMonitors(context, {
      begin: (monitor, firstCheck) => this.startMonitor(monitor, firstCheck),
      end: (monitor) => this.stopMonitor(monitor),
      followed: () => this.reload,
    });
    this.jobs = new Scheduler(
      {
        run: (key, dueAt) => this.checkSafely(key, dueAt),
        overdue: (key) => this.recordMissed(key),
      },
      monotonic,
      context.checkLimits ?? defaultLimits,
    );
    this.due = new DueTimes(clock, monotonic, this.trouble);
    const watch = { monotonic, trouble: this.trouble };
    this.runner = createCheckRunner(context, watch, () => this.jobs.countOrganizations());
    this.limited = limitOnDemand(clock);
    this.requests = createCheckRequests({
      store,
      leases,
      limited: this.limited,
      check: (organizationId, monitorId) => this.checkHere(organizationId, monitorId),
      take: (organizationId, monitorId, report) =>
        this.acceptReport(organizationId, monitorId, report),
      probe: (organizationId, monitorId) => this.probe(organizationId, monitorId),
    });
    leases.onChange(() => (this.isStarted ? this.followLeases() : undefined));
  }

  /** Loads the monitors and spreads their checks over one interval. */
  async start() {
    this.isStarted = true;
    const { events } = this.context;
    this.subscription = events.subscribe("checks", await this.monitors.load(), (added) =>
      this.setMonitors(added),
    );
    this.trouble.tick();
    this.armTimer();
  }

  /** Aborts running checks and writes the results of finished ones. */
  async stop() {
    this.isStopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.subscription?.stop();
    this.jobs.stop();
    this.stopping.abort();
    for (const ending of this.running.values()) ending.abort();
    await this.jobs.waitUntilSettled();
    await this.runner.settled();
    await this.writer.stop();
  }

  /** Reads new events, runs all due checks and writes their results. Tests use it instead of `start`. */
  async runOnce() {
    if (this.cursor === null) {
      this.isStarted = true;
      this.cursor = await this.monitors.load();
    } else {
      const events = await readSince(this.context.store, this.cursor, 10_000);
      this.cursor = events.at(-1)?.seq ?? this.cursor;
      await this.setMonitors(events);
    }
    this.trouble.tick();
    this.jobs.startDue();
    await this.jobs.waitUntilSettled();
    await this.writer.flush();
  }

  /** Due checks and unwritten results in the queues. */
  countWaiting = () => ({
    checks: this.jobs.countWaiting(),
    results: this.writer.countWaiting(),
  });

  metrics = (): Family[] => [
    ...this.counted.families(),
    ...createStateFamilies({
      jobs: this.jobs,
      results: this.writer,
      monitors: this.monitors,
      now: this.context.clock(),
    }),
  ];

  /** Unix milliseconds of the end of the last standstill, or of the start of this process. */
  runningSince = () => this.trouble.runningSince;

  /** Names a resource that this machine lacked since `from` (monotonic milliseconds); null if it lacked none. */
  lackedSince = (from: number) => this.trouble.findLackFor([], from);

  findCurrentLack = () => this.trouble.findCurrentLack();

  /**
   * Checks a monitor immediately. Resolves when the result is stored, with false if the monitor is paused or deleted.
   * Throws UNAVAILABLE, RATE_LIMITED.
   */
  checkNow = (caller: CheckCaller, monitorId: string) => this.requests.checkNow(caller, monitorId);

  /** Stores the report of a job. Returns false for a paused monitor, null for an unknown token. */
  report = (tokenHash: string, report: PushReport) => this.requests.report(tokenHash, report);

  /** Stores the report of a job to a known monitor. Returns false for a paused monitor. */
  reportTo = (monitor: { organizationId: string; id: string }, report: PushReport) =>
    this.requests.reportTo(monitor, report);

  /** Checks an unsaved monitor without storing a result. Throws RATE_LIMITED. */
  tryCheck = (caller: CheckCaller, target: CheckTarget) =>
    this.limited(caller, () => {
      this.runner.forgetSettings(caller.organizationId);
      return this.runner.run(caller.organizationId, target, this.stopping.signal);
    });

  /** Brings the next checks of monitors forward after their maintenance started or ended. */
  checkSoon = (monitorIds: readonly string[]) => {
    for (const id of monitorIds) {
      const monitor = this.monitors.findById(id);
      if (monitor === undefined) continue;
      if (monitor.type === "push") this.recordMaintenanceOfPush(monitor);
      else this.schedule(monitor, this.due.computeSoon(monitor, monitorIds.length));
    }
    this.armTimer();
  };

  /** Records the last report again, because a push monitor can't be checked on demand. */
  private recordMaintenanceOfPush(monitor: Watched) {
    const { status, failures } = monitor.state;
    const isMaintained = this.isMaintained(monitor);
    if (failures > 0) this.outcomes.record(monitor, stillFailingResult, "turn");
    else if (status === "maintenance" && !isMaintained)
      this.outcomes.record(monitor, stillReportingResult, "in maintenance");
    else if (status === "up" && isMaintained)
      this.outcomes.record(monitor, stillReportingResult, "before maintenance");
  }

  /** Drops the monitors of lost leases, writes pending results, then loads the monitors of new leases. */
  private followLeases(): Promise<void> {
    this.monitors.leave();
    this.reload = this.reloadAfter(this.reload);
    return this.reload;
  }

  private async reloadAfter(earlier: Promise<void> | null) {
    await earlier;
    while (!this.isStopped)
      try {
        // The stored state must include all results, otherwise a loaded monitor would be checked twice.
        if (await this.writer.flush()) {
          await this.monitors.load();
          return;
        }
        await Bun.sleep(retryMs);
      } catch (error) {
        this.context.log.error("monitors can't be read", { cause: String(error) });
        await Bun.sleep(retryMs);
      }
  }

  private isOurs({ id, lease }: Watched) {
    return this.context.leases.findByRecord(id) === lease;
  }

  private isMaintained(monitor: Watched) {
    return (this.context.maintenanceOf?.(monitor) ?? null) !== null;
  }

  private schedule(monitor: Watched, dueAt: number) {
    this.jobs.schedule(monitor.key, this.due.bringForward(monitor, dueAt), monitor.terms);
  }

  /** Runs a check. If a bug makes it throw, logs the error and schedules the next check. */
  private async checkSafely(key: number, dueAt: number): Promise<void> {
    try {
      await this.check(key, dueAt);
    } catch (error) {
      this.context.log.error("a check could not be finished", { cause: String(error) });
      this.running.delete(key);
      const monitor = this.monitors.get(key);
      if (monitor === undefined || this.isStopped) return;
      const unknown = createUnknownResult("the check itself failed; see the log");
      const seconds = this.outcomes.record(monitor, unknown, "turn");
      this.schedule(monitor, this.monotonic() + seconds * 1000);
    }
  }

  /** Checks one monitor, records the result and schedules the next check. */
  private async check(key: number, dueAt: number): Promise<void> {
    const isUnscheduled = this.unscheduled.delete(key);
    const monitor = this.monitors.get(key);
    if (monitor === undefined || this.isStopped || !this.isOurs(monitor)) return;
    if (monitor.type === "push" && this.outcomes.settle(monitor))
      return this.schedule(monitor, this.due.computeSilence(monitor, monitor.waitsSince));
    const postponed = monitor.type === "push" ? this.due.computePostponed(monitor) : null;
    if (postponed !== null) return this.schedule(monitor, postponed);
    const startedAt = this.monotonic();
    if (!isUnscheduled) this.counted.began((startedAt - dueAt) / 1_000);
    const outcome = await this.determineOutcome(monitor, startedAt);
    // Discards the result of a monitor that was changed, paused or deleted during the check.
    if (this.monitors.get(key) !== monitor || this.isStopped) return;
    const slot = this.due.computeSlotAfter(monitor, startedAt);
    const secondsToSlot = Math.max(1, Math.round((slot - this.monotonic()) / 1000));
    const period = isUnscheduled && monitor.lastAt !== null ? secondsToSlot : "turn";
    const seconds = this.outcomes.record(monitor, outcome, period);
    this.schedule(monitor, this.due.computeNext(monitor, startedAt, seconds));
    this.armTimer();
  }

  private async determineOutcome(monitor: Watched, startedAt: number): Promise<CheckResult> {
    if (monitor.type === "push") return judgeSilence(monitor, this.trouble, this.due.now());
    const ending = new AbortController();
    this.running.set(monitor.key, ending);
    const outcome = await this.confirmOutcome(monitor, ending.signal);
    this.running.delete(monitor.key);
    this.counted.observeDuration(monitor.type, (this.monotonic() - startedAt) / 1_000);
    return outcome;
  }

  /** Runs the check. Other nodes confirm a failure that would change the state to down. */
  private async confirmOutcome(monitor: Watched, signal: AbortSignal): Promise<CheckResult> {
    const outcome = await this.run(monitor, signal);
    if (outcome.status !== "down") return outcome;
    const { retries, successThreshold } = monitor;
    const patience = { retries, successThreshold, inMaintenance: this.isMaintained(monitor) };
    return goesDown(monitor.state, outcome, patience)
      ? this.requests.confirmFailure(monitor, outcome)
      : outcome;
  }

  private async run(monitor: Watched, signal: AbortSignal): Promise<CheckResult> {
    const target = buildTarget(monitor);
    if (target === null)
      return createUnknownResult("the secrets of the monitor can't be opened with this secret.key");
    return this.runner.run(monitor.organizationId, target, signal);
  }

  /** Checks a monitor of any node without storing a result. */
  private async probe(organizationId: string, monitorId: string): Promise<CheckResult> {
    const monitor = await findChecked(this.context, organizationId, monitorId);
    return monitor === undefined
      ? createUnknownResult("it is not checked")
      : this.run(monitor, this.stopping.signal);
  }

  private async setMonitors(events: readonly LoggedEvent[]) {
    this.runner.take(events);
    await this.monitors.handleEvents(events);
    await this.checkRelated(events);
  }

  /**
   * Schedules early checks of related monitors: the dependencies of a failed monitor, the failing dependents of a
   * recovered one, and composite monitors.
   */
  private async checkRelated(events: readonly LoggedEvent[]) {
    for (const [types, list] of relatedMonitors) {
      const changes = events.filter(({ type }) => (types as readonly EventType[]).includes(type));
      for (const [organizationId, own] of Map.groupBy(changes, (event) => event.organizationId)) {
        const tenant = { store: this.context.store, organizationId };
        const subjectIds = own.map(({ subjectId }) => subjectId);
        const changedAt = Math.max(...own.map(({ at }) => Date.parse(at)));
        this.checkSoon(
          (await list(tenant, subjectIds)).filter((id) => {
            const monitor = this.monitors.findById(id);
            return monitor?.type !== "push" && (monitor?.lastAt ?? 0) < changedAt;
          }),
        );
      }
    }
  }

  /** Records an unknown result for a check that waited too long in the queue. */
  private recordMissed(key: number) {
    const monitor = this.monitors.get(key);
    if (monitor === undefined || this.isStopped || !this.isOurs(monitor)) return;
    this.counted.missed();
    const seconds = monitor.terms.patienceMs / 1000;
    this.outcomes.record(
      monitor,
      createUnknownResult("too many other checks are under way"),
      seconds,
    );
  }

  /** Starts to check a new or changed monitor. */
  private startMonitor(monitor: Watched, firstCheck: FirstCheck) {
    this.running.get(monitor.key)?.abort();
    const first = this.due.computeFirst(monitor, firstCheck);
    const settling = monitor.type === "push" ? this.computeSettling(monitor) : Infinity;
    this.schedule(monitor, Math.min(first, settling));
    this.armTimer();
  }

  private stopMonitor({ key }: Watched) {
    this.jobs.remove(key);
    this.running.get(key)?.abort();
  }

  private armTimer() {
    if (this.timer !== null || this.isStopped || this.subscription === null) return;
    const wait = (this.jobs.findNextDueAt() ?? Infinity) - this.monotonic();
    this.timer = setTimeout(() => this.tick(), Math.min(Math.max(wait, minTickMs), tickMs));
  }

  private tick() {
    this.timer = null;
    this.trouble.tick();
    this.jobs.startDue();
    this.armTimer();
  }

  /**
   * Checks a monitor of this node. Resolves when the result is stored, with false for other monitors. Throws
   * UNAVAILABLE.
   */
  private async checkHere(organizationId: string, monitorId: string): Promise<boolean> {
    this.runner.forgetSettings(organizationId);
    for (;;) {
      const monitor = await this.monitors.refresh(organizationId, monitorId);
      this.assertRunning();
      if (monitor === undefined || monitor.type === "push") return false;
      const { key, lastAt } = monitor;
      if (!this.jobs.isRunning(key)) this.unscheduled.add(key);
      await this.jobs.runNow(key, monitor.terms);
      // A change during the check discarded the result: check again.
      if (this.monitors.get(key) === monitor && monitor.lastAt !== lastAt) {
        await this.outcomes.storeNow(monitor);
        return true;
      }
    }
  }

  /** Stores a report. Resolves with false if this node does not check the monitor. Throws UNAVAILABLE. */
  private async acceptReport(
    organizationId: string,
    monitorId: string,
    report: PushReport,
  ): Promise<boolean> {
    const known = this.monitors.findById(monitorId);
    const monitor =
      known && this.isOurs(known) ? known : await this.monitors.refresh(organizationId, monitorId);
    this.assertRunning();
    if (monitor === undefined) return false;
    this.recordReport(monitor, report);
    await this.outcomes.storeNow(monitor);
    return true;
  }

  /** Records a report, with a result if it has an outcome, and sets the time at which the next one becomes overdue. */
  private recordReport(monitor: Watched, report: PushReport) {
    const at = computeNextMoment(monitor.reportedAt, this.context.clock());
    const issue = findOutputIssue(report, monitor.settings ?? {});
    const kind = issue === null ? report.kind : "failure";
    const { runId, exitStatus, body, message, address, userAgent } = report;
    const { runs, durationMs } = updateRuns(monitor.runs, { kind, runId, at });
    Object.assign(monitor, { runs, reportedAt: at });
    const row = { monitorKey: monitor.key, at, kind, runId, durationMs, exitStatus };
    const stored = { ...row, body: body ?? message, address, userAgent };
    if (kind === "start" || kind === "log") this.outcomes.recordNote(monitor, stored);
    else {
      const finding = {
        status: kind === "success" ? ("up" as const) : ("down" as const),
        message: issue ?? describeReport(report),
        latencyMs: report.latencyMs ?? durationMs,
        isFinal: report.isFinal,
        ...(message !== null && { serverText: message }),
      };
      const outcome = markSlow(finding, monitor.degradedAfterMs);
      this.outcomes.record(
        monitor,
        monitor.inverted ? invertOutcome(outcome) : outcome,
        "since the last",
        stored,
      );
    }
    // The start of a failing job does not stop the repetition of its failure.
    const isWaiting = kind === "log" || (kind === "start" && monitor.state.failures > 0);
    if (isWaiting) return;
    const silence = this.due.computeSilence(monitor, runs.current?.at ?? at);
    this.schedule(monitor, Math.min(silence, this.computeSettling(monitor)));
  }

  /** Returns when a postponed change of state follows, in monotonic milliseconds; Infinity if none is postponed. */
  private computeSettling(monitor: Watched): number {
    const waitMs = this.outcomes.computeSettlingMs(monitor);
    return waitMs === null ? Infinity : this.monotonic() + waitMs;
  }

  private assertRunning() {
    if (this.isStopped) throw new AppError("UNAVAILABLE", "The appliance is stopping.");
  }
}
