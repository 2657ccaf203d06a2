/**
 * A model of on-call, written from the documentation, slow and simple: a channel with quiet hours, and a policy that notifies
 * the person on call, then a second channel, and at the end the default channel. All times are in minutes since 1970.
 */

/** Times of each day in Berlin, in hours; null for no quiet hours. */
export type Hours = readonly [from: number, until: number] | null;
export const people = ["Ada", "Ben"] as const;
export type Person = (typeof people)[number];
export type Job = "shop" | "mail";
export type Priority = "normal" | "critical";
export type Action =
  | readonly ["down" | "up" | "acknowledge" | "unacknowledge" | "snooze", Job]
  | readonly ["priority", Job, Priority]
  | readonly ["attach", Job, boolean]
  | readonly ["hours", "Office" | Person, Hours]
  | readonly ["drill" | "acknowledge drill", Person]
  | readonly ["restore" | "restart" | "kill"];

type Receiver = "Office" | "Second" | "Default" | Person;
type Notification = { receiver: Receiver; step: number; dueAt: number };
type Problem = {
  from: number;
  isAcknowledged: boolean;
  snoozedUntil: number | null;
  /** The next step, the end as the last one, and its time. */
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
type Drill = {
  person: Person;
  from: number;
  dueAt: number | null;
  isHeld: boolean;
  isSent: boolean;
};

/** Minutes after a step at which the phone of a person is used. */
export const delays: Record<Person, number> = { Ada: 0, Ben: 4 };
export const secondStep = 15;
const stageMinutes = [0, secondStep, 30];
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
  /** Results of drills as `minute person result`. */
  readonly drilled: string[] = [];
  /** Minutes at which something happens. */
  readonly moments = new Set<number>();
  now: number;
  readonly #start: number;
  readonly #hours: Record<"Office" | Person, Hours> = { Office: [22, 7], Ada: null, Ben: [23, 6] };
  readonly #priorities: Record<Job, Priority> = { shop: "normal", mail: "normal" };
  readonly #attached: Record<Job, boolean> = { shop: true, mail: true };
  readonly #problems = new Map<Job, Problem>();
  readonly #drills = new Map<Person, Drill>();
  readonly #notices = new Map<number, "held" | "over">();
  readonly #noticeTimes = new Map<number, number>();

  /** `start` is noon in Berlin, when Ada's first shift starts. */
  constructor(start: number) {
    this.now = start;
    this.#start = start;
  }

  #send(receiver: Receiver, type: string, subject = "") {
    this.moments.add(this.now);
    this.sent.push(`${this.now} ${receiver} ${type} ${subject}`.trim());
  }

  #isQuiet(receiver: Receiver, at = this.now): boolean {
    const hours = receiver in this.#hours ? this.#hours[receiver as Person] : null;
    if (hours === null) return false;
    const clock = (toLocal(at) % day) / 60;
    const [from, until] = hours;
    return from < until ? from <= clock && clock < until : clock >= from || clock < until;
  }

  #shiftOf = (at: number) => Math.floor((toLocal(at) - toLocal(this.#start)) / day);
  #onCall = (at = this.now) => people[this.#shiftOf(at) % 2] as Person;

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
      problem.held.set(`${receiver} ${step !== null}`, { receiver, type, step });
      return;
    }
    problem.reported.add(receiver);
    this.#send(receiver, type, job);
  }

  /** Drops held messages. The steps of the policy have then notified nobody through them. */
  #drop(problem: Problem, isDropped: (receiver: Receiver) => boolean) {
    for (const [key, { receiver, step }] of [...problem.held].filter(([, one]) =>
      isDropped(one.receiver),
    )) {
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
    problem.from += Math.max(0, problem.dueAt - problem.from - (stageMinutes[next] ?? 0));
    problem.next += 1;
    if (next === 2) {
      this.#notify(job, problem, "Default", "monitor.down");
      problem.dueAt = Infinity;
      return;
    }
    problem.runs.push(this.now);
    problem.dueAt = problem.from + (stageMinutes[next + 1] ?? 0);
    const receiver = next === 0 ? this.#onCall() : "Second";
    const delay = next === 0 ? delays[receiver as Person] : 0;
    const isReached =
      this.#priorities[job] === "critical" || !this.#isQuiet(receiver, this.now + delay);
    if (delay === 0) this.#notify(job, problem, receiver, "monitor.down", next);
    else problem.waiting.push({ receiver, step: next, dueAt: this.now + delay });
    if (!isReached) problem.dueAt = this.now;
  }

  #lookAtProblem(job: Job, problem: Problem) {
    if (problem.snoozedUntil !== null && problem.snoozedUntil <= this.now) {
      Object.assign(problem, { snoozedUntil: null, isAcknowledged: false, from: this.now });
      Object.assign(problem, { next: 0, dueAt: this.now, runs: [], notified: new Set() });
      if (this.#attached[job]) this.#notify(job, problem, "Office", "monitor.reminder");
      this.moments.add(this.now);
    }
    this.#release(job, problem);
    if (problem.isAcknowledged || problem.snoozedUntil !== null) return;
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
    if (this.now >= from + delays[person] + 5)
      this.#endDrill(drill, drill.isSent ? "unacknowledged" : "unreached");
  }

  /** When the notice of a shift is sent: before quiet hours that would hold it until the shift has started. */
  #noticeTime(shift: number): number {
    const known = this.#noticeTimes.get(shift);
    if (known !== undefined) return known;
    const time = this.#findNoticeTime(people[shift % 2] as Person, this.#startOf(shift));
    this.#noticeTimes.set(shift, time);
    return time;
  }

  #findNoticeTime(person: Person, startsAt: number): number {
    const usual = startsAt - noticeMinutes;
    for (let at = usual; at < startsAt; at++) if (!this.#isQuiet(person, at)) return usual;
    // At the start of the shift, nobody needs the notice any more.
    let first = usual;
    while (this.#isQuiet(person, first - 1)) first -= 1;
    return first - 1;
  }

  #lookAtNotices() {
    const shift = this.#shiftOf(this.now);
    for (const next of [shift + 1, shift + 2, shift + 3]) {
      const person = people[next % 2] as Person;
      const state = this.#notices.get(next);
      const isDue = state === undefined && this.#noticeTime(next) <= this.now;
      if (state === "over" || (state === undefined && !isDue)) continue;
      if (isDue) this.moments.add(this.now);
      const isHeld = this.#isQuiet(person);
      if (!isHeld) this.#send(person, "shift.starting");
      this.#notices.set(next, isHeld ? "held" : "over");
    }
    this.#notices.delete(shift);
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
        return this.#noticeTimes.clear();
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
        this.#priorities[action[1]] = action[2];
        return;
      case "attach":
        this.#attached[action[1]] = action[2];
        if (!action[2]) {
          const problem = this.#problems.get(action[1]);
          if (problem !== undefined) this.#drop(problem, (receiver) => receiver === "Office");
        }
        return;
      default:
        return this.#performOn(action[0], action[1]);
    }
  }

  #startDrill(person: Person) {
    const dueAt = this.now + delays[person];
    if (this.#drills.has(person) || this.#isQuiet(person, dueAt)) return;
    this.#drills.set(person, { person, from: this.now, dueAt, isHeld: false, isSent: false });
  }

  #restoreOffice(job: Job, problem: Problem) {
    problem.held.delete("Office false");
    if (problem.snoozedUntil === null) this.#informOffice(job, problem);
  }

  /** Notifies the channel if it does not know of the problem. */
  #informOffice(job: Job, problem: Problem) {
    const isAware = problem.reported.has("Office") || problem.held.has("Office false");
    if (this.#attached[job] && !isAware) this.#notify(job, problem, "Office", "monitor.down");
  }

  #performOn(what: "down" | "up" | "acknowledge" | "unacknowledge" | "snooze", job: Job) {
    const problem = this.#problems.get(job);
    if (what === "down") {
      if (problem === undefined) this.#startProblem(job);
    } else if (problem === undefined) return;
    else if (what === "up") {
      this.#problems.delete(job);
      for (const receiver of problem.reported) this.#send(receiver, "monitor.up", job);
    } else if (what === "unacknowledge") this.#continue(job, problem);
    else {
      problem.waiting = [];
      problem.isAcknowledged ||= what === "acknowledge";
      problem.snoozedUntil = what === "snooze" ? this.now + snoozeMinutes : null;
      this.#drop(problem, (receiver) => what === "snooze" || receiver !== "Office");
    }
  }

  #startProblem(job: Job) {
    const problem: Problem = {
      from: this.now,
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
    if (this.#attached[job]) this.#notify(job, problem, "Office", "monitor.down");
  }

  #continue(job: Job, problem: Problem) {
    if (!problem.isAcknowledged && problem.snoozedUntil === null) return;
    Object.assign(problem, { isAcknowledged: false, snoozedUntil: null });
    problem.next = Math.min(problem.next, 2);
    problem.dueAt = Math.max(this.now, problem.from + (stageMinutes[problem.next] ?? 0));
    for (const [step, ranAt] of problem.runs.entries()) {
      const receiver = step === 0 ? this.#onCall() : "Second";
      const delay = step === 0 ? delays[receiver as Person] : 0;
      if (!problem.notified.has(`${step} ${receiver}`))
        problem.waiting.push({ receiver, step, dueAt: Math.max(this.now, ranAt + delay) });
    }
    this.#informOffice(job, problem);
  }
}
