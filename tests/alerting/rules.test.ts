/** Pure rules that decide which channels are notified of a change. */
import { describe, expect, test } from "bun:test";
import {
  stepAfterChange,
  stepAfterFlapping,
  stepAfterReminder,
  type Audience,
  findCertificateStep,
  findNextDue,
  selectIncidentAudience,
  selectChannelsForProblems,
  type Memory,
  type MonitorFacts,
  emptyHistory,
  explainSilence,
  type Step,
  type NotifiedState,
} from "../../src/alerting/deciding/rules.ts";
import type { StoredStatus } from "../../src/core/statuses.ts";

const now = Date.parse("2026-11-20T10:00:00.000Z");
const minute = 60_000;
const day = 86_400_000;

const all: Audience = { muted: false, channels: ["mail", "chat"] };
const muted = { ...all, muted: true };
const noChannels = { ...all, channels: [] };
type Knows = Record<string, NotifiedState>;
const everybody: Knows = { mail: "down", chat: "down" };
const summarize = (states: Knows = {}) =>
  new Map(Object.entries(states).map(([channel, state]) => [channel, { state }]));

/** Formats a step like `down to mail`; empty if no channel is notified. */
const readText = (step: Step | null) =>
  !step?.alert
    ? ""
    : `${step.alert.type.slice(8)} to ${step.alert.to.length > 1 ? "all" : step.alert.to[0]}`;

type Course = { before?: Memory; to?: Audience; reminderMs?: number };
/** The step after a change like `up > down`, for channels in these states. */
function stepAfter(states: string, knows?: Knows, course: Course = {}): Step {
  const [from, to] = states.split(" > ") as [StoredStatus, StoredStatus];
  const { before = emptyHistory, to: audience = all, reminderMs = null } = course;
  return stepAfterChange(before, summarize(knows), { from, to, at: now }, audience, reminderMs);
}

/** A number of changes, the last one a minute ago. */
const applyChange = (times: number, apartMs = minute): Memory => ({
  ...emptyHistory,
  changes: Array.from({ length: times }, (_, i) => now - minute - (times - 1 - i) * apartMs),
});
const flapping: Memory = { ...applyChange(11), flappingSince: now - minute };

describe("a change of state", () => {
  const cases: [string, Step, string][] = [
    ["an outage is reported to all channels", stepAfter("up > down"), "down to all"],
    ["so is a degradation", stepAfter("up > degraded"), "degraded to all"],
    ["and an outage after it", stepAfter("degraded > down", { mail: "degraded" }), "down to all"],
    [
      "and an outage that was already reported",
      stepAfter("up > down", { mail: "down" }),
      "down to all",
    ],
    ["a recovery from an unreported problem is not reported", stepAfter("down > up"), ""],
    [
      "another is reported to channels with the problem",
      stepAfter("down > up", { chat: "down" }),
      "up to chat",
    ],
    ["of degradation, too", stepAfter("degraded > up", { mail: "degraded" }), "up to mail"],
    ["of flapping, too", stepAfter("down > up", { mail: "flapping", chat: "down" }), "up to all"],
    ["but not to a detached channel", stepAfter("down > up", { pager: "down" }), ""],
    ["a first success is not reported", stepAfter("pending > up"), ""],
    ["a first failure is reported", stepAfter("pending > down"), "down to all"],
    ["an outage is not reported again after a pause", stepAfter("pending > down", everybody), ""],
    [
      "except to a channel that was not notified",
      stepAfter("pending > down", { mail: "down" }),
      "down to chat",
    ],
    [
      "the same is true of maintenance",
      stepAfter("maintenance > down", { chat: "down" }),
      "down to mail",
    ],
    ["a new state is reported", stepAfter("maintenance > degraded", everybody), "degraded to all"],
    [
      "a recovery during it is reported afterwards",
      stepAfter("maintenance > up", { mail: "down" }),
      "up to mail",
    ],
    ["maintenance is not reported", stepAfter("down > maintenance", { mail: "down" }), ""],
    ["nor is a pause", stepAfter("down > pending", { mail: "down" }), ""],
    ["a muted monitor is not reported", stepAfter("up > down", {}, { to: muted }), ""],
    ["nor is its recovery", stepAfter("down > up", { mail: "down" }, { to: muted }), ""],
  ];
  test.each(cases)("%s", (_, step, wanted) => expect(readText(step)).toBe(wanted));

  test.each(["down", "degraded"] as const)(
    "a channel that is notified of %s has that state",
    (to) => {
      expect(stepAfter(`up > ${to}`).notifiedState).toBe(to);
      expect(stepAfter(`up > ${to}`, {}, { to: muted }).notifiedState).toBeNull();
    },
  );

  test("a recovery ends the problem for all channels: notified or not, muted, detached", () => {
    for (const knows of [{}, { mail: "down" }] as Knows[])
      for (const to of [all, muted, noChannels])
        for (const states of ["down > up", "pending > up", "maintenance > up"])
          expect(stepAfter(states, knows, { to }).isOver).toBe(true);
  });

  test("nothing else ends the problem", () => {
    for (const to of ["down", "degraded", "pending", "maintenance"])
      expect(stepAfter(`up > ${to}`, { mail: "down" }).isOver).toBe(false);
  });

  test("a pause or maintenance resets flapping and reminders", () => {
    const before = { ...flapping, remindAt: now };
    expect(stepAfter("down > pending", {}, { before }).memory).toEqual(emptyHistory);
    expect(stepAfter("down > maintenance", {}, { before }).memory).toEqual(emptyHistory);
  });
});

