/** Queues check results and writes them in atomic batches, together with states, incidents and events. */
import { LeaseLost, type Leases, guardLeases } from "../../../cluster/leases.ts";
import { AppError } from "../../../core/errors.ts";
import { monitorBounds } from "../../../core/limits.ts";
import type { Log } from "../../../core/log.ts";
import { createCommitPace } from "../../../core/time/pace.ts";
import {
  guardCondition,
  type Prepared,
  retryOnStaleRead,
  type Statement,
  type Store,
} from "../../../database/store.ts";
import { appendEvent } from "../../../events/log.ts";
import type { Signals } from "../../../events/signals.ts";
import { buildIncidentStatements } from "../../../incidents/by-monitor.ts";
import {
  endEarlier,
  type HeartbeatRow,
  insertHeartbeats,
  putScreenshot,
} from "../../uptime/store.ts";
import type { Cause } from "../../../core/causes.ts";
import { insertReports, type ReportRow } from "../../jobs/store.ts";
import type { NumberLevel } from "../number-rules.ts";
import { findResolvedChange, type ResolvedHistory } from "../resolved-rules.ts";
import type { MonitorState } from "../rules.ts";
import { findStoredStates, type Watched } from "./watched-monitors.ts";

/** Maximum delay of a result that changes a state. */
const changeDelayMs = 250;
/** Results per write. 250 take about 10 ms, or 20 ms if all of them change a state. */
const batch = 250;
/** Delay before a failed write is retried, for example on a full disk. */
const retryMs = 1_000;
/** Minimum interval between two log lines about failed writes. */
const logFailureMs = 60_000;
/** Maximum screenshots in the queue. Older ones are dropped. */
const maxScreenshots = 32;

/** Results in the queue with which further reports are stored without their bodies, to limit memory. */
const maxBodies = 2_000;

/** A judged check with its effect on the monitor. */
export type Result = {
  monitor: Watched;
  /** Null for a report without an outcome. */
  heartbeat: HeartbeatRow | null;
  /** Report of a job to store; absent for other checks. */
  report?: ReportRow | null;
  /** Whether the previous heartbeat covers part of the same time and must be shortened. */
  isEarly: boolean;
  /** End of the check and time of the heartbeat, RFC 3339. */
  checkedAt: string;
  before: MonitorState;
  after: MonitorState;
  /** Reason for the state, without text from the target. */
  reason: string;
  /** Reason that can contain text from the target; null leaves the last message unchanged. */
  message: string | null;
  certificateExpiresAt: string | null;
  numberLevel?: NumberLevel;
  /** Details of the check as JSON. */
  details: string | null;
  /** JPEG of a failed browser check. */
  screenshot: Uint8Array | null;
  /** Possible causes that the failure shares with others. */
  causes?: readonly Cause[];
  resolved?: ResolvedHistory | null;
};

type JudgedResult = Result & { heartbeat: HeartbeatRow };
const isJudged = (result: Result): result is JudgedResult => result.heartbeat !== null;

type Dependencies = { store: Store; log: Log; signals: Signals; leases: Leases };

/** An unstored result, with a promise if callers wait for it. */
type UnstoredResult = { result: Result; stored: PromiseWithResolvers<void> | null };

export class ResultWriter {
  private queue: UnstoredResult[] = [];
  /** Last unstored result of each monitor, by monitor key. */
  private readonly latest = new Map<number, UnstoredResult>();
  private events: Statement[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private flushAt = Infinity;
  private retryAt = -Infinity;
  private writing: Promise<boolean> | null = null;
  private isPaced = false;
  private readonly pace = createCommitPace();
  private isStopping = false;
  private droppedCount = 0;
  /** Whether the last write failed and results are waiting. */
  private isBehind = false;
  private failureLoggedAt = -Infinity;
  private readonly dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.dependencies = dependencies;
  }

  /** Adds a result to the next write. */
  add(result: Result) {
    const one: UnstoredResult = { result, stored: null };
    this.queue.push(one);
    this.latest.set(result.monitor.key, one);
    if (result.screenshot !== null) dropScreenshots(this.queue);
    if (result.report && this.queue.length > maxBodies) result.report.body = null;
    const { before, after } = result;
    const { store, log } = this.dependencies;
    this.flushWithin(before.status === after.status ? store.batchWindowMs : changeDelayMs);
    const [oldest] = this.queue;
    if (this.queue.length > monitorBounds.unstoredResults.value && oldest !== undefined) {
      this.queue.shift();
      this.reject(oldest, new AppError("UNAVAILABLE", "The result could not be stored."));
      if (this.droppedCount++ % 10_000 === 0)
        log.error("results of checks are dropped", { dropped: this.droppedCount });
    }
  }

