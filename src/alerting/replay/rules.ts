/** Decides which alerts the states of a monitor cause, with the rules that decide in operation. */
import type { StoredStatus } from "../../core/statuses.ts";
import type { MessageKind } from "../channels/routing-schema.ts";
import { type Ancestor, decideHold, type AlertHold } from "../deciding/holding-rules.ts";
import {
  type Audience,
  emptyHistory,
  isReminderDue,
  isWanted,
  type Memory,
  findNextDue,
  type NotifiedState,
  problemOf,
  type Step,
  stepAfterChange,
  stepAfterFlapping,
  stepAfterReminder,
  withholdMessages,
} from "../deciding/rules.ts";
import type { AlertType } from "../schema.ts";

/** The results of a monitor with certain settings. All lists are in the order of time, in Unix milliseconds. */
export type Timeline = {
  changes: { at: number; status: StoredStatus }[];
  /**
   * Times of the checks, and the failures and successes in a row after each. Empty if no other monitor matters.
   */
  checks: { at: number[]; failures: number[]; successes: number[] };
};

/** A monitor with its timeline, and the settings that decide about its alerts. */
export type ReplayedMonitor = {
  id: string;
  name: string;
  patienceMs: number;
  reminderMs: number | null;
  /** Whether someone is notified of its outages. */
  notifies: boolean;
  /** The kinds of messages that each enabled channel gets. */
  channels: readonly (readonly MessageKind[])[];
  timeline: Timeline;
};

/** An alert that would have been sent. */
export type ReplayedAlert = {
  monitor: { id: string; name: string };
  type: AlertType;
  at: number;
  /** Null if the problem lasts. */
  until: number | null;
  /** When its escalation starts; null if it never does, because the monitor was only slow. */
  escalatesAt: number | null;
};

export type ReplayedAlerts = {
  alerts: ReplayedAlert[];
  /** Number of outages whose alerts would have been held until they were over. */
  held: number;
  /** Number of messages to channels. */
  messages: number;
};

/** The only channel of the replay. All channels of a monitor get the same alerts. */
const everyChannel = "";
const audience: Audience = { muted: false, channels: [everyChannel] };

/** Adds the alerts of a monitor to a replay. Yields after each step, so that long replays can wait. */
export function* replayAlerts(
  monitor: ReplayedMonitor,
  ancestors: readonly ReplayedMonitor[],
  until: number,
  found: ReplayedAlerts,
): Generator<void> {
  const replay = new AlertReplay(monitor, ancestors, found);
  for (const change of monitor.timeline.changes) {
    while (replay.applyTimer(change.at - 1)) yield;
    replay.applyChange(change);
    yield;
  }
  while (replay.applyTimer(until)) yield;
}

class AlertReplay {
  readonly #monitor: ReplayedMonitor;
  readonly #ancestors: readonly ReplayedMonitor[];
  readonly #found: ReplayedAlerts;
  #memory: Memory = emptyHistory;
  #notified: NotifiedState | null = null;
  #status: StoredStatus = "pending";
  #heldSince = 0;
  #hold: AlertHold | null = null;
  #open: ReplayedAlert | null = null;

  constructor(
    monitor: ReplayedMonitor,
    ancestors: readonly ReplayedMonitor[],
    found: ReplayedAlerts,
  ) {
    this.#monitor = monitor;
    this.#ancestors = ancestors;
    this.#found = found;
  }

  applyChange({ at, status }: Timeline["changes"][number]) {
    const from = this.#status;
    this.#status = status;
    this.#apply(this.#decide(from, at), at, this.#findHold(at, at));
  }

