/** Turns check outcomes into monitor states and passes both to the result writer. */
import type { CheckResult } from "../check.ts";
import { type Leases, assignProblemToNode } from "../../../cluster/leases.ts";
import { type Clock, formatTimestamp } from "../../../core/time/clock.ts";
import type { Log } from "../../../core/log.ts";
import { jobBounds } from "../../../core/limits.ts";
import { capitalize, notJudgedPrefix } from "../../../core/text/formatting.ts";
import { recordProblem } from "../../../events/problems.ts";
import { createRateLimit, type RateLimit } from "../../../http/access/rate-limit.ts";
import { computeAllowedSeconds, stillFailingResult, stillReportingResult } from "../kinds/push.ts";
import type { ResultWriter } from "./record.ts";
import type { ReportRow } from "../../jobs/store.ts";
import {
  isChangePostponed,
  isEarly,
  computeNextMoment,
  computeSecondsSince,
  computeSecondsToNext,
  type MonitorState,
  postponeChange,
  stateAfter,
} from "../rules.ts";
import { updateHistory } from "../resolved-rules.ts";
import type { Watched } from "./watched-monitors.ts";

/** An episode of unknown results ends after this time without another. */
const troubleEpisodeMs = 300_000;
/** Minimum time between two events of one episode. */
const troubleEventIntervalMs = 60_000;

/**
 * Time that a result covers in uptime. `turn` lasts until the next scheduled result, `since the last` started with the
 * last result. `before maintenance` and `in maintenance` do the same for the last report. A number is in seconds.
 */
type Period = "turn" | "since the last" | "before maintenance" | "in maintenance" | number;

type Dependencies = {
  clock: Clock;
  log: Log;
  leases: Leases;
  maintenanceOf?: (monitor: Watched) => { countsUptime: boolean } | null;
};

type Count = (type: string, status: CheckResult["status"]) => void;

export class OutcomeRecorder {
  /** Unix milliseconds of the last event about unknown results, by organization. */
  private readonly troubled = new Map<string, number>();
  /** Limit of the state changes that the reports of a monitor cause. */
  private readonly changes: RateLimit;
  /** Outcomes of reports that exceed this limit, by monitor key. Reports before a pause no longer count. */
  private readonly postponed = new Map<
    number,
    { outcome: CheckResult; until: number; epoch: number }
  >();
  private readonly dependencies: Dependencies;
  private readonly writer: ResultWriter;
  private readonly count: Count;

  constructor(dependencies: Dependencies, writer: ResultWriter, count: Count) {
    this.dependencies = dependencies;
    this.writer = writer;
    this.count = count;
    this.changes = createRateLimit(jobBounds.stateChanges.value, dependencies.clock);
  }

  /** Sets the state after an outcome and passes both to the writer. Returns the seconds until the next check. */
  record(
    monitor: Watched,
    outcome: CheckResult,
    period: Period,
    report: ReportRow | null = null,
  ): number {
    const { clock, maintenanceOf } = this.dependencies;
    const at = computeNextMoment(monitor.lastAt, clock());
    const maintenance = maintenanceOf?.(monitor) ?? null;
    const { retries, successThreshold, state: before, lastAt, standsUntil } = monitor;
    const { intervalSeconds } = monitor;
    const patience = { retries, successThreshold, inMaintenance: maintenance !== null };
    const checkedAt = formatTimestamp(at);
    const judged = stateAfter(before, outcome, patience, checkedAt);
    const after = this.limitChange(monitor, judged, outcome, report !== null);
    const toNext = computeSecondsToNext(after, outcome, monitor);
    const coversPast = typeof period !== "number" && (period !== "turn" || lastAt === null);
    const since = lastAt === null ? null : standsUntil;
    const seconds =
      typeof period === "number"
        ? period
        : coversPast
          ? computeSecondsSince(since, at, computeAllowedSeconds(monitor, since ?? at))
          : toNext;
    this.count(monitor.type, outcome.status);
    Object.assign(monitor, {
      state: after,
      lastAt: at,
      standsUntil: coversPast ? at : at + seconds * 1000,
      certificateExpiresAt: determineCertificateExpiry(monitor, outcome),
      ...(outcome.number && { numberLevel: outcome.number.level }),
      ...(outcome.resolved && {
        resolved: updateHistory(monitor.resolved, outcome.resolved, { at, intervalSeconds }),
      }),
    });
    const isMaintained = maintenance !== null && !maintenance.countsUptime;
    const isUncounted =
      period === "in maintenance" || (isMaintained && period !== "before maintenance");
    this.writer.add({
      ...buildResult(monitor, outcome, { at, seconds, isUncounted }),
      report,
      isEarly: lastAt !== null && isEarly(at, lastAt, standsUntil),
      checkedAt,
      before,
      after,
    });
    if (outcome.status === "unknown" && outcome.hasNothingToJudge !== true)
      this.reportTrouble(monitor, outcome.message, at);
    return toNext;
  }

