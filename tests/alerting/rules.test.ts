import { describe, expect, test } from "bun:test";
import {
  afterChange,
  afterFlapping,
  afterReminder,
  type Audience,
  certificateStep,
  dueAt,
  incidentAudience,
  keepers,
  type Memory,
  type MonitorFacts,
  type MonitorStatus,
  nothingYet,
  silenceReason,
  type Step,
  type ToldState,
} from "../../src/alerting/rules.ts";

const now = Date.parse("2026-11-20T10:00:00.000Z");
const second = 1_000;
const minute = 60_000;
const day = 86_400_000;

const both: Audience = { muted: false, channels: ["mail", "chat"] };
const muted = { ...both, muted: true };
const nobody: Audience = { muted: false, channels: [] };
const told = (states: Record<string, ToldState> = {}) =>
  new Map(Object.entries(states).map(([channel, state]) => [channel, { state }]));

/** `monitor.down to mail, chat`; empty where nobody is told. */
const said = (step: Step | null) =>
  step === null || step.alert === null ? "" : `${step.alert.type} to ${step.alert.to.join(", ")}`;

type Course = {
  before?: Memory;
  knows?: Record<string, ToldState>;
  audience?: Audience;
  reminderMs?: number | null;
};
const change = (
  from: MonitorStatus,
  to: MonitorStatus,
  { before = nothingYet, knows = {}, audience = both, reminderMs = null }: Course = {},
) => afterChange(before, told(knows), { from, to, at: now }, audience, reminderMs);

/** So many changes, the last one a minute ago. */
const changed = (times: number, apartMs = minute): Memory => ({
  ...nothingYet,
  changes: Array.from({ length: times }, (_, i) => now - minute - (times - 1 - i) * apartMs),
});
const flapping: Memory = { ...changed(11), flappingSince: now - minute };

describe("a change of state", () => {
  const cases: [string, Step, string][] = [
    ["an outage is told to all channels", change("up", "down"), "monitor.down to mail, chat"],
    ["so is a degradation", change("up", "degraded"), "monitor.degraded to mail, chat"],
    [
      "an outage out of a degradation is news to those who know of the degradation",
      change("degraded", "down", { knows: { mail: "degraded" } }),
      "monitor.down to mail, chat",
    ],
    [
      "an outage is told anew to those who believe in one",
      change("up", "down", { knows: { mail: "down" } }),
      "monitor.down to mail, chat",
    ],
    ["a recovery of which nobody was told the cause is not told", change("down", "up"), ""],
    [
      "a recovery is told to those who were told of the outage",
      change("down", "up", { knows: { chat: "down" } }),
      "monitor.up to chat",
    ],
    [
      "a recovery is told to those who were told of a degradation or of flapping",
      change("down", "up", { knows: { mail: "degraded", chat: "flapping" } }),
      "monitor.up to mail, chat",
    ],
    [
      "a recovery is not told to a channel that is no longer attached",
      change("down", "up", { knows: { pager: "down" } }),
      "",
    ],
    ["the first success of a monitor is no news", change("pending", "up"), ""],
    ["a first failure is", change("pending", "down"), "monitor.down to mail, chat"],
    [
      "an outage that a pause or restart interrupted is told to those only who don't know of it",
      change("pending", "down", { knows: { mail: "down" } }),
      "monitor.down to chat",
    ],
    [
      "an outage that a maintenance interrupted is told to nobody who knows of it",
      change("maintenance", "down", { knows: { mail: "down", chat: "down" } }),
      "",
    ],
    [
      "a degradation after a maintenance is news to those who believe in an outage",
      change("maintenance", "degraded", { knows: { mail: "down", chat: "degraded" } }),
      "monitor.degraded to mail",
    ],
    [
      "a recovery under maintenance is told after it to those who believe in an outage",
      change("maintenance", "up", { knows: { mail: "down" } }),
      "monitor.up to mail",
    ],
    ["a maintenance is told to nobody", change("down", "maintenance"), ""],
    ["a pause is told to nobody", change("down", "pending"), ""],
    ["of a muted monitor nobody is told", change("up", "down", { audience: muted }), ""],
    [
      "of a muted monitor not even the end of an outage is told",
      change("down", "up", { audience: muted, knows: { mail: "down" } }),
      "",
    ],
    [
      "a monitor without channels tells nobody",
      change("up", "down", { audience: nobody, knows: { mail: "down" } }),
      "",
    ],
  ];
  test.each(cases)("%s", (_, step, wanted) => expect(said(step)).toBe(wanted));

  test.each([
    ["down", "down"],
    ["degraded", "degraded"],
  ] as const)("who is told that a monitor is %s believes so", (to, believed) => {
    expect(change("up", to).believes).toBe(believed);
    expect(change("up", to, { audience: muted }).believes).toBeNull();
  });

  test.each([
    ["told", both, { mail: "down" }],
    ["not told", both, {}],
    ["muted", muted, { mail: "down" }],
    ["detached", nobody, { mail: "down" }],
  ] as const)("with a recovery the problem is over for everybody: %s", (_, audience, knows) => {
    expect(change("down", "up", { audience, knows }).isOver).toBe(true);
    expect(change("maintenance", "up", { audience, knows }).isOver).toBe(true);
  });

  test.each(["down", "degraded", "pending", "maintenance"] as const)(
    "nothing is over when a monitor gets %s",
    (to) => expect(change("up", to, { knows: { mail: "down" } }).isOver).toBe(false),
  );

  test.each(["pending", "maintenance"] as const)(
    "flapping and reminders are forgotten when a monitor gets %s",
    (to) =>
      expect(change("down", to, { before: { ...flapping, remindAt: now } }).memory).toEqual(
        nothingYet,
      ),
  );
});

