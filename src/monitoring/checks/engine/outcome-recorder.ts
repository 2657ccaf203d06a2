/** Turns check outcomes into monitor states and passes both to the result writer. */
import type { CheckResult } from "../check.ts";
import { type Leases, assignProblemToNode } from "../../../cluster/leases.ts";
import { type Clock, formatTimestamp } from "../../../core/time/clock.ts";
import type { Log } from "../../../core/log.ts";
import { capitalize, notJudgedPrefix } from "../../../core/text/formatting.ts";
import { recordProblem } from "../../../events/problems.ts";
import { computeAllowedSeconds } from "../kinds/push.ts";
import type { ResultWriter } from "./record.ts";
import type { ReportRow } from "../../jobs/store.ts";
import {
  isEarly,
  computeNextMoment,
  computeSecondsSince,
  computeSecondsToNext,
  stateAfter,
} from "../rules.ts";
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
  private readonly dependencies: Dependencies;
  private readonly writer: ResultWriter;
  private readonly count: Count;

  constructor(dependencies: Dependencies, writer: ResultWriter, count: Count) {
    this.dependencies = dependencies;
    this.writer = writer;
    this.count = count;
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
    const patience = { retries, successThreshold, inMaintenance: maintenance !== null };
    const checkedAt = formatTimestamp(at);
    const after = stateAfter(before, outcome, patience, checkedAt);
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
    if (outcome.status === "unknown") this.reportTrouble(monitor, outcome.message, at);
    return toNext;
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

  /** Writes immediately. Throws UNAVAILABLE if the write fails; the writer retries it later. */
  async storeNow({ key }: Watched) {
    const stored = this.writer.waitUntilStored(key);
    void this.writer.flush();
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
  const { status, message, latencyMs, said = message, details, screenshot } = outcome;
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
      message: status === "up" ? null : said,
    },
    reason: message,
    // An unknown result does not replace the reason why the monitor is down.
    message: status === "unknown" && state.status === "down" ? null : said + progress,
    certificateExpiresAt: monitor.certificateExpiresAt,
    details: details === undefined ? null : JSON.stringify(details),
    screenshot: status === "down" ? (screenshot ?? null) : null,
    ...(outcome.causes && { causes: outcome.causes }),
  };
}