describe("flapping", () => {
  const stepFromUp = (before: Memory, to = all) => stepAfter("up > down", {}, { before, to });

  test("the eleventh change within half an hour is sent as flapping", () => {
    const step = stepFromUp(applyChange(10));
    expect(readText(step)).toBe("flapping to all");
    expect([step.notifiedState, step.memory.flappingSince]).toEqual(["flapping", now]);
  });

  test("even if it is a recovery, which then does not end the problem", () => {
    const step = stepAfter("down > up", { mail: "down" }, { before: applyChange(10) });
    expect([readText(step), step.isOver]).toEqual(["flapping to all", false]);
  });

  const buildHistory = (ms: number) => ({
    ...emptyHistory,
    changes: [now - ms, ...applyChange(9).changes],
  });
  const ahead = applyChange(10).changes.map((at) => at + 300 * minute);
  const counts: [string, Memory, string][] = [
    ["ten changes are not flapping", applyChange(9), "down to all"],
    ["a change of just half an hour ago counts", buildHistory(30 * minute), "flapping to all"],
    ["an earlier one does not", buildHistory(30 * minute + 1), "down to all"],
    ["further changes are not reported", flapping, ""],
    ["a clock that was set back stops nothing", { ...emptyHistory, changes: ahead }, "down to all"],
  ];
  test.each(counts)("%s", (_, before, wanted) => expect(readText(stepFromUp(before))).toBe(wanted));

  test("a pause or a maintenance resets all earlier changes", () => {
    for (const states of ["pending > down", "maintenance > down"]) {
      const step = stepAfter(states, {}, { before: applyChange(10) });
      expect([readText(step), step.memory.changes.length]).toEqual(["down to all", 0]);
    }
  });

  test("a muted monitor flaps, but no channel is notified", () => {
    const step = stepFromUp(applyChange(10), muted);
    expect([readText(step), step.memory.flappingSince]).toEqual(["", now]);
  });

  const last = flapping.changes.at(-1) as number;
  const steadyAt = last + 10 * minute;
  const stepFlapping = (
    status: StoredStatus,
    knows?: Knows,
    to = all,
    at = steadyAt,
    before = flapping,
  ) => stepAfterFlapping(before, summarize(knows), status, to, at);

  test("it ends only after the state has lasted ten minutes", () => {
    expect(stepFlapping("down", {}, all, steadyAt - 1)).toBeNull();
    expect(stepFlapping("down", {}, all, steadyAt)).not.toBeNull();
    expect(stepFlapping("down", {}, all, steadyAt, applyChange(3))).toBeNull();
  });

  const ends: [string, Step | null, string][] = [
    ["then an outage is reported to all", stepFlapping("down", everybody), "down to all"],
    ["or a degradation", stepFlapping("degraded"), "degraded to all"],
    [
      "or a recovery to channels that were notified of flapping",
      stepFlapping("up", { chat: "flapping" }),
      "up to chat",
    ],
    ["and to no others", stepFlapping("up"), ""],
    ["nothing while it is paused", stepFlapping("pending"), ""],
    ["nothing during maintenance", stepFlapping("maintenance"), ""],
    ["nothing while it is muted", stepFlapping("down", {}, muted), ""],
    ["a clock that was set back ends it", stepFlapping("down", {}, all, last - 1), "down to all"],
  ];
  test.each(ends)("%s", (_, step, wanted) => expect(readText(step)).toBe(wanted));

  test("then the count restarts", () => {
    expect(stepFlapping("down")?.memory).toEqual(emptyHistory);
    expect(stepFlapping("up")?.isOver).toBe(true);
    expect(stepFlapping("up", {}, muted)?.isOver).toBe(true);
  });

  test("its end is determined when it is due", () => {
    expect(findNextDue(flapping)).toBe(steadyAt);
    expect(findNextDue({ ...flapping, remindAt: now })).toBe(now);
    expect(findNextDue({ ...applyChange(3), remindAt: now })).toBe(now);
    expect(findNextDue(applyChange(3))).toBeNull();
  });
});