  /** Applies the next timer if it is due by `end`. Returns false if there is none. */
  applyTimer(end: number): boolean {
    const hold = this.#hold;
    const at = hold === null ? findNextDue(this.#memory) : this.#findNextDecision(hold);
    if (at === null || at > end) return false;
    if (hold !== null) {
      this.#apply(this.#decide("pending", at), at, this.#findHold(this.#heldSince, at));
      return true;
    }
    const { reminderMs } = this.#monitor;
    const steady = stepAfterFlapping(this.#memory, this.#known(), this.#status, audience, at);
    if (steady !== null) this.#apply(steady, at, null);
    else if (isReminderDue(this.#memory, reminderMs, at))
      this.#apply(
        stepAfterReminder(this.#memory, this.#status, audience, reminderMs, at),
        at,
        null,
      );
    else return false;
    return true;
  }

  #decide(from: StoredStatus, at: number): Step {
    const change = { from, to: this.#status, at };
    return stepAfterChange(this.#memory, this.#known(), change, audience, this.#monitor.reminderMs);
  }

  #known = () =>
    new Map(this.#notified === null ? [] : [[everyChannel, { state: this.#notified }]]);

  #findHold(since: number, at: number): AlertHold | null {
    if (this.#ancestors.length === 0) return null;
    if (this.#status !== "down" && this.#status !== "degraded") return null;
    const { patienceMs, timeline } = this.#monitor;
    const { lastCheckedAt, successes } = findCheck(timeline, at);
    const behind = this.#hold?.behind ?? null;
    const outage = { since, lastCheckedAt, successes, patienceMs, behind };
    return decideHold(
      outage,
      this.#ancestors.map((one) => describeAncestor(one, at)),
      at,
    );
  }

  /** A change to another monitor triggers a decision at once. */
  #findNextDecision({ until }: AlertHold): number {
    const now = this.#decidedAt;
    const changes = this.#ancestors.flatMap(({ timeline }) => {
      const next = timeline.changes[countUntil(timeline.changes, now, ({ at }) => at)];
      return next === undefined ? [] : [next.at];
    });
    return Math.min(until, ...changes);
  }
  #decidedAt = 0;

  #apply(whole: Step, at: number, hold: AlertHold | null) {
    const { memory, alert, notifiedState, isOver } =
      hold === null ? whole : withholdMessages(whole);
    const problem = problemOf(memory, this.#status);
    this.#decidedAt = at;
    if (hold !== null && this.#hold === null) {
      this.#heldSince = at;
      this.#found.held++;
    }
    if (hold === null && this.#hold !== null && problem !== null) this.#found.held--;
    this.#hold = hold;
    this.#memory = memory;
    if (alert !== null) {
      if (notifiedState !== null) this.#notified = notifiedState;
      this.#found.messages += this.#monitor.channels.filter((kinds) =>
        isWanted(kinds, alert.type),
      ).length;
    }
    if (hold === null && problem !== null) this.#report(problem, at);
    if (isOver) this.#end(at);
  }

  #report(type: AlertType, at: number) {
    if (this.#open !== null) {
      if (this.#open.type !== "monitor.degraded") return;
      this.#open.type = type;
      this.#open.escalatesAt = findEscalation(type, at);
      return;
    }
    const { id, name } = this.#monitor;
    const escalatesAt = findEscalation(type, at);
    this.#open = { monitor: { id, name }, type, at, until: null, escalatesAt };
    this.#found.alerts.push(this.#open);
  }

  #end(at: number) {
    if (this.#open !== null) this.#open.until = at;
    this.#open = null;
    this.#notified = null;
  }
}

/** A slow monitor does not escalate until it is down or flapping. */
const findEscalation = (type: AlertType, at: number) => (type === "monitor.degraded" ? null : at);

function describeAncestor(
  { id, name, patienceMs, notifies, timeline }: ReplayedMonitor,
  at: number,
): Ancestor {
  const change = timeline.changes[countUntil(timeline.changes, at, (one) => one.at) - 1];
  const { lastCheckedAt, failures } = findCheck(timeline, at);
  const status = change?.status ?? "pending";
  return {
    id,
    name,
    status,
    since: change?.at ?? 0,
    lastCheckedAt,
    failures,
    patienceMs,
    notifies,
  };
}

function findCheck({ checks }: Timeline, at: number) {
  const index = countUntil(checks.at, at, (one) => one) - 1;
  return {
    lastCheckedAt: checks.at[index] ?? 0,
    failures: checks.failures[index] ?? 0,
    successes: checks.successes[index] ?? 0,
  };
}

/** Returns how many entries of a sorted list are not after a time. */
function countUntil<T>(list: readonly T[], time: number, timeOf: (one: T) => number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(list[middle] as T) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the alerts that overlap with no alert of the same monitor in another replay. */
export function listUnmatchedAlerts(
  before: readonly ReplayedAlert[],
  after: readonly ReplayedAlert[],
): ReplayedAlert[] {
  const others = Map.groupBy(after, ({ monitor }) => monitor.id);
  const endOf = ({ until }: ReplayedAlert) => until ?? Infinity;
  return before.filter((one) => {
    const otherOutages = others.get(one.monitor.id) ?? [];
    // The alerts of a monitor do not overlap, and are in the order of time.
    const started = countUntil(otherOutages, endOf(one), ({ at }) => at);
    const last = otherOutages[started - 1];
    return last === undefined || endOf(last) < one.at;
  });
}
