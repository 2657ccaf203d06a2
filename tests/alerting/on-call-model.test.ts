/** Compares four weeks of random on-call duty, with a clock change, to a model written from the documentation. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createPersonWithPhone } from "../support/on-call.ts";
import {
  type Action,
  type Dependent,
  stepDelays,
  type Hours,
  type Job,
  noticeMinutes,
  OnCallModel,
  people,
  firstSecondStep,
  snoozeMinutes,
} from "../support/on-call-model.ts";
import { createPager } from "../support/pager.ts";
import { limitTries } from "../support/property-runs.ts";
import type { Json } from "../support/json.ts";

/** An action, and the minutes until the next one. */
type Course = readonly (readonly [Action, number])[];

const minuteMs = 60_000;
const toMinute = (time: string) => Date.parse(time) / minuteMs;
/** Noon in Berlin, two weeks before each clock change. */
const starts = [toMinute("2027-03-14T11:00Z"), toMinute("2027-10-17T10:00Z")];
const length = 28 * 1440;

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const formatHour = (hour: number) => `${String(hour).padStart(2, "0")}:00`;
const toQuietHours = (hours: Hours) =>
  hours && {
    timeZone: "Europe/Berlin",
    hours: [{ days, from: formatHour(hours[0]), until: formatHour(hours[1]) }],
  };

const ending: Course = [
  [["up", "router"], 5],
  [["up", "shop"], 5],
  [["up", "mail"], 5],
];

/** Lists the minutes of all actions, which end with the recovery of all monitors. */
function buildSchedule(start: number, course: Course): Map<number, Action> {
  let at = start;
  const planned = new Map<number, Action>();
  for (const [action, wait] of [...course, ...ending]) {
    planned.set(at, action);
    at += wait;
  }
  return planned;
}

function predict(start: number, planned: ReadonlyMap<number, Action>): OnCallModel {
  const model = new OnCallModel(start);
  for (; model.now < start + length; model.now++) {
    const action = planned.get(model.now);
    if (action !== undefined) model.perform(action);
    model.look();
  }
  return model;
}

/** Creates an appliance with the people, channels and monitors of the model. */
async function createTeam(start: number) {
  const pager = await createPager();
  const { api, time } = pager;
  time.now = (start - 1_440) * minuteMs;
  const office = await pager.inbox({ name: "Office", quietHours: toQuietHours([22, 7]) });
  const second = await pager.inbox({ name: "Second" });
  const last = await pager.inbox({ name: "Default", default: true });
  const phones = await Promise.all(
    people.map((name) =>
      createPersonWithPhone(pager, name, {
        name,
        afterMinutes: stepDelays[name],
        criticalAfterMinutes: stepDelays[name],
        quietHours: toQuietHours(name === "Ben" ? [23, 6] : null),
      }),
    ),
  );
  const layer = {
    name: "All",
    personIds: phones.map(({ id }) => id),
    unit: "days",
    start: `${new Date(start * minuteMs).toISOString().slice(0, 10)}T12:00`,
  };
  time.now = (start - 1) * minuteMs;
  const created = await api("POST", "/api/v1/schedules", {
    body: {
      name: "Platform",
      timeZone: "Europe/Berlin",
      layers: [layer],
      noticeHours: noticeMinutes / 60,
    },
  });
  const scheduleId = created.json.data.id as string;
  const createSteps = (minutes: number) => [
    { afterMinutes: 0, targets: [{ type: "schedule", id: scheduleId }] },
    { afterMinutes: minutes, targets: [{ type: "channel", id: second.id }] },
  ];
  const body = { name: "P", steps: createSteps(firstSecondStep) };
  const policyId = (await api("POST", "/api/v1/escalation-policies", { body })).json.data.id;
  const createJob = async (name: string, dependsOn: string[] = []) => {
    const fields = { name, escalationPolicyId: policyId, dependsOn };
    const job = await pager.createWatchedJob([office], fields);
    await api("PATCH", `/api/v1/monitors/${job.id}`, { body: { alertChannelIds: [office.id] } });
    return job;
  };
  const router = await createJob("Router");
  const [shop, mail] = [await createJob("shop", [router.id]), await createJob("mail", [router.id])];
  const jobs = { shop, mail, router };
  const failing = new Set<Job>();
  // The first shift is announced.
  for (let i = 0; i < 2; i++) await pager.later(10);
  return {
    ...pager,
    office,
    second,
    last,
    phones,
    jobs,
    failing,
    policyId,
    createSteps,
    schedulePath: `/schedules/${scheduleId}`,
    overrides: [] as { id: string; endsAt: number }[],
  };
}

type Team = Awaited<ReturnType<typeof createTeam>>;

/** Changes the state of a monitor. After a failure, its router is checked, and after the router's recovery all behind it. */
async function changeState({ jobs, failing }: Team, name: Job, state: "up" | "down") {
  if (state === "down") failing.add(name);
  else failing.delete(name);
  await jobs[name].changeState(state);
  const others = name === "router" ? (["shop", "mail"] as const) : (["router"] as const);
  for (const other of others) await jobs[other].changeState(failing.has(other) ? "down" : "up");
}