describe("flapping", () => {
  const next = (before: Memory, course: Course = {}) => change("up", "down", { before, ...course });

  test("the eleventh change within half an hour is told as flapping, instead of itself", () => {
    const step = next(changed(10));
    expect(said(step)).toBe("monitor.flapping to mail, chat");
    expect([step.believes, step.memory.flappingSince, step.isOver]).toEqual([
      "flapping",
      now,
      false,
    ]);
  });

  test("a recovery that makes it flapping is not told, nor is the problem over", () => {
    const step = change("down", "up", { before: changed(10), knows: { mail: "down" } });
    expect([said(step), step.isOver]).toEqual(["monitor.flapping to mail, chat", false]);
  });

  const counts: [string, Memory, string][] = [
    ["ten changes are not flapping", changed(9), "monitor.down to mail, chat"],
    [
      "a change of just half an hour ago counts",
      { ...changed(10), changes: [now - 30 * minute, ...changed(9).changes] },
      "monitor.flapping to mail, chat",
    ],
    [
      "one of longer ago doesn't",
      { ...changed(10), changes: [now - 30 * minute - 1, ...changed(9).changes] },
      "monitor.down to mail, chat",
    ],
    ["further changes are held", flapping, ""],
    [
      "changes of hours ahead, before the clock was set back, don't count",
      { ...nothingYet, changes: changed(10).changes.map((at) => at + 300 * minute) },
      "monitor.down to mail, chat",
    ],
  ];
  test.each(counts)("%s", (_, before, wanted) => expect(said(next(before))).toBe(wanted));

  test("what comes after a pause or a maintenance is no change that counts", () => {
    for (const from of ["pending", "maintenance"] as const) {
      const step = change(from, "down", { before: changed(10) });
      expect([said(step), step.memory.changes.length]).toEqual(["monitor.down to mail, chat", 10]);
    }
  });

  test("a muted monitor flaps, but nobody is told", () => {
    const step = next(changed(10), { audience: muted });
    expect([said(step), step.memory.flappingSince]).toEqual(["", now]);
  });

  const last = flapping.changes.at(-1) as number;
  const later = (status: MonitorStatus, at: number, course: Course = {}) =>
    afterFlapping(
      course.before ?? flapping,
      told(course.knows),
      status,
      course.audience ?? both,
      at,
    );
  const steadyAt = last + 10 * minute;

  test("it is not over before the state has been kept for ten minutes", () => {
    expect(later("down", steadyAt - 1)).toBeNull();
    expect(later("down", steadyAt)).not.toBeNull();
    expect(later("down", steadyAt, { before: changed(3) })).toBeNull();
  });

  const ends: [string, Step | null, string][] = [
    [
      "then an outage is told to all, whatever they believe",
      later("down", steadyAt, { knows: { mail: "flapping", chat: "down" } }),
      "monitor.down to mail, chat",
    ],
    ["or a degradation", later("degraded", steadyAt), "monitor.degraded to mail, chat"],
    [
      "or that it is up, to those who were told of flapping",
      later("up", steadyAt, { knows: { chat: "flapping" } }),
      "monitor.up to chat",
    ],
    ["not to others", later("up", steadyAt), ""],
    ["nothing while it is paused", later("pending", steadyAt), ""],
    ["nothing under maintenance", later("maintenance", steadyAt), ""],
    ["nothing while it is muted", later("down", steadyAt, { audience: muted }), ""],
    ["a clock that was set back ends it", later("down", last - 1), "monitor.down to mail, chat"],
  ];
  test.each(ends)("%s", (_, step, wanted) => expect(said(step)).toBe(wanted));

  test("then counting starts afresh", () => {
    expect(later("down", steadyAt)?.memory).toEqual(nothingYet);
    expect(later("up", steadyAt)?.isOver).toBe(true);
    expect(later("up", steadyAt, { audience: muted })?.isOver).toBe(true);
  });

  test("its end is looked for when it is due", () => {
    expect(dueAt(flapping)).toBe(steadyAt);
    expect(dueAt({ ...flapping, remindAt: now })).toBe(now);
    expect(dueAt({ ...changed(3), remindAt: now })).toBe(now);
    expect(dueAt(changed(3))).toBeNull();
  });
});

