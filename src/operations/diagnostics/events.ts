import { createProblemFinding, createOkFinding, createSkippedFinding } from "../../core/finding.ts";
import { formatDuration } from "../../core/text/formatting.ts";
import type { Diagnosis } from "./diagnostic.ts";

/** Progress of one follower of the event log. Times are monotonic milliseconds. */
export type Progress = {
  name: string;
  /** Sequence number that the follower must reach. */
  wanted: number;
  since: number;
  checkedAt: number;
  /** Whether the follower reached its previous target. */
  isAdvancing: boolean;
};

/** A follower that has not reached its target for this long is stuck. */
const stuckMs = 300_000;

/** Sets a new target for each follower that reached its previous one. */
export function updateProgress(
  before: readonly Progress[],
  reached: readonly { name: string; seq: number }[],
  lastSeq: number,
  now: number,
): Progress[] {
  return reached.map(({ name, seq }) => {
    const known = before.find((one) => one.name === name);
    const isAdvancing = known !== undefined && seq >= known.wanted;
    return known === undefined || isAdvancing
      ? { name, wanted: lastSeq, since: now, checkedAt: now, isAdvancing }
      : { ...known, checkedAt: now };
  });
}

export function examineEvents(progress: readonly Progress[]): Diagnosis[] {
  if (progress.length === 0) return [];
  const subject = "events";
  const stuck = progress
    .filter(({ since, checkedAt }) => checkedAt - since > stuckMs)
    .map(({ name }) => name);
  if (stuck.length === 0)
    return progress.every(({ isAdvancing }) => isAdvancing)
      ? [createOkFinding(subject, "all subscribers handle them")]
      : [createSkippedFinding(subject, "being handled")];
  const message = `What happened more than ${formatDuration(stuckMs / 1000)} ago was not handled by: ${stuck.join(", ")}.`;
  const advice = "See the log; a restart can help.";
  return [
    {
      ...createProblemFinding(subject, message, advice),
      problem: {
        name: subject,
        stage: "",
        severity: "error",
        message: `${message} ${advice}`,
        until: null,
      },
    },
  ];
}