async function changeOverrides(team: Team, action: Action) {
  const { time, phones, overrides, schedulePath, api } = team;
  if (action[0] === "override") {
    const [, name, startsIn, length] = action;
    const from = time.now + startsIn * minuteMs;
    const endsAt = from + length * minuteMs;
    const body = {
      personId: phones[people.indexOf(name)]?.id,
      startsAt: new Date(from).toISOString(),
      endsAt: new Date(endsAt).toISOString(),
    };
    const { json, status, text } = await api("POST", `/api/v1${schedulePath}/overrides`, { body });
    if (status !== 201) throw new Error(text);
    overrides.push({ id: json.data.id, endsAt });
  } else {
    const last = overrides.findLast(({ endsAt }) => endsAt > time.now);
    if (last === undefined) return;
    overrides.splice(overrides.indexOf(last), 1);
    const { status } = await api("DELETE", `/api/v1${schedulePath}/overrides/${last.id}`);
    if (status >= 300) throw new Error(`DELETE of an override: ${status}`);
  }
}

async function perform(team: Team, action: Action) {
  const { api, jobs, office, phones, readAlerts } = team;
  const request = async (method: string, path: string, body?: object) => {
    const { status, text } = await api(method, `/api/v1${path}`, body && { body });
    if (status >= 300 && status !== 409) throw new Error(`${method} ${path}: ${text}`);
  };
  const phoneOf = (name: string) => phones[name === "Ada" ? 0 : 1] as Team["phones"][number];
  const act = async (type: string, subjectId: string, body?: object) => {
    const open = await readAlerts("&status=open,acknowledged,snoozed");
    const found = open.find((one) => one["subject"].id === subjectId);
    if (found !== undefined) await request("POST", `/alerts/${found["id"]}/${type}`, body);
  };
  const [what, which = "", value = null] = action as readonly [string, string?, Json?];
  const job = jobs[which as Job];
  if (what === "down" || what === "up") await changeState(team, which as Job, what);
  else if (what === "acknowledge" || what === "unacknowledge") await act(what, job.id);
  else if (what === "snooze") {
    const until = new Date(team.time.now + snoozeMinutes * minuteMs).toISOString();
    await act(what, job.id, { until });
  } else if (what === "priority")
    await request("PATCH", `/monitors/${job.id}`, { priority: value });
  else if (what === "depend")
    await request("PATCH", `/monitors/${job.id}`, { dependsOn: value ? [jobs.router.id] : [] });
  else if (what === "second step")
    await request("PATCH", `/escalation-policies/${team.policyId}`, {
      steps: team.createSteps(Number(which)),
    });
  else if (what.endsWith("override")) await changeOverrides(team, action);
  else if (what === "attach")
    await request("PATCH", `/monitors/${job.id}`, { alertChannelIds: value ? [office.id] : [] });
  else if (what === "hours") {
    const path =
      which === "Office"
        ? `/alert-channels/${office.id}`
        : `/contact-methods/${phoneOf(which).methodId}`;
    await request("PATCH", path, { quietHours: toQuietHours(value as Hours) });
  } else if (what === "drill") await request("POST", `/people/${phoneOf(which).id}/drill`);
  else if (what === "acknowledge drill") await act("acknowledge", phoneOf(which).id);
  else if (what === "restore") {
    await request("DELETE", `/alert-channels/${office.id}`);
    await request("POST", `/alert-channels/${office.id}/restore`);
  } else if (what === "restart") team.restart();
}

async function observe(
  start: number,
  planned: ReadonlyMap<number, Action>,
  moments: ReadonlySet<number>,
) {
  const team = await createTeam(start);
  const { time, later, restart, crashBefore, phones, office, second, last } = team;
  const nameOf = ({ type, data }: Json) =>
    [type, data.monitor?.name.toLowerCase()].filter((part) => part !== undefined).join(" ");
  const receivers = [
    ...people.map((name, index) => [name, () => phones[index]?.received() ?? []] as const),
    ...(
      [
        ["Office", office],
        ["Second", second],
        ["Default", last],
      ] as const
    ).map(([name, inbox]) => [name, inbox.received] as const),
  ];
  const seen = new Map(receivers.map(([name, received]) => [name, received().length]));
  const sent: string[] = [];
  let isKilling = false;
  /** Runs the due work of a minute. A killed process starts again. */
  const settle = async (minute: number) => {
    const endKill = isKilling ? crashBefore("deliveries") : null;
    for (let i = isKilling ? -1 : 0; i < 3; i++) await later(10).catch(() => restart());
    if (endKill !== null) isKilling = !endKill();
    for (const [name, received] of receivers) {
      const all = received();
      for (const one of all.slice(seen.get(name) ?? 0))
        for (const alert of one.type === "digest" ? one.data.alerts : [one])
          sent.push(`${minute} ${name} ${nameOf(alert)}`);
      seen.set(name, all.length);
    }
  };
  for (const minute of [...moments].toSorted((a, b) => a - b)) {
    time.now = minute * minuteMs;
    const action = planned.get(minute);
    if (action?.[0] === "kill") isKilling = true;
    else if (action !== undefined) await perform(team, action);
    await settle(minute);
  }
  const drills = await team.readAlerts("&type=drill");
  const explained = await readExplanations(team);
  for (const one of [...phones, office, second, last]) await one[Symbol.asyncDispose]();
  return {
    sent,
    explained,
    drilled: drills.map(({ since, subject, resolvedBecause }) => {
      const person = people[phones.findIndex(({ id }) => id === subject.id)];
      return `${Math.floor(Date.parse(since) / minuteMs)} ${person} ${resolvedBecause}`;
    }),
  };
}