describe("reminders", () => {
  const hour = 60 * minute;
  const due: Memory = { ...emptyHistory, remindAt: now };
  const remind = (status: StoredStatus, interval: number | null, before = due, to = all) =>
    stepAfterReminder(before, status, to, interval, now);

  test("the first is due an interval after the outage began", () => {
    const findReminder = (states: string) =>
      stepAfter(states, {}, { before: due, reminderMs: hour }).memory.remindAt;
    expect(findReminder("up > down")).toBe(now + hour);
    expect(["up > degraded", "down > up"].map(findReminder)).toEqual([null, null]);
    expect(stepAfter("up > down").memory.remindAt).toBeNull();
  });

  const shaky = { ...flapping, remindAt: now };
  test.each<[string, Step, string, number | null]>([
    ["go to all, and again an interval later", remind("down", hour), "reminder to all", now + hour],
    ["go to none while it is muted", remind("down", hour, due, muted), "", now + hour],
    ["go to none while it flaps", remind("down", hour, shaky), "", now + hour],
    ["go to none once the interval is removed", remind("down", null), "", null],
    ["go to none once it is up", remind("up", hour), "", null],
    ["go to none once it is degraded", remind("degraded", hour), "", null],
    ["go to none once it is paused", remind("pending", hour), "", null],
    ["go to none during maintenance", remind("maintenance", hour), "", null],
  ])("%s", (_, step, wanted, next) => {
    expect([readText(step), step.memory.remindAt]).toEqual([wanted, next]);
    expect(step.notifiedState).toBe(wanted === "" ? null : "down");
  });
});

describe("a certificate", () => {
  const ends = new Date(now + 100 * day).toISOString();
  /** The step of a certificate with this number of days left. */
  const findStep = (
    days: number,
    notifiedStep: number | null = null,
    within: number | null = 14,
    of = ends,
  ) =>
    findCertificateStep(
      ends,
      notifiedStep === null ? null : { expiresAt: of, days: notifiedStep },
      within,
      Date.parse(ends) - days * day,
    );
  const none = null;

  test.each([
    ["nothing fourteen days before the expiry", findStep(14), none],
    ["a threshold just after that", findStep(13.99), { step: 14, daysLeft: 13 }],
    ["each threshold once", findStep(8, 14), none],
    ["then the next", findStep(6.5, 14), { step: 7, daysLeft: 6 }],
    ["then the third", findStep(2.5, 7), { step: 3, daysLeft: 2 }],
    ["then the last", findStep(0.5, 3), { step: 1, daysLeft: 0 }],
    ["only the smallest of several", findStep(2.5), { step: 3, daysLeft: 2 }],
    ["even after the expiry", findStep(-2.5), { step: 1, daysLeft: -3 }],
    ["nothing more after the last", findStep(-2.5, 1), none],
    [
      "all thresholds again for another certificate",
      findStep(6, 1, 14, "2020-01-01"),
      { step: 7, daysLeft: 6 },
    ],
    ["no threshold above the monitor's own", findStep(9, null, 10), none],
    ["but the lower ones", findStep(6, null, 10), { step: 7, daysLeft: 6 }],
    ["nothing if it is off", findStep(0.5, null, null), none],
    ["nothing again when the clock is set back", findStep(6.5, 3), none],
    [
      "a threshold again after one by a clock weeks ahead",
      findStep(13.5, 1),
      { step: 14, daysLeft: 13 },
    ],
  ])("reports %s", (_, found, wanted) => expect(found).toEqual(wanted));
});

