/** Judges the reports of a job: which runs are open, how long a finished run took, and what its output means. */
import { hourMs } from "../../core/time/clock.ts";
import { jobBounds } from "../../core/limits.ts";
import type { ReportKind } from "../../core/statuses.ts";

/** Report that a job sends to its push monitor. */
export type PushReport = {
  kind: ReportKind;
  /** Message of the job in one line; null if there is none. */
  message: string | null;
  latencyMs: number | null;
  /** UUID that the job gave to all reports of one run. */
  runId: string | null;
  exitStatus: number | null;
  /** Whether a failure makes the monitor down without retries. */
  isFinal: boolean;
  /** Start of the body; null if there is none. */
  body: string | null;
  /** Address and program of the sender. */
  address: string | null;
  userAgent: string | null;
};

/** Creates a report with the fields that a sender gave. */
export const createReport = (kind: ReportKind, given: Partial<PushReport> = {}): PushReport => ({
  kind,
  message: null,
  latencyMs: null,
  runId: null,
  exitStatus: null,
  isFinal: false,
  body: null,
  address: null,
  userAgent: null,
  ...given,
});

/** A run that was started and not finished. */
type Start = { at: number; runId: string | null };

/** Open runs of a job. */
export type OpenRuns = {
  /** The last start, from which the maximum run time counts; null if its run ended. */
  current: Start | null;
  /** Starts whose end has a duration, oldest first. */
  starts: readonly Start[];
};

export const noRuns: OpenRuns = { current: null, starts: [] };

/** Longest time between the start and the end of a run, as in Healthchecks. */
const maxDurationMs = 72 * hourMs;

/**
 * Returns the open runs after a report, and the duration of the run that it ends. Reports of one run have the same run
 * ID, or none. As in Healthchecks, a failure and a success without a run ID also end a current run with another ID.
 */
export function updateRuns(
  runs: OpenRuns,
  { kind, runId, at }: { kind: ReportKind; runId: string | null; at: number },
): { runs: OpenRuns; durationMs: number | null } {
  if (kind === "log") return { runs, durationMs: null };
  const others = runs.starts.filter((start) => start.runId !== runId);
  if (kind === "start") {
    const start = { at, runId };
    const starts = [...others, start].slice(-jobBounds.openRuns.value);
    return { runs: { current: start, starts }, durationMs: null };
  }
  const start = runs.starts.find((one) => one.runId === runId);
  const passedMs = start === undefined ? null : at - start.at;
  const isEnded = kind === "failure" || runId === null || runs.current?.runId === runId;
  const after = { current: isEnded ? null : runs.current, starts: others };
  return {
    runs: after.current === null && others.length === 0 ? noRuns : after,
    durationMs: passedMs !== null && passedMs >= 0 && passedMs <= maxDurationMs ? passedMs : null,
  };
}

/** Returns the open runs after the stored reports of a monitor, oldest first. */
export const openRunsOf = (
  reports: readonly { kind: ReportKind; runId: string | null; at: number }[],
): OpenRuns => reports.reduce((runs, report) => updateRuns(runs, report).runs, noRuns);

/** Returns the open runs with no start after `now`. A later one was stored while the clock was ahead. */
export function limitStarts(runs: OpenRuns, now: number): OpenRuns {
  if (runs === noRuns) return runs;
  const limit = (start: Start) => ({ ...start, at: Math.min(start.at, now) });
  return { current: runs.current && limit(runs.current), starts: runs.starts.map(limit) };
}

type Keywords = { successKeywords?: readonly string[]; failureKeywords?: readonly string[] };

/**
 * Judges the output of a successful run: one of the failure keywords means a failure, and so does the absence of all
 * success keywords. Returns the reason; null if the output is good.
 */
export function findOutputIssue(
  { kind, body }: Pick<PushReport, "kind" | "body">,
  { successKeywords = [], failureKeywords = [] }: Keywords,
): string | null {
  if (kind !== "success") return null;
  const output = body ?? "";
  if (failureKeywords.some((keyword) => output.includes(keyword)))
    return "The output contains a keyword of a failure.";
  if (successKeywords.length > 0 && !successKeywords.some((keyword) => output.includes(keyword)))
    return "The output contains no keyword of a success.";
  return null;
}

/** Describes an outcome for people. */
export function describeReport({
  kind,
  exitStatus,
}: Pick<PushReport, "kind" | "exitStatus">): string {
  if (exitStatus !== null && exitStatus > 0) return `Reported exit status ${exitStatus}.`;
  return kind === "success" ? "Reported up." : "Reported down.";
}