  /** Resolves when the monitor's last result is on the disk. Rejects if the write fails; it is retried later. */
  async waitUntilStored(key: number): Promise<void> {
    const one = this.latest.get(key);
    if (one !== undefined) await (one.stored ??= Promise.withResolvers()).promise;
  }

  /** Adds events about problems of the appliance to the next write. */
  addEvents(statements: readonly Statement[]) {
    this.events.push(...statements);
    this.events.splice(0, this.events.length - monitorBounds.unstoredProblems.value);
    this.flushWithin(changeDelayMs);
  }

  /** Number of unwritten results. */
  countWaiting() {
    return this.queue.length;
  }

  /** Unix milliseconds of the oldest waiting result; null if none is waiting. */
  getWaitingSince() {
    const [oldest] = this.queue;
    return oldest === undefined ? null : Date.parse(oldest.result.checkedAt);
  }

  /** Number of results dropped because too many were waiting. */
  countDropped() {
    return this.droppedCount;
  }

  /** Writes all waiting results. Resolves with false if a write failed; it is retried later. */
  flush(): Promise<boolean> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.flushAt = Infinity;
    this.isPaced = false;
    this.writing ??= this.write().finally(() => (this.writing = null));
    return this.writing;
  }

  /**
   * Writes soon, together with the results of other callers. A running write includes results that are added meanwhile.
   */
  flushInPace() {
    if (this.isPaced || this.writing !== null) return;
    const waitMs = this.isStopping ? 0 : this.pace();
    if (waitMs === 0) return void this.flush();
    this.isPaced = true;
    this.flushWithin(waitMs);
  }

  /** Writes all waiting results in at most two attempts. */
  async stop() {
    this.isStopping = true;
    await this.flush();
    if (this.queue.length > 0) await this.flush();
  }

  private flushWithin(ms: number) {
    const at = Math.max(performance.now() + ms, this.retryAt);
    if (this.isStopping || at >= this.flushAt) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.flushAt = at;
    this.timer = setTimeout(() => void this.flush(), at - performance.now());
  }

  private async write(): Promise<boolean> {
    const { writes } = this.dependencies.store;
    while (this.queue.length > 0 || this.events.length > 0) {
      const portion = this.queue.splice(0, computePortion(this.queue));
      const isCut = this.queue.length > 0;
      const pending = this.events.splice(0);
      writes.recordStart("results");
      try {
        await this.writePortion(portion, pending);
        if (!this.isBehind) writes.recordSuccess("results");
        // Yields to other work between two writes, and waits for later results.
        if (this.queue.length > 0) await Bun.sleep(isCut || this.isStopping ? 0 : this.pace());
      } catch (error) {
        this.requeue(portion, pending, error);
        return false;
      }
    }
    this.isBehind = false;
    writes.recordSuccess("results");
    return true;
  }

  /** Rejects all waiting callers and schedules a retry. */
  private requeue(
    portion: readonly UnstoredResult[],
    pending: readonly Statement[],
    error: unknown,
  ) {
    for (const one of [...portion, ...this.queue]) this.reject(one, error);
    this.queue = [...portion, ...this.queue];
    this.events = [...pending, ...this.events];
    this.logFailure(error);
    this.isBehind = true;
    this.dependencies.store.writes.recordFailure("results");
    this.retryAt = performance.now() + retryMs;
    this.flushWithin(0);
  }

  private removeLatest(one: UnstoredResult) {
    const { key } = one.result.monitor;
    if (this.latest.get(key) === one) this.latest.delete(key);
    return one.stored;
  }

  private reject(one: UnstoredResult, error: unknown) {
    this.removeLatest(one)?.reject(error);
  }

  /** Logs the first failed write, then at most one per minute until a write succeeds. */
  private logFailure(error: unknown) {
    const now = performance.now();
    if (this.isBehind && now - this.failureLoggedAt < logFailureMs) return;
    this.failureLoggedAt = now;
    this.dependencies.log.error(
      "results of checks can't be written; they stay in memory and are tried again",
      { waiting: this.queue.length, cause: String(error) },
    );
  }

  /** Writes results. Bisects a portion that can't be written, to drop the faulty result. Throws UNAVAILABLE. */
  private async writePortion(
    portion: readonly UnstoredResult[],
    events: readonly Statement[],
  ): Promise<void> {
    const { store, log } = this.dependencies;
    const results = portion.map(({ result }) => result);
    try {
      await writeResults(store, results, events);
      this.announceResults(results);
      for (const one of portion) this.removeLatest(one)?.resolve();
    } catch (error) {
      if (error instanceof LeaseLost)
        return this.writePortion(await this.filterHeld(portion), events);
      if (error instanceof AppError) throw error;
      if (portion.length <= 1) {
        log.error("the result of a check is dropped", { cause: String(error) });
        for (const one of portion) this.reject(one, error);
        return;
      }
      const half = portion.length >> 1;
      await this.writePortion(portion.slice(0, half), events);
      await this.writePortion(portion.slice(half), []);
    }
  }

  /** Rejects results whose lease this node lost, and returns the others. */
  private async filterHeld(portion: readonly UnstoredResult[]) {
    const { leases, log } = this.dependencies;
    const ownedLeases = await leases.findStillOwned(
      new Set(portion.map(({ result }) => result.monitor.lease)),
    );
    const isHeld = ({ result }: UnstoredResult) => ownedLeases.has(result.monitor.lease);
    const lost = portion.filter((one) => !isHeld(one));
    for (const one of lost) this.reject(one, new LeaseLost());
    log.warn("results of checks are discarded: another node runs these checks now", {
      results: lost.length,
    });
    return portion.filter(isHeld);
  }

  private announceResults(results: readonly Result[]) {
    const byOrganization = Map.groupBy(results, ({ monitor }) => monitor.organizationId);
    for (const [organizationId, own] of byOrganization)
      this.dependencies.signals.emit(
        "results",
        organizationId,
        own.map(({ monitor, checkedAt }) => ({ monitorId: monitor.id, at: checkedAt })),
      );
  }
}

