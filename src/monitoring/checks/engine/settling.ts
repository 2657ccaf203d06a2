import { type Leases, ofNode } from "../../../cluster/leases.ts";
import { type Clock, timestamp } from "../../../core/time/clock.ts";
import type { Log } from "../../../core/log.ts";
import { capitalized, notJudged } from "../../../core/text/words.ts";
import { problemBegins } from "../../../events/problems.ts";
import { allowedSeconds } from "../kinds/push.ts";
import type { Recorder } from "./record.ts";
import { isEarly, momentAfter, secondsSince, secondsToNext, stateAfter } from "../rules.ts";
import type { Outcome } from "./run-check.ts";
import type { Watched } from "./watching.ts";

/** Own trouble is over after so long without any, … */
const troubleEpisodeMs = 300_000;
/** … and while it lasts it is written down no more often than this. */
const troubleNotedMs = 60_000;

/**
 * What a result stands for until another one comes: the time to the next one in turn, the time since the
 * last, the same where maintenance begins or ends only now, or so many seconds.
 */
type Period = "turn" | "since the last" | "before maintenance" | "in maintenance" | number;

type Dependencies = {
  clock: Clock;
  log: Log;
  leases: Leases;
  maintenanceOf?: (monitor: Watched) => { countsUptime: boolean } | null;
};

/** Makes of outcomes what monitors are, and hands that to the recorder. */
export function settling(
  { clock, log, leases, maintenanceOf }: Dependencies,
  results: Recorder,
  counted: (type: string, outcome: Outcome["status"]) => void,
) {
  const troubled = new Map<string, number>();

  /** One event an episode and organization, for the alert that tells of it. */
  function tellTrouble({ organizationId }: Watched, message: string, at: number) {
    const last = troubled.get(organizationId);
    if (last !== undefined && Math.abs(at - last) < troubleNotedMs) return;
    troubled.set(organizationId, at);
    log.warn("checks can't be judged", { reason: message });
    const problem = {
      name: "checks",
      stage: "",
      severity: "warning",
      message: capitalized(message.slice(notJudged.length)),
      until: at + troubleEpisodeMs,
    } as const;
    results.addEvents(problemBegins([organizationId], ofNode(leases, problem), at));
  }

  /** Moves the monitor to what the outcome makes of it; returns the seconds to the next check. */
  function settle(monitor: Watched, outcome: Outcome, period: Period): number {
    const at = momentAfter(monitor.lastAt, clock());
    const maintenance = maintenanceOf?.(monitor) ?? null;
    const before = monitor.state;
    const { retries, successThreshold } = monitor;
    const patience = { retries, successThreshold, inMaintenance: maintenance !== null };
    const checkedAt = timestamp(at);
    const after = stateAfter(before, outcome, patience, checkedAt);
    const toNext = secondsToNext(after, outcome, monitor);
    const { lastAt, standsUntil } = monitor;
    const looksBack = typeof period !== "number" && (period !== "turn" || lastAt === null);
    const seconds =
      typeof period === "number"
        ? period
        : looksBack
          ? secondsSince(lastAt === null ? null : standsUntil, at, allowedSeconds(monitor))
          : toNext;
    const { status, message, latencyMs, said = message, certificateExpiresAt, details } = outcome;
    counted(monitor.type, status);
    const kept = status === "up" || status === "degraded" ? null : monitor.certificateExpiresAt;
    const expiresAt = certificateExpiresAt ?? kept;
    Object.assign(monitor, {
      state: after,
      lastAt: at,
      standsUntil: looksBack ? at : at + seconds * 1000,
      certificateExpiresAt: expiresAt,
    });
    const isMaintained = maintenance !== null && !maintenance.countsUptime;
    const isUncounted =
      period === "in maintenance" || (isMaintained && period !== "before maintenance");
    const heartbeat = {
      monitorKey: monitor.key,
      at,
      status: isUncounted ? ("maintenance" as const) : status,
      latencyMs,
      seconds,
      message: status === "up" ? null : said,
    };
    const isWaiting = status !== "unknown" && after.successes > 0;
    const progress = isWaiting ? ` Good result ${after.successes} of ${successThreshold}.` : "";
    results.add({
      monitor,
      heartbeat,
      isEarly: lastAt !== null && isEarly(at, lastAt, standsUntil),
      checkedAt,
      before,
      after,
      reason: message,
      // A check that could not be judged is not why it is down.
      message: status === "unknown" && after.status === "down" ? null : said + progress,
      certificateExpiresAt: expiresAt,
      details: details === undefined ? null : JSON.stringify(details),
      screenshot: status === "down" ? (outcome.screenshot ?? null) : null,
    });
    if (status === "unknown") tellTrouble(monitor, message, at);
    return toNext;
  }

  /** Somebody waits for it: writes at once. Throws UNAVAILABLE where that fails; it is tried again later. */
  async function storedNow({ key }: Watched) {
    const stored = results.stored(key);
    void results.flush();
    await stored;
  }

  return { settle, storedNow };
}
