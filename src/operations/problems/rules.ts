import { dayMs, hourMs, minuteInUtc } from "../../core/time/clock.ts";
import { bytesInWords, durationInWords } from "../../core/text/words.ts";
import { type Problem, storageEnds } from "../../core/problems.ts";

/** So much room is little, whatever the size of the disk … */
const fewBytes = 1_000_000_000;
/** … and so is this part of it. */
const smallPart = 0.05;
/** A problem is over only when there is so much more. */
const margin = 1.2;

/** Bytes of a file system: those that we may still write, and all. */
export type Disk = { free: number; total: number };

export function diskProblem({ free, total }: Disk, isOpen: boolean): Problem | null {
  const least = Math.max(fewBytes, total * smallPart) * (isOpen ? margin : 1);
  if (free >= least) return null;
  return {
    name: "disk",
    stage: "",
    severity: "error",
    message: `The disk of the data directory has ${bytesInWords(free)} left of ${bytesInWords(total)}. When it is full, no check results and no alerts can be stored. Free some space, or keep less (--keep-results).`,
    until: null,
  };
}

/** Days before the end of our own certificate at which it is told of, once each; 0 is when it has ended. */
export const certificateDays = [14, 7, 1, 0] as const;

/** `endsAt` in Unix milliseconds. */
export function certificateProblem(endsAt: number, now: number): Problem | null {
  const stage = certificateDays.findLast((days) => endsAt - now < days * dayMs);
  if (stage === undefined) return null;
  const severities = { 14: "warning", 7: "warning", 1: "error", 0: "critical" } as const;
  return {
    name: "certificate",
    stage: String(stage),
    severity: severities[stage],
    message: `The certificate of --tls-cert ${stage === 0 ? "expired" : "expires"} on ${minuteInUtc(endsAt)}. Renew it and send SIGHUP.`,
    until: null,
  };
}

/** A schedule makes a backup each day. */
const periodMs = dayMs;

/** Where scheduled backups are on: `lastAt` is when the last one was made, or since when they are set so. */
export function backupProblem(lastAt: number, now: number): Problem | null {
  if (now - lastAt <= 2 * periodMs) return null;
  return {
    name: "backup",
    stage: "old",
    severity: "warning",
    message: `There has been no scheduled backup since ${minuteInUtc(lastAt)}, for more than two days. See Settings → Backup.`,
    until: null,
  };
}

/** What a subscriber of the events should handle, since when (monotonic), and whether it has handled what it should before. */
export type Progress = { name: string; wanted: number; since: number; isGoing: boolean };

/** A subscriber that has not come by what there was so long ago is stuck. */
const stuckMs = 300_000;

/** What is expected of each subscriber from now on. */
export function progressOf(
  before: readonly Progress[],
  reached: readonly { name: string; seq: number }[],
  lastSeq: number,
  now: number,
): Progress[] {
  return reached.map(({ name, seq }) => {
    const known = before.find((one) => one.name === name);
    const isGoing = known !== undefined && seq >= known.wanted;
    return known === undefined || isGoing ? { name, wanted: lastSeq, since: now, isGoing } : known;
  });
}

export function eventsProblem(progress: readonly Progress[], now: number): Problem | null {
  const stuck = progress.filter(({ since }) => now - since > stuckMs).map(({ name }) => name);
  if (stuck.length === 0) return null;
  return {
    name: "events",
    stage: "",
    severity: "error",
    message: `What happened more than ${durationInWords(stuckMs / 1000)} ago was not handled by: ${stuck.join(", ")}. See the log; a restart may help.`,
    until: null,
  };
}

/** The event loop is looked at so often. */
export const tickMs = 1_000;
const stallMs = 5_000;
/** A wall clock that moved so much against the monotonic one was set, or the machine slept. */
const jumpMs = 5_000;
/** What passes by itself is over when it has not come again for so long. */
const calmMs = 600_000;

/** Both clocks at one moment, in milliseconds. */
type Moment = { wall: number; monotonic: number };

/** What went wrong between two ticks. */
export function momentaryProblems(last: Moment, { wall, monotonic }: Moment): Problem[] {
  const stalled = monotonic - last.monotonic - tickMs;
  const jumped = wall - last.wall - (monotonic - last.monotonic);
  const until = wall + calmMs;
  const found: Problem[] = [];
  if (stalled > stallMs)
    found.push({
      name: "loop",
      stage: "",
      severity: "warning",
      message: `Signalbox did nothing for ${durationInWords(Math.round(stalled / 1000))}: the machine was too busy, or paused it. Checks of that time are not judged.`,
      until,
    });
  if (Math.abs(jumped) > jumpMs)
    found.push({
      name: "clock",
      stage: "",
      severity: "warning",
      message: `The clock went ${jumped > 0 ? "forward" : "back"} by ${durationInWords(Math.round(Math.abs(jumped) / 1000))}: it was set, or the machine slept. Make sure that it is synchronized with a time server.`,
      until,
    });
  return found;
}

/** One of several machines that serve; the others have taken over what it did. */
export const nodeProblem = (node: string, name: string): Problem => ({
  name: "node",
  node,
  stage: "",
  severity: "error",
  message: `${name} has not been heard from for ten seconds: it has stopped, or can't reach the database. The others do its work.`,
  until: null,
});

/** Whether what passes by itself has passed. A clock that was set back waits for no far moment. */
export function hasPassed(until: number | null, now: number): boolean {
  return until !== null && (until <= now || until > now + hourMs);
}

/** What is said when it is over. */
export const ends = {
  alerts: "The outbox has room for alerts again.",
  backup: "A backup has been made again.",
  certificate: "No certificate expires within two weeks.",
  checks: "Checks have been reliable for five minutes.",
  clock: "The clock has not jumped for ten minutes.",
  disk: "There is enough space again.",
  events: "All events have been handled.",
  loop: "It has not stalled for ten minutes.",
  node: "It is back, or was taken out of service.",
  notices: "The outbox has room for notices again.",
  storage: storageEnds,
} as const;