function dropScreenshots(waiting: readonly UnstoredResult[]) {
  const withScreenshot = waiting.filter(({ result }) => result.screenshot !== null);
  for (const { result } of withScreenshot.slice(0, -maxScreenshots)) result.screenshot = null;
}

/**
 * Returns the number of results in the next write. A write contains at most one state change per monitor, because the second depends
 * on the stored first one.
 */
function computePortion(waiting: readonly UnstoredResult[]): number {
  const movedKeys = new Set<number>();
  const end = waiting.findIndex(({ result: { monitor, before, after } }) => {
    if (before.status === after.status) return false;
    if (movedKeys.has(monitor.key)) return true;
    movedKeys.add(monitor.key);
    return false;
  });
  return end === -1 ? batch : Math.min(end, batch);
}

/**
 * Writes results atomically. Results of monitors that were paused, resumed or deleted meanwhile are ignored: their
 * epoch differs. A retry after an unknown outcome finds the state already stored and adds no second event.
 */
async function writeResults(
  store: Store,
  results: readonly Result[],
  events: readonly Statement[],
) {
  const judged = results.filter(isJudged);
  const changedResults = judged.filter(({ before, after }) => before.status !== after.status);
  await retryOnStaleRead(async () => {
    const storedStates = await findStoredStates(
      store,
      changedResults.map(({ monitor }) => monitor.key),
    );
    const isNewState = ({ monitor: { key, epoch }, after }: JudgedResult) => {
      const current = storedStates.get(key);
      return (
        current?.epoch === epoch &&
        (current.status !== after.status || current.since !== after.since)
      );
    };
    const changes: Statement[] = [];
    for (const result of changedResults.filter(isNewState))
      changes.push(...(await buildChangeStatements(store, result)));
    await store.atomic([
      ...guardLeases(new Set(results.map(({ monitor }) => monitor.lease))),
      ...changes,
      ...insertHeartbeats(
        judged.map(({ heartbeat, monitor }) => ({ ...heartbeat, epoch: monitor.epoch })),
      ),
      ...endEarlier(judged.filter(({ isEarly }) => isEarly).map(({ heartbeat }) => heartbeat)),
      ...judged.flatMap(({ heartbeat, monitor, screenshot }) =>
        screenshot === null ? [] : [putScreenshot(monitor, heartbeat.at, screenshot)],
      ),
      ...insertReports(
        results.flatMap(({ report, monitor }) =>
          report ? [{ ...report, epoch: monitor.epoch }] : [],
        ),
      ),
      ...(judged.length === 0 ? [] : [buildStateUpdate(judged)]),
      ...events,
    ]);
  });
}