  /** Returns the milliseconds until a postponed change of state follows; null if none is postponed. */
  computeSettlingMs(monitor: Watched): number | null {
    const known = this.postponed.get(monitor.key);
    if (known?.epoch === monitor.epoch) return known.until - this.dependencies.clock();
    this.postponed.delete(monitor.key);
    return isChangePostponed(monitor.state, monitor) ? 0 : null;
  }

  /** Records the last report again, so that its postponed change of state follows. Returns false if none is postponed. */
  settle(monitor: Watched): boolean {
    if (this.computeSettlingMs(monitor) === null) return false;
    const isDown = monitor.state.status === "down";
    const known = this.postponed.get(monitor.key)?.outcome;
    this.record(
      monitor,
      known ?? (isDown ? stillReportingResult : stillFailingResult),
      "since the last",
    );
    return true;
  }

  /** A job can report a thousand changes per second. Decisions and messages only need the last one of each minute. */
  private limitChange(
    monitor: Watched,
    after: MonitorState,
    outcome: CheckResult,
    isReport: boolean,
  ): MonitorState {
    const { key, epoch, state: before } = monitor;
    this.postponed.delete(key);
    if (!isReport || after.status === before.status) return after;
    const waitSeconds = this.changes.take(String(key));
    if (waitSeconds === 0) return after;
    const until = this.dependencies.clock() + waitSeconds * 1000;
    this.postponed.set(key, { outcome, until, epoch });
    return postponeChange(before, after, monitor);
  }

  /** Passes a report without an outcome to the writer. */
  recordNote(monitor: Watched, report: ReportRow) {
    const { state, certificateExpiresAt } = monitor;
    this.writer.add({
      monitor,
      report,
      heartbeat: null,
      isEarly: false,
      checkedAt: formatTimestamp(report.at),
      before: state,
      after: state,
      reason: "",
      message: null,
      certificateExpiresAt,
      details: null,
      screenshot: null,
    });
  }

  /** Writes soon. Throws UNAVAILABLE if the write fails; the writer retries it later. */
  async storeNow({ key }: Watched) {
    const stored = this.writer.waitUntilStored(key);
    this.writer.flushInPace();
    await stored;
  }

  /** Adds an event about unknown results, at most once a minute per organization, for alerting. */
  private reportTrouble({ organizationId }: Watched, message: string, at: number) {
    const last = this.troubled.get(organizationId);
    if (last !== undefined && Math.abs(at - last) < troubleEventIntervalMs) return;
    this.troubled.set(organizationId, at);
    const { log, leases } = this.dependencies;
    log.warn("checks can't be judged", { reason: message });
    const problem = {
      name: "checks",
      stage: "",
      severity: "warning",
      message: capitalize(message.slice(notJudgedPrefix.length)),
      until: at + troubleEpisodeMs,
    } as const;
    this.writer.addEvents(
      recordProblem([organizationId], assignProblemToNode(leases, problem), at),
    );
  }
}

/** Returns the new expiry. A failed check receives no certificate, so the last known expiry stays. */
function determineCertificateExpiry(
  monitor: Watched,
  { status, certificateExpiresAt }: CheckResult,
) {
  const isGood = status === "up" || status === "degraded";
  return certificateExpiresAt ?? (isGood ? null : monitor.certificateExpiresAt);
}

function buildResult(
  monitor: Watched,
  outcome: CheckResult,
  { at, seconds, isUncounted }: { at: number; seconds: number; isUncounted: boolean },
) {
  const { status, message, latencyMs, serverText = message, details, screenshot } = outcome;
  const { state, successThreshold } = monitor;
  const isWaiting = status !== "unknown" && state.successes > 0;
  const progress = isWaiting ? ` Good result ${state.successes} of ${successThreshold}.` : "";
  return {
    monitor,
    heartbeat: {
      monitorKey: monitor.key,
      at,
      status: isUncounted ? ("maintenance" as const) : status,
      latencyMs,
      seconds,
      message: status === "up" ? null : serverText,
      number: outcome.number?.value ?? null,
    },
    numberLevel: monitor.numberLevel,
    reason: message,
    // An unknown result does not replace the reason why the monitor is down.
    message: status === "unknown" && state.status === "down" ? null : serverText + progress,
    certificateExpiresAt: monitor.certificateExpiresAt,
    details: details === undefined ? null : JSON.stringify(details),
    screenshot: status === "down" ? (screenshot ?? null) : null,
    ...(outcome.causes && { causes: outcome.causes }),
    resolved: monitor.resolved,
  };
}