describe("reminders", () => {
  const hour = 60 * minute;
  const due = { ...nothingYet, remindAt: now };
  const remind = (status: MonitorStatus, interval: number | null, course: Course = {}) =>
    afterReminder(course.before ?? due, status, course.audience ?? both, interval, now);

  test("the first is due an interval after the outage began", () => {
    expect(change("up", "down", { reminderMs: hour }).memory.remindAt).toBe(now + hour);
    expect(change("up", "down").memory.remindAt).toBeNull();
    expect(change("up", "degraded", { reminderMs: hour }).memory.remindAt).toBeNull();
    expect(change("down", "up", { before: due, reminderMs: hour }).memory.remindAt).toBeNull();
  });

  test("it is for all channels, and the next is due an interval later", () => {
    const step = remind("down", hour);
    expect(said(step)).toBe("monitor.reminder to mail, chat");
    expect([step.believes, step.memory.remindAt, step.isOver]).toEqual(["down", now + hour, false]);
  });

  test.each(["up", "degraded", "pending", "maintenance"] as const)("none while %s", (status) => {
    const step = remind(status, hour);
    expect([said(step), step.memory.remindAt]).toEqual(["", null]);
  });

  test("none once the interval is removed", () => {
    const step = remind("down", null);
    expect([said(step), step.memory.remindAt]).toEqual(["", null]);
  });

  test.each([
    ["muted", { audience: muted }],
    ["flapping", { before: { ...flapping, remindAt: now } }],
  ] as const)("none while %s, but later again", (_, course) => {
    const step = remind("down", hour, course);
    expect([said(step), step.memory.remindAt]).toEqual(["", now + hour]);
  });
});