const updateStatesSql = `update monitor_states set status = given.status, since = given.since,
    failures = given.failures, successes = given.successes, last_checked_at = given.last_checked_at,
    last_message = coalesce(given.last_message, monitor_states.last_message), latency_ms = given.latency_ms,
    certificate_expires_at = given.certificate_expires_at, details = given.details,
    number = given.number, number_level = given.number_level,
    not_judged_since = case when given.was_judged then given.not_judged_since
      else coalesce(monitor_states.not_judged_since, given.not_judged_since) end
  from (select value ->> 0 as key, value ->> 1 as epoch, value ->> 2 as status, value ->> 3 as since,
      value ->> 4 as failures, value ->> 5 as successes, value ->> 6 as last_checked_at,
      value ->> 7 as last_message, value ->> 8 as latency_ms, value ->> 9 as certificate_expires_at,
      value ->> 10 as details, value ->> 11 as was_judged, value ->> 12 as not_judged_since,
      value ->> 13 as number, value ->> 14 as number_level
    from json_each(?)) given
  where monitor_states.key = given.key and monitor_states.epoch = given.epoch`;

type LastResult = JudgedResult & {
  /** Whether one of the results was judged, which clears the stored `notJudgedSince`. */
  wasJudged: boolean;
  /** RFC 3339 time of the first unknown result in the current series; null if the last result was judged. */
  notJudgedSince: string | null;
};

function mergeLastResult(before: LastResult | undefined, result: JudgedResult): LastResult {
  const isKnown = result.heartbeat.status !== "unknown";
  return {
    ...result,
    message: result.message ?? before?.message ?? null,
    wasJudged: isKnown || before?.wasJudged === true,
    notJudgedSince: isKnown ? null : (before?.notJudgedSince ?? result.checkedAt),
  };
}

/** Updates each monitor to its last result. */
function buildStateUpdate(results: readonly JudgedResult[]): Prepared {
  const last = new Map<string, LastResult>();
  for (const result of results) {
    const name = `${result.monitor.key} ${result.monitor.epoch}`;
    last.set(name, mergeLastResult(last.get(name), result));
  }
  const list = [...last.values()].map(({ monitor, heartbeat, after, ...result }) => [
    monitor.key,
    monitor.epoch,
    after.status,
    after.since,
    after.failures,
    after.successes,
    result.checkedAt,
    result.message,
    heartbeat.latencyMs,
    result.certificateExpiresAt,
    result.details,
    result.wasJudged ? 1 : 0,
    result.notJudgedSince,
    heartbeat.number ?? null,
    result.numberLevel ?? null,
  ]);
  return { text: updateStatesSql, parameters: [JSON.stringify(list)] };
}

/** Creates the statements of a state change: a guard, the event and the incident. */
async function buildChangeStatements(store: Store, result: JudgedResult): Promise<Statement[]> {
  const { monitor, heartbeat, checkedAt, before, after, reason, causes = [] } = result;
  const isFailure = after.status === "down" || after.status === "degraded";
  const resolved = isFailure ? findResolvedChange(result.resolved ?? null, heartbeat.at) : null;
  const message = result.message ?? reason;
  const { organizationId, id, key, epoch } = monitor;
  const event = {
    organizationId,
    at: checkedAt,
    type: `monitor.${after.status}` as const,
    subjectId: id,
    data: {
      before: before.status,
      since: before.since,
      message,
      latencyMs: heartbeat.latencyMs,
      ...(after.status === "down" && causes.length > 0 && { causes }),
      ...(resolved !== null && { resolved }),
    },
  };
  return [
    guardCondition(
      "exists (select 1 from monitor_states where key = ? and epoch = ? and (status, since) <> (?, ?))",
      [key, epoch, after.status, after.since],
    ),
    appendEvent(event),
    ...(await buildIncidentStatements(store, {
      organizationId,
      monitor,
      severity: monitor.autoIncidentSeverity,
      before: before.status,
      after: after.status,
      message: reason,
      since: Date.parse(before.since),
      at: heartbeat.at,
    })),
  ];
}
