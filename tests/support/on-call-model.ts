/**
 * A model of on-call, written from the documentation, slow and simple: monitors behind a router, a channel with quiet hours,
 * a schedule with overrides, and a policy that notifies the person on call, then a second channel, and at the end the default
 * channel. All times are in minutes since 1970.
 */

/** Times of each day in Berlin, in hours; null for no quiet hours. */
export type Hours = readonly [from: number, until: number] | null;
export const people = ["Ada", "Ben"] as const;
export type Person = (typeof people)[number];
export type Job = "shop" | "mail" | "router";
export type Dependent = Exclude<Job, "router">;
export type Priority = "normal" | "critical";
export type Action =
  | readonly ["down" | "up" | "acknowledge" | "unacknowledge" | "snooze", Job]
  | readonly ["priority", Job, Priority]
  | readonly ["attach" | "depend", Dependent, boolean]
  | readonly ["second step", number]
  | readonly ["override", Person, startsIn: number, length: number]
  | readonly ["hours", "Office" | Person, Hours]
  | readonly ["drill" | "acknowledge drill", Person]
  | readonly ["restore" | "restart" | "kill" | "remove override"];

type Receiver = "Office" | "Second" | "Default" | Person;
type Notification = { receiver: Receiver; step: number; dueAt: number };
type Problem = {
  from: number;
  /** Whether the policy has started, and whether the alert is held because the router is down. */
  isEscalating: boolean;
  isHeld: boolean;
  isAcknowledged: boolean;
  snoozedUntil: number | null;
  /** The next step and its time. The end of the policy counts as the last step. */
  next: number;
  dueAt: number;
  /** When steps ran, and whom each has notified. */
  runs: number[];
  notified: Set<string>;
  waiting: Notification[];
  /** Messages that quiet hours hold, by receiver and whether the policy sent them. */
  held: Map<string, { receiver: Receiver; type: string; step: number | null }>;
  reported: Set<Receiver>;
};
type Shift = { person: Person; startsAt: number };
type Drill = {
  person: Person;
  from: number;
  dueAt: number | null;
  isHeld: boolean;
  isSent: boolean;
};

type Override = { person: Person; from: number; until: number };

/** Minutes after a step at which the phone of a person is used. */
export const stepDelays: Record<Person, number> = { Ada: 0, Ben: 4 };
export const firstSecondStep = 15;
export const snoozeMinutes = 120;
export const noticeMinutes = 360;
const day = 1440;

/** Minutes by which Berlin is ahead of UTC, by hour. */
const offsets = new Map<number, number>();

/** The clock in Berlin, in minutes that look like UTC. */
function toLocal(at: number): number {
  const hour = Math.floor(at / 60);
  const instant = Temporal.Instant.fromEpochMilliseconds(hour * 3_600_000);
  const found =
    offsets.get(hour) ?? instant.toZonedDateTimeISO("Europe/Berlin").offsetNanoseconds / 60e9;
  offsets.set(hour, found);
  return at + found;
}