/** Entries that explain why someone is notified, or not. */
const explaining = new Set(
  "held escalated acknowledged unacknowledged snoozed returned".split(" "),
);

/** Lists the explanations in all timelines, in the words of the model. */
async function readExplanations({ readAlert, database, jobs }: Team): Promise<Set<string>> {
  const ids = database
    .query<{ id: string }, []>("SELECT id FROM alert_records WHERE family = 'state'")
    .all();
  const lines = new Set<string>();
  for (const { id } of ids) {
    const { subject, timeline } = await readAlert(id);
    const name = Object.entries(jobs).find(([, job]) => job.id === subject.id)?.[0];
    for (const { at, type, message } of timeline as Json[])
      if (explaining.has(type))
        lines.add(`${Math.floor(toMinute(at))} ${name} ${summarize(message ?? type, type)}`);
  }
  return lines;
}

function summarize(message: string, type: string): string {
  if (type === "snoozed") return type;
  const [, holder] = /^Held until .* by the quiet hours of (?:\w+: )?(\w+)\.$/.exec(message) ?? [];
  if (holder !== undefined) return `Held: ${holder}`;
  const [, critical] =
    /^The alert has become critical, .* of (?:\w+: )?(\w+) held is sent\.$/.exec(message) ?? [];
  if (critical !== undefined) return `Critical: ${critical}`;
  const [, deleted] = /^(\w+) was deleted before its quiet hours ended/.exec(message) ?? [];
  if (deleted !== undefined) return `Dropped: ${deleted}, deleted`;
  const [, reason = "", receiver] =
    /^(The .*) before the quiet hours of (?:\w+: )?(\w+) ended/.exec(message) ?? [];
  if (receiver === undefined) return message;
  const because = /recovered|problem/.test(reason)
    ? "recovered"
    : (/acknowledged|snoozed/.exec(reason)?.[0] ?? "unwanted");
  return `Dropped: ${receiver}, ${because}`;
}

const job = fc.constantFrom<Job>("shop", "shop", "mail", "router");
const dependent = fc.constantFrom<Dependent>("shop", "shop", "mail");
const person = fc.constantFrom(...people);
// Hours that start or end at a time that a clock change skips or repeats have their own tests.
const hour = fc.integer({ min: 3, max: 24 }).map((one) => one % 24);
const hours = fc.oneof(
  fc.constant(null),
  fc.tuple(hour, hour).filter(([from, until]) => from !== until),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(fc.constantFrom("down", "down", "up"), job) },
  {
    weight: 10,
    arbitrary: fc.tuple(
      fc.constantFrom("acknowledge", "unacknowledge", "unacknowledge", "snooze"),
      job,
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constant("priority"), job, fc.constantFrom("normal", "critical")),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom("attach", "depend"), dependent, fc.boolean()),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant("second step"), fc.constantFrom(5, 10, 25)) },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constant("override"),
      person,
      fc.constantFrom(0, 0, 90, 700),
      fc.constantFrom(60, 400, 1_500),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant("remove override")) },
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constant("hours"), fc.constantFrom("Office", ...people), hours),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom("drill", "drill", "acknowledge drill"), person),
  },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom("restore", "restart", "kill")) },
) as fc.Arbitrary<Action>;
const wait = fc.constantFrom(4, 5, 7, 11, 16, 33, 125, 310, 700, 1_500, 2_400);

test("four weeks on call notify whom the documentation says, when it says", async () => {
  const courses = fc.array(fc.tuple(action, wait), { minLength: 50, maxLength: 70, size: "max" });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...starts), courses, async (start, course) => {
      const planned = buildSchedule(start, course);
      const model = predict(start, planned);
      const { sent, drilled, explained } = await observe(start, planned, model.moments);
      expect(sent.toSorted()).toEqual(model.sent.toSorted());
      expect([...explained].toSorted()).toEqual([...model.explained].toSorted());
      expect(drilled.toSorted()).toEqual(model.drilled.toSorted());
    }),
    { ...limitTries(2), endOnFailure: true },
  );
}, 240_000);