describe("an incident", () => {
  const buildChannel = (id: string, fields = {}) => ({
    id,
    enabled: true,
    incidents: true,
    ...fields,
  });
  const channels = [
    buildChannel("mail"),
    buildChannel("chat"),
    buildChannel("off", { enabled: false }),
    buildChannel("monitors", { incidents: false }),
  ];
  type MonitorOptions = { byMonitor?: boolean; monitorMuted?: boolean };
  const hear = (
    step: "opened" | "updated" | "resolved",
    of: MonitorOptions = {},
    knows: Knows = {},
  ) =>
    selectIncidentAudience(channels, step, summarize(knows), {
      byMonitor: false,
      monitorMuted: false,
      monitorChannels: ["chat"],
      ...of,
    }).join();
  const receiver = { byMonitor: true };
  const knows: Knows = { mail: "open", chat: "open", off: "open" };

  test.each([
    ["is reported to enabled channels with incidents enabled", hear("opened"), "mail,chat"],
    ["has its updates reported also to channels without the opening", hear("updated"), "mail,chat"],
    ["has its end reported to no channel without the opening", hear("resolved"), ""],
    [
      "has its end reported to the other channels",
      hear("resolved", {}, { chat: "open", off: "open" }),
      "chat",
    ],
    ["of a monitor is not reported to that monitor's channels", hear("opened", receiver), "mail"],
    ["of a monitor has no updates reported there", hear("updated", receiver), "mail"],
    ["of a monitor has no end reported there", hear("resolved", receiver, knows), "mail"],
    ["of a muted monitor is not reported", hear("opened", { ...receiver, monitorMuted: true }), ""],
    [
      "of a person is reported even if its monitor is muted",
      hear("opened", { monitorMuted: true }),
      "mail,chat",
    ],
  ])("%s", (_, to, wanted) => expect(to).toBe(wanted));
});

test("problems of the appliance are sent to the default channels, or to all if there is none", () => {
  const createChannel = (id: string, isDefault: boolean, enabled = true) => ({
    id,
    isDefault,
    enabled,
  });
  const hear = (...[channels, except]: Parameters<typeof selectChannelsForProblems>) =>
    selectChannelsForProblems(channels, except).map(({ id }) => id);
  const some = [
    createChannel("mail", true),
    createChannel("chat", false),
    createChannel("off", true, false),
  ];
  expect(hear(some)).toEqual(["mail"]);
  expect(hear(some, "chat")).toEqual(["mail"]);
  expect(hear(some, "mail")).toEqual(["chat"]);
  expect(hear([createChannel("a", false), createChannel("b", false)])).toEqual(["a", "b"]);
  expect(hear([createChannel("a", false)], "a")).toEqual([]);
});

const usual: MonitorFacts = {
  muted: false,
  groupMuted: false,
  paused: false,
  groupPaused: false,
  status: "up",
  isFlapping: false,
};

test.each<[Partial<MonitorFacts>, object, RegExp]>([
  [{}, { isAttached: false }, /attached/],
  [{}, { enabled: false }, /disabled/],
  [{ paused: true }, {}, /monitor is paused/],
  [{ groupPaused: true }, {}, /group is paused/],
  [{ muted: true }, {}, /monitor is muted/],
  [{ groupMuted: true }, {}, /group is muted/],
  [{ status: "maintenance" }, {}, /maintenance/],
  [{ isFlapping: true }, {}, /flapping/],
  [{}, { isWanted: false }, /not notified of outages/],
  [{}, { quietUntil: "07:00 (Europe/Berlin)" }, /quiet hours until 07:00/],
])("a channel that would not be notified has a reason: %j %j", (facts, channel, reason) => {
  const attachment = { enabled: true, isAttached: true, isWanted: true, quietUntil: null };
  expect(explainSilence({ ...usual, ...facts }, { ...attachment, ...channel })).toMatch(reason);
  expect(explainSilence(usual, attachment)).toBeNull();
});