export class OnCallModel {
  /** Messages as `minute receiver type subject`. */
  readonly sent: string[] = [];
  /** Entries of timelines that explain why someone is notified, or not, as `minute job text`. */
  readonly explained = new Set<string>();
  /** Results of drills as `minute person result`. */
  readonly drilled: string[] = [];
  /** Minutes at which something happens. */
  readonly moments = new Set<number>();
  now: number;
  readonly #start: number;
  readonly #hours: Record<"Office" | Person, Hours> = { Office: [22, 7], Ada: null, Ben: [23, 6] };
  readonly #priorities: Record<Job, Priority> = {
    shop: "normal",
    mail: "normal",
    router: "normal",
  };
  readonly #attached: Record<Job, boolean> = { shop: true, mail: true, router: true };
  readonly #depends: Record<Dependent, boolean> = { shop: true, mail: true };
  #secondStep = firstSecondStep;
  /** In the order of their creation. */
  #overrides: Override[] = [];
  readonly #problems = new Map<Job, Problem>();
  readonly #drills = new Map<Person, Drill>();
  /** Announced shifts as `person start`. */
  readonly #notices = new Map<string, Shift & { isHeld: boolean }>();
  /** The next shifts, with the times of their notices. */
  #shifts: (Shift & { noticeAt: number })[] | null = null;

  /** `start` is noon in Berlin, when Ada's first shift starts. */
  constructor(start: number) {
    this.now = start;
    this.#start = start;
  }

  #send(receiver: Receiver, type: string, subject = "") {
    this.moments.add(this.now);
    this.sent.push(`${this.now} ${receiver} ${type} ${subject}`.trim());
  }

  #explain(job: Job, text: string) {
    this.explained.add(`${this.now} ${job} ${text}`);
  }

  /** When a step of the policy runs, or its end, in minutes after the start. */
  #stageMinutes = (stage: number) => [0, this.#secondStep, 2 * this.#secondStep][stage] ?? 0;

  #isBehindRouter = (job: Job) =>
    job !== "router" && this.#depends[job] && this.#problems.has("router");

  #isQuiet(receiver: Receiver, at = this.now): boolean {
    const hours = receiver in this.#hours ? this.#hours[receiver as Person] : null;
    if (hours === null) return false;
    const clock = (toLocal(at) % day) / 60;
    const [from, until] = hours;
    return from < until ? from <= clock && clock < until : clock >= from || clock < until;
  }

  #shiftOf = (at: number) => Math.floor((toLocal(at) - toLocal(this.#start)) / day);
  #onCall = (at = this.now) =>
    this.#overrides.findLast(({ from, until }) => from <= at && at < until)?.person ??
    (people[this.#shiftOf(at) % 2] as Person);

  #notify(
    job: Job,
    problem: Problem,
    receiver: Receiver,
    type: string,
    step: number | null = null,
  ) {
    this.moments.add(this.now);
    if (step !== null) problem.notified.add(`${step} ${receiver}`);
    if (this.#priorities[job] !== "critical" && this.#isQuiet(receiver)) {
      const key = `${receiver} ${step !== null}`;
      if (!problem.held.has(key)) this.#explain(job, `Held: ${receiver}`);
      problem.held.set(key, { receiver, type, step });
      return;
    }
    problem.reported.add(receiver);
    this.#send(receiver, type, job);
  }

  /** Drops held messages. They no longer count as notifications of their steps. */
  #drop(job: Job, problem: Problem, because: string, isDropped = (_receiver: Receiver) => true) {
    for (const [key, { receiver, step }] of [...problem.held].filter(([, one]) =>
      isDropped(one.receiver),
    )) {
      this.#explain(job, `Dropped: ${receiver}, ${because}`);
      problem.held.delete(key);
      problem.notified.delete(`${step} ${receiver}`);
    }
  }

  #release(job: Job, problem: Problem) {
    for (const [key, { receiver, type }] of problem.held) {
      if (this.#priorities[job] !== "critical" && this.#isQuiet(receiver)) continue;
      problem.held.delete(key);
      problem.reported.add(receiver);
      this.#send(receiver, type, job);
    }
  }

  #runStep(job: Job, problem: Problem) {
    const { next } = problem;
    this.moments.add(this.now);
    problem.from += Math.max(0, problem.dueAt - problem.from - this.#stageMinutes(next));
    problem.next += 1;
    if (next === 2) {
      this.#explain(job, "Nobody acknowledged. Notified: Default.");
      this.#notify(job, problem, "Default", "monitor.down");
      problem.dueAt = Infinity;
      return;
    }
    problem.runs.push(this.now);
    problem.dueAt = problem.from + this.#stageMinutes(next + 1);
    const receiver = next === 0 ? this.#onCall() : "Second";
    const delay = next === 0 ? stepDelays[receiver as Person] : 0;
    const isReached =
      this.#priorities[job] === "critical" || !this.#isQuiet(receiver, this.now + delay);
    if (delay === 0) this.#notify(job, problem, receiver, "monitor.down", next);
    else problem.waiting.push({ receiver, step: next, dueAt: this.now + delay });
    const name = next === 0 ? `${receiver} (on call in Platform)` : receiver;
    this.#explain(job, `Step ${next + 1} of 2: ${name}${isReached ? "" : " has quiet hours"}.`);
    if (!isReached) problem.dueAt = this.now;
  }

  #lookAtProblem(job: Job, problem: Problem) {
    if (problem.snoozedUntil !== null && problem.snoozedUntil <= this.now) {
      Object.assign(problem, { snoozedUntil: null, isAcknowledged: false, isEscalating: false });
      this.#explain(job, "returned");
      this.moments.add(this.now);
      if (!problem.isHeld) {
        this.#escalate(problem);
        if (this.#attached[job]) this.#notify(job, problem, "Office", "monitor.reminder");
      }
    }
    if (problem.isHeld && !this.#isBehindRouter(job)) this.#report(job, problem);
    this.#release(job, problem);
    if (problem.isAcknowledged || problem.snoozedUntil !== null || !problem.isEscalating) return;
    while (problem.dueAt <= this.now) this.#runStep(job, problem);
    for (const one of problem.waiting.filter(({ dueAt }) => dueAt <= this.now))
      this.#notify(job, problem, one.receiver, "monitor.down", one.step);
    problem.waiting = problem.waiting.filter(({ dueAt }) => dueAt > this.now);
  }

  #endDrill(drill: Drill, result: string) {
    this.#drills.delete(drill.person);
    this.drilled.push(`${drill.from} ${drill.person} ${result}`);
    this.moments.add(this.now);
  }

  #lookAtDrill(drill: Drill) {
    const { person, from, dueAt } = drill;
    if (dueAt === this.now) this.moments.add(this.now);
    if (dueAt !== null && dueAt <= this.now) Object.assign(drill, { dueAt: null, isHeld: true });
    if (drill.isHeld && !this.#isQuiet(person)) {
      Object.assign(drill, { isHeld: false, isSent: true });
      this.#send(person, "drill");
    }
    if (this.now >= from + stepDelays[person] + 5)
      this.#endDrill(drill, drill.isSent ? "unacknowledged" : "unreached");
  }

  /** When the notice of a shift is sent: before quiet hours that would hold it until the shift has started. */
  #findNoticeTime({ person, startsAt }: Shift): number {
    const usual = startsAt - noticeMinutes;
    for (let at = usual; at < startsAt; at++) if (!this.#isQuiet(person, at)) return usual;
    // At the start of the shift, nobody needs the notice any more.
    let first = usual;
    while (this.#isQuiet(person, first - 1)) first -= 1;
    return first - 1;
  }

  /** Lists the shifts of the next days. A shift starts when the person on call changes. */
  #listShifts() {
    const next = this.#shiftOf(this.now);
    const handOvers = [1, 2, 3, 4].map((index) => this.#startOf(next + index));
    const ends = this.#overrides.flatMap(({ from, until }) => [from, until]);
    return [...new Set([...handOvers, ...ends])]
      .filter((at) => at > this.now && this.#onCall(at) !== this.#onCall(at - 1))
      .map((startsAt) => ({ person: this.#onCall(startsAt), startsAt }))
      .map((shift) => ({ ...shift, noticeAt: this.#findNoticeTime(shift) }));
  }

  #lookAtNotices() {
    if (this.#shifts?.some(({ startsAt }) => startsAt <= this.now)) this.#shifts = null;
    this.#shifts ??= this.#listShifts();
    for (const { noticeAt, ...shift } of this.#shifts) {
      const key = `${shift.person} ${shift.startsAt}`;
      if (noticeAt > this.now || this.#notices.has(key)) continue;
      this.moments.add(this.now);
      this.#notices.set(key, { ...shift, isHeld: true });
    }
    for (const notice of this.#notices.values()) {
      if (!notice.isHeld || (notice.startsAt > this.now && this.#isQuiet(notice.person))) continue;
      notice.isHeld = false;
      if (notice.startsAt > this.now) this.#send(notice.person, "shift.starting");
    }
  }

  #startOf(shift: number): number {
    const local = toLocal(this.#start) + shift * day;
    return [local - 120, local - 60].find((at) => toLocal(at) === local) as number;
  }

  /** Everything that happens at this minute without an action. */
  look() {
    for (const [job, problem] of this.#problems) this.#lookAtProblem(job, problem);
    for (const drill of this.#drills.values()) this.#lookAtDrill(drill);
    this.#lookAtNotices();
  }

  perform(action: Action) {
    this.moments.add(this.now);
    switch (action[0]) {
      case "hours":
        this.#hours[action[1]] = action[2];
        this.#shifts = null;
        return;
      case "depend":
        this.#depends[action[1]] = action[2];
        return;
      case "second step":
        this.#secondStep = action[1];
        return;
      case "override":
        return this.#override(action[1], this.now + action[2], action[3]);
      case "remove override":
        return this.#removeOverride();
      case "drill":
        return this.#startDrill(action[1]);
      case "acknowledge drill": {
        const drill = this.#drills.get(action[1]);
        if (drill !== undefined) this.#endDrill(drill, "acknowledged");
        return;
      }
      case "restore":
        for (const [job, problem] of this.#problems) this.#restoreOffice(job, problem);
        return;
      case "restart":
      case "kill":
        return;
      case "priority":
        return this.#changePriority(action[1], action[2]);
      case "attach":
        this.#attached[action[1]] = action[2];
        if (!action[2]) {
          const problem = this.#problems.get(action[1]);
          if (problem !== undefined)
            this.#drop(action[1], problem, "unwanted", (receiver) => receiver === "Office");
        }
        return;
      default:
        return this.#performOn(action[0], action[1]);
    }
  }

  #override(person: Person, from: number, length: number) {
    this.#shifts = null;
    this.#overrides.push({ person, from, until: from + length });
  }

  #removeOverride() {
    this.#shifts = null;
    const last = this.#overrides.findLast(({ until }) => until > this.now);
    this.#overrides = this.#overrides.filter((one) => one !== last);
  }

  #changePriority(job: Job, priority: Priority) {
    this.#priorities[job] = priority;
    if (priority !== "critical") return;
    for (const { receiver } of this.#problems.get(job)?.held.values() ?? [])
      this.#explain(job, `Critical: ${receiver}`);
  }

  #startDrill(person: Person) {
    const dueAt = this.now + stepDelays[person];
    if (this.#drills.has(person) || this.#isQuiet(person, dueAt)) return;
    this.#drills.set(person, { person, from: this.now, dueAt, isHeld: false, isSent: false });
  }

  #restoreOffice(job: Job, problem: Problem) {
    if (problem.held.delete("Office false")) this.#explain(job, "Dropped: Office, deleted");
    if (problem.snoozedUntil === null) this.#informOffice(job, problem);
  }

  /** Notifies the channel if it does not know of the problem. */
  #informOffice(job: Job, problem: Problem) {
    if (problem.isHeld) return;
    const isAware = problem.reported.has("Office") || problem.held.has("Office false");
    if (this.#attached[job] && !isAware) this.#notify(job, problem, "Office", "monitor.down");
  }

  #performOn(what: "down" | "up" | "acknowledge" | "unacknowledge" | "snooze", job: Job) {
    const problem = this.#problems.get(job);
    if (what === "down") {
      if (problem === undefined) this.#startProblem(job);
    } else if (problem === undefined) return;
    else if (what === "up") {
      this.#drop(job, problem, "recovered");
      this.#problems.delete(job);
      for (const receiver of problem.reported) this.#send(receiver, "monitor.up", job);
    } else if (what === "unacknowledge") this.#continue(job, problem);
    else {
      const isNews = what === "snooze" || !problem.isAcknowledged || problem.snoozedUntil !== null;
      if (isNews) this.#explain(job, `${what}d`);
      problem.waiting = [];
      problem.isAcknowledged ||= what === "acknowledge";
      problem.snoozedUntil = what === "snooze" ? this.now + snoozeMinutes : null;
      this.#drop(
        job,
        problem,
        `${what}d`,
        (receiver) => what === "snooze" || receiver !== "Office",
      );
    }
  }

  #startProblem(job: Job) {
    const problem: Problem = {
      from: this.now,
      isEscalating: false,
      isHeld: this.#isBehindRouter(job),
      isAcknowledged: false,
      snoozedUntil: null,
      next: 0,
      dueAt: this.now,
      runs: [],
      notified: new Set(),
      waiting: [],
      held: new Map(),
      reported: new Set(),
    };
    this.#problems.set(job, problem);
    if (problem.isHeld) this.#explain(job, "Router is down, on which it depends.");
    else this.#report(job, problem);
  }

  /** Notifies of a problem that is not held, or is no longer held. After a snooze, it is sent again in any case. */
  #report(job: Job, problem: Problem) {
    this.moments.add(this.now);
    problem.isHeld = false;
    if (problem.snoozedUntil !== null) return;
    if (this.#attached[job]) this.#notify(job, problem, "Office", "monitor.down");
    if (!problem.isAcknowledged) this.#escalate(problem);
  }

  #escalate(problem: Problem) {
    Object.assign(problem, { isEscalating: true, from: this.now, next: 0, dueAt: this.now });
    Object.assign(problem, { runs: [], notified: new Set() });
  }

  #continue(job: Job, problem: Problem) {
    if (!problem.isAcknowledged && problem.snoozedUntil === null) return;
    Object.assign(problem, { isAcknowledged: false, snoozedUntil: null });
    this.#explain(job, "unacknowledged");
    if (problem.isHeld) return;
    if (!problem.isEscalating) this.#escalate(problem);
    problem.next = Math.min(problem.next, 2);
    problem.dueAt = Math.max(this.now, problem.from + this.#stageMinutes(problem.next));
    for (const [step, ranAt] of problem.runs.entries()) {
      const receiver = step === 0 ? this.#onCall() : "Second";
      const delay = step === 0 ? stepDelays[receiver as Person] : 0;
      if (!problem.notified.has(`${step} ${receiver}`))
        problem.waiting.push({ receiver, step, dueAt: Math.max(this.now, ranAt + delay) });
    }
    this.#informOffice(job, problem);
  }
}
