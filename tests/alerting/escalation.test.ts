import { describe, expect, test } from "bun:test";
import type { Json } from "../support/json.ts";
import { createPersonWithPhone } from "../support/on-call.ts";
import { createPager } from "../support/pager.ts";
import { signInMember } from "../support/people.ts";
import { replyWith, startTarget } from "../support/target.ts";

type Step = { afterMinutes: number; targets: { type: string; id: string }[] };

/** A monitor without channels whose policy notifies inboxes. */
async function createWorld(make: (inboxes: string[]) => Step[], policy: object = {}) {
  const pager = await createPager();
  const inboxes = [
    await pager.inbox({ name: "First" }),
    await pager.inbox({ name: "Second" }),
    await pager.inbox({ name: "Default", default: true }),
  ] as const;
  const { api } = pager;
  const body = { name: "Shop", steps: make(inboxes.map(({ id }) => id)), ...policy };
  const created = await api("POST", "/api/v1/escalation-policies", { body });
  expect([created.status, created.status === 201 ? "" : created.text]).toEqual([201, ""]);
  const policyId = created.json.data.id as string;
  const job = await pager.createWatchedJob([], {
    name: "A",
    escalationPolicyId: policyId,
  });
  // A new monitor gets the default channels.
  await job.change({ alertChannelIds: [] });
  /** Advances the clock in steps of 10 s, and lists what arrived since, as `minute channel: title`. */
  let elapsed = 0;
  const seen = inboxes.map(() => 0);
  const passMinutes = async (minutes: number) => {
    const arrived: string[] = [];
    for (let i = 0; i < 6 * minutes; i++) {
      await pager.later(10);
      elapsed += 10;
      for (const [index, inbox] of inboxes.entries()) {
        const titles = inbox.listTitles();
        for (const title of titles.slice(seen[index]))
          arrived.push(
            `${Math.floor(elapsed / 60)} ${["first", "second", "default"][index]}: ${title}`,
          );
        seen[index] = titles.length;
      }
    }
    return arrived;
  };
  const readOpen = async () => (await pager.readAlerts(`&monitorId=${job.id}`))[0] as Json;
  const act = async (action: string, more: object = {}) =>
    api("POST", `/api/v1/alerts/${(await readOpen()).id}/${action}`, { body: more });
  const readTimeline = async () => {
    const { json } = await api("GET", `/api/v1/alerts/${(await readOpen()).id}`);
    return json.data.timeline
      .filter(({ type }: Json) => type === "escalated")
      .map(({ message }: Json) => message) as string[];
  };
  return { ...pager, inboxes, policyId, job, passMinutes, act, readTimeline };
}

const buildChannel = (afterMinutes: number, id: string | undefined): Step => ({
  afterMinutes,
  targets: [{ type: "channel", id: id ?? "" }],
});
const buildTwoSteps = ([first, second]: string[]) => [
  buildChannel(0, first),
  buildChannel(10, second),
];

describe("a policy", () => {
  test("is previewed step by step, exactly as it runs", async () => {
    const world = await createWorld(
      ([first, second]) => [
        buildChannel(0, first),
        buildChannel(10, second),
        buildChannel(25, first),
      ],
      { repeat: 1 },
    );
    const { api, job, passMinutes, changeChannel, inboxes } = world;
    // The second step reaches nobody, so the third runs in its place.
    await changeChannel(inboxes[1], { enabled: false });
    const path = `/api/v1/monitors/${job.id}/alert-preview`;
    const { at, policy } = (await api("GET", path)).json.data;
    const minuteOf = (time: string) => (Date.parse(time) - Date.parse(at)) / 60_000;
    expect(policy.steps.map((run: Json) => [run.step, run.round, minuteOf(run.at), run.message]))
      // The first run ends 15 minutes after its last step, like the pause before that step.
      .toEqual([
        [1, 0, 0, "First"],
        [2, 0, 10, "Second is disabled"],
        [3, 0, 10, "First"],
        [1, 1, 40, "First"],
        [2, 1, 50, "Second is disabled"],
        [3, 1, 50, "First"],
        [null, 1, 80, "Default"],
      ]);
    const planned = policy.steps.flatMap(({ notifications }: Json) =>
      notifications.map(
        (one: Json) => `${minuteOf(one.at)} ${one.channel.name.toLowerCase()}: monitor.down A`,
      ),
    );
    await job.changeState("down");
    expect(await passMinutes(90)).toEqual(planned);
  });

  test("is previewed with the person on call at each time, and why it notifies no one", async () => {
    const world = await createWorld(buildTwoSteps);
    const { api, ours, job, policyId } = world;
    const person = await signInMember(world, "member", { name: "Ada" });
    const { id: scheduleId } = (
      await api("POST", "/api/v1/schedules", {
        body: {
          name: "Platform",
          timeZone: "UTC",
          layers: [{ personIds: [person.id], start: "2030-01-01T00:00" }],
        },
      })
    ).json.data;
    await api("PATCH", `/api/v1/escalation-policies/${policyId}`, {
      body: { steps: [{ afterMinutes: 10, targets: [{ type: "schedule", id: scheduleId }] }] },
    });
    const path = `/api/v1/monitors/${job.id}/alert-preview?at=`;
    const readMessages = async (at: string) =>
      (await api("GET", `${path}${at}`)).json.data.policy.steps.map(({ message }: Json) => message);
    expect(await readMessages("2029-12-31T23:49:00Z")).toEqual([
      "nobody is on call in Platform",
      "Default",
    ]);
    expect(await readMessages("2029-12-31T23:50:00Z")).toEqual([
      `Ada (on call in Platform) can't be reached`,
      "Default",
    ]);
    await job.change({ muted: true });
    expect((await ours.reader("GET", `${path}2030-01-01T00:00:00Z`)).json.data.policy).toEqual({
      id: policyId,
      name: "Shop",
      reason: "Shop gets no alerts while the monitor is muted.",
      steps: [],
    });
    expect((await api("GET", `${path}soon`)).status).toBe(422);
  });

  test("notifies step by step until the end, and then the default channels", async () => {
    const { job, passMinutes, readTimeline } = await createWorld(buildTwoSteps);
    await job.changeState("down");
    expect(await passMinutes(30)).toEqual([
      "0 first: monitor.down A",
      "10 second: monitor.down A",
      "20 default: monitor.down A",
    ]);
    expect(await passMinutes(120)).toEqual([]);
    expect(await readTimeline()).toEqual([
      "Step 1 of 2: First.",
      "Step 2 of 2: Second.",
      "Nobody acknowledged. Notified: Default.",
    ]);
    await job.changeState("up");
    expect((await passMinutes(1)).toSorted()).toEqual([
      "150 default: monitor.up A",
      "150 first: monitor.up A",
      "150 second: monitor.up A",
    ]);
  });

  test("is repeated, and its messages name the step", async () => {
    const { job, passMinutes, inboxes } = await createWorld(([first]) => [buildChannel(5, first)], {
      repeat: 1,
    });
    await job.changeState("down");
    expect(await passMinutes(30)).toEqual([
      "5 first: monitor.down A",
      "15 first: monitor.down A",
      "20 default: monitor.down A",
    ]);
    expect(inboxes[0].received()[0]?.data.escalation).toEqual({
      policy: "Shop",
      step: 1,
      steps: 1,
    });
    expect(inboxes[2].received()[0]?.data.escalation).toEqual({
      policy: "Shop",
      step: null,
      steps: null,
    });
  });

  test("stops when someone acknowledges, and continues when that is undone", async () => {
    const { job, passMinutes, act } = await createWorld(buildTwoSteps);
    await job.changeState("down");
    await passMinutes(2);
    await act("acknowledge");
    expect(await passMinutes(60)).toEqual([]);
    await act("unacknowledge");
    expect(await passMinutes(1)).toEqual(["62 second: monitor.down A"]);
  });

  test("starts again after a snooze", async () => {
    const { job, passMinutes, act, time } = await createWorld(buildTwoSteps);
    await job.changeState("down");
    await passMinutes(2);
    await act("snooze", { until: new Date(time.now + 60 * 60_000).toISOString() });
    expect(await passMinutes(59)).toEqual([]);
    expect(
      (await passMinutes(15)).filter((one) => one.includes("first") || one.includes("second")),
    ).toEqual(["62 first: monitor.down A", "72 second: monitor.down A"]);
  });

  test("ends with the problem, and does nothing for one that is only slow", async () => {
    const { job, passMinutes } = await createWorld(buildTwoSteps);
    await job.changeState("down");
    await passMinutes(2);
    await job.changeState("up");
    expect(await passMinutes(30)).toEqual(["2 first: monitor.up A"]);
  });

  test("survives restarts and a pause of the appliance: each step is sent once", async () => {
    const { job, passMinutes, restart, crashBefore, time } = await createWorld(buildTwoSteps);
    await job.changeState("down");
    await passMinutes(2);
    restart();
    expect(await passMinutes(2)).toEqual([]);
    crashBefore("alert_records");
    time.now += 30 * 60_000;
    expect(await passMinutes(1).catch(String)).toBe("Error: The power failed.");
    restart();
    const rest = await passMinutes(5);
    expect(rest.map((one) => one.replace(/^\d+ /, ""))).toEqual(["second: monitor.down A"]);
    // The end keeps its distance of ten minutes.
    expect(await passMinutes(4)).toEqual([]);
    expect(await passMinutes(2)).toHaveLength(1);
  });

  test("runs a missed step after the appliance was off, and the next ones at their distance", async () => {
    const world = await createWorld(buildTwoSteps, { repeat: 2 });
    await world.job.changeState("down");
    await world.passMinutes(1);
    world.restart();
    world.time.now += 12 * 3_600_000;
    const arrived = await world.passMinutes(25);
    expect(arrived.map((one) => one.replace(/^\d+ /, ""))).toEqual([
      "second: monitor.down A",
      "first: monitor.down A",
      "second: monitor.down A",
    ]);
    const minutes = arrived.map((one) => Number.parseInt(one, 10));
    expect(minutes.map((minute) => minute - (minutes[0] ?? 0))).toEqual([0, 10, 20]);
  });

  test("runs the next step at once if a delivery fails", async () => {
    const { job, passMinutes, inboxes } = await createWorld(buildTwoSteps);
    inboxes[0].setReply(replyWith(500));
    await job.changeState("down");
    expect(await passMinutes(2)).toContain("0 second: monitor.down A");
    // Retries of the first step don't bring the end forward.
    expect((await passMinutes(17)).filter((one) => !one.includes("first"))).toEqual([]);
    expect(await passMinutes(2)).toContain("20 default: monitor.down A");
  });

  test("runs the next step at once if nobody is on call", async () => {
    const world = await createWorld(buildTwoSteps);
    const ownSchedule = await world.api("POST", "/api/v1/schedules", {
      body: { name: "Night", timeZone: "UTC", layers: [] },
    });
    const steps = [
      { afterMinutes: 0, targets: [{ type: "schedule", id: ownSchedule.json.data.id }] },
      buildChannel(30, world.inboxes[1].id),
    ];
    await world.api("PATCH", `/api/v1/escalation-policies/${world.policyId}`, { body: { steps } });
    await world.job.changeState("down");
    expect(await world.passMinutes(2)).toEqual(["0 second: monitor.down A"]);
    expect(await world.readTimeline()).toEqual([
      "Step 1 of 2: nobody is on call in Night.",
      "Step 2 of 2: Second.",
    ]);
  });

  test("uses its new steps from the next one on after an edit", async () => {
    const { job, passMinutes, api, policyId, inboxes } = await createWorld(buildTwoSteps);
    await job.changeState("down");
    await passMinutes(2);
    const steps = [buildChannel(0, inboxes[1].id), buildChannel(10, inboxes[0].id)];
    await api("PATCH", `/api/v1/escalation-policies/${policyId}`, { body: { steps } });
    expect(await passMinutes(10)).toEqual(["10 first: monitor.down A"]);
  });

  test("of a severity escalates incidents, until they are resolved", async () => {
    const { passMinutes, api } = await createWorld(buildTwoSteps, {
      incidentSeverities: ["critical"],
    });
    const post = async (severity: string) => {
      const body = { title: severity, severity };
      return (await api("POST", "/api/v1/incidents", { body })).json.data.id as string;
    };
    await post("minor");
    const id = await post("critical");
    const arrived = await passMinutes(12);
    expect(arrived.filter((one) => one.startsWith("10"))).toEqual([
      "10 second: incident.opened critical",
    ]);
    const body = { status: "resolved", message: "Solved." };
    expect((await api("PATCH", `/api/v1/incidents/${id}`, { body })).status).toBe(200);
    expect((await passMinutes(30)).filter((one) => !one.startsWith("12"))).toEqual([]);
  });
});

describe("an incident whose severity is raised", () => {
  async function createIncident(fields: object = {}) {
    const world = await createWorld(buildTwoSteps, { incidentSeverities: ["critical"], ...fields });
    const body = { title: "Slow", severity: "minor" };
    const { id } = (await world.api("POST", "/api/v1/incidents", { body })).json.data;
    return {
      ...world,
      change: (patch: object) => world.api("PATCH", `/api/v1/incidents/${id}`, { body: patch }),
      actOn: async (action: string) => {
        const [alert] = await world.readAlerts();
        const { status } = await world.api("POST", `/api/v1/alerts/${alert?.id}/${action}`);
        expect(status).toBe(200);
      },
    };
  }
  const listSteps = async ({ api, readAlerts }: Awaited<ReturnType<typeof createIncident>>) => {
    const [alert] = await readAlerts();
    const { timeline } = (await api("GET", `/api/v1/alerts/${alert?.id}`)).json.data;
    return timeline
      .filter(({ type }: Json) => type === "escalated")
      .map(({ message }: Json) => message);
  };
  const both = ["Step 1 of 2: First.", "Step 2 of 2: Second."];

  test("escalates from then on, with an update or without", async () => {
    for (const update of [{}, { message: "It is worse." }]) {
      const incident = await createIncident();
      await incident.passMinutes(5);
      expect(await listSteps(incident)).toEqual([]);
      await incident.change({ severity: "critical", ...update });
      await incident.passMinutes(1);
      expect(await listSteps(incident)).toEqual(both.slice(0, 1));
      await incident.passMinutes(10);
      expect(await listSteps(incident)).toEqual(both);
      // A lower severity, and a further edit, change nothing.
      await incident.change({ severity: "minor" });
      await incident.change({ severity: "critical" });
      await incident.passMinutes(1);
      expect(await listSteps(incident)).toEqual(both);
    }
  });

  test("escalates only once nobody acknowledges it any more", async () => {
    const incident = await createIncident();
    await incident.passMinutes(1);
    await incident.actOn("acknowledge");
    await incident.change({ severity: "critical" });
    await incident.passMinutes(1);
    expect(await listSteps(incident)).toEqual([]);
    await incident.actOn("unacknowledge");
    await incident.passMinutes(1);
    expect(await listSteps(incident)).toEqual(both.slice(0, 1));
  });
});

describe("a person", () => {
  test("is notified by each verified contact method at its minutes, and of the end", async () => {
    const world = await createWorld(() => []);
    const ada = await signInMember(world, "member", { name: "Ada" });
    await using phone = await startTarget(replyWith());
    const path = "/dashboard/api/v1/contact-methods";
    const create = async (name: string, afterMinutes: number) => {
      const body = { type: "webhook", name, url: phone.at(`/${name}`), afterMinutes };
      const { id } = (await ada.page("POST", path, { body })).json.data;
      await ada.page("POST", `${path}/${id}/code`);
      const code = /\b\d{6}\b/.exec(phone.asked.at(-1)?.body ?? "")?.[0];
      expect((await ada.page("POST", `${path}/${id}/verify`, { body: { code } })).status).toBe(200);
    };
    await create("push", 0);
    await create("call", 3);
    const steps = [{ afterMinutes: 0, targets: [{ type: "person", id: ada.id }] }];
    await world.api("PATCH", `/api/v1/escalation-policies/${world.policyId}`, { body: { steps } });
    const from = phone.asked.length;
    await world.job.changeState("down");
    await world.passMinutes(2);
    const listPaths = () => phone.asked.slice(from).map(({ path: request }) => request);
    expect(listPaths()).toEqual(["/push"]);
    await world.passMinutes(2);
    expect(listPaths()).toEqual(["/push", "/call"]);
    await world.job.changeState("up");
    await world.passMinutes(1);
    expect(listPaths().slice(2).toSorted()).toEqual(["/call", "/push"]);
    expect(await world.readTimeline()).toEqual(["Step 1 of 1: Ada."]);
  });

  for (const [what, body] of [
    ["deleted", null],
    ["disabled", { enabled: false }],
  ] as const)
    test(`is followed by the next step at once if the last contact method is ${what} before its time`, async () => {
      const world = await createWorld(() => []);
      await using ada = await createPersonWithPhone(world, "Ada", { afterMinutes: 3 });
      const steps = [
        { afterMinutes: 0, targets: [{ type: "person", id: ada.id }] },
        buildChannel(30, world.inboxes[1].id),
      ];
      const policyPath = `/api/v1/escalation-policies/${world.policyId}`;
      await world.api("PATCH", policyPath, { body: { steps } });
      await world.job.changeState("down");
      expect(await world.passMinutes(1)).toEqual([]);
      const path = `/dashboard/api/v1/contact-methods/${ada.methodId}`;
      const { status } = await (body === null
        ? ada.page("DELETE", path)
        : ada.page("PATCH", path, { body }));
      expect(status).toBe(200);
      expect(await world.passMinutes(4)).toEqual([
        `${body === null ? 1 : 3} second: monitor.down A`,
      ]);
      expect(ada.received()).toEqual([]);
    });

  test("is not called any more after an acknowledgment", async () => {
    const world = await createWorld(() => []);
    const ada = await signInMember(world, "member", { name: "Ada" });
    await using phone = await startTarget(replyWith());
    const path = "/dashboard/api/v1/contact-methods";
    const body = { type: "webhook", name: "call", url: phone.at("/call"), afterMinutes: 3 };
    const { id } = (await ada.page("POST", path, { body })).json.data;
    await ada.page("POST", `${path}/${id}/code`);
    const code = /\b\d{6}\b/.exec(phone.asked.at(-1)?.body ?? "")?.[0];
    await ada.page("POST", `${path}/${id}/verify`, { body: { code } });
    const steps = [{ afterMinutes: 0, targets: [{ type: "person", id: ada.id }] }];
    await world.api("PATCH", `/api/v1/escalation-policies/${world.policyId}`, { body: { steps } });
    await world.job.changeState("down");
    await world.passMinutes(1);
    const before = phone.asked.length;
    await world.act("acknowledge");
    await world.passMinutes(10);
    expect(phone.asked).toHaveLength(before);
  });
});

test("a clock that goes back by a day delays neither steps nor contact methods", async () => {
  const world = await createPager();
  const { api, later, time, inbox, createWatchedJob } = world;
  await using ben = await createPersonWithPhone(world, "Ben", { afterMinutes: 3 });
  await using second = await inbox({ name: "Second" });
  const steps = [
    { afterMinutes: 0, targets: [{ type: "person", id: ben.id }] },
    buildChannel(5, second.id),
  ];
  await api("POST", "/api/v1/escalation-policies", {
    body: { name: "Shop", default: true, steps },
  });
  const job = await createWatchedJob([], { name: "A" });
  await job.change({ alertChannelIds: [] });
  await job.changeState("down");
  await later();
  time.now -= 86_400_000;
  const before = time.now;
  const arrived: [minute: number, name: string][] = [];
  for (let i = 0; i < 30; i++) {
    const counts = [ben.received().length, second.received().length];
    await later(20);
    const minute = Math.floor((time.now - before) / 60_000);
    if (ben.received().length > (counts[0] ?? 0)) arrived.push([minute, "Ben"]);
    if (second.received().length > (counts[1] ?? 0)) arrived.push([minute, "Second"]);
  }
  expect(arrived.slice(0, 2)).toEqual([
    [3, "Ben"],
    [5, "Second"],
  ]);
});

describe("an acknowledgment that is removed within a minute", () => {
  /** Ada's phone is used after 2 minutes, and Ben's at once. Who is paged depends on the schedule. */
  async function createTeam() {
    const pager = await createPager();
    const { api, time } = pager;
    const ada = await createPersonWithPhone(pager, "Ada", { afterMinutes: 2 });
    const ben = await createPersonWithPhone(pager, "Ben", { afterMinutes: 0 });
    const layer = { name: "All", personIds: [ada.id], start: "2026-01-01T00:00" };
    const created = await api("POST", "/api/v1/schedules", {
      body: { name: "Platform", timeZone: "UTC", layers: [layer] },
    });
    const schedule = `/api/v1/schedules/${created.json.data.id}`;
    const steps = [
      { afterMinutes: 0, targets: [{ type: "schedule", id: created.json.data.id }] },
      { afterMinutes: 30, targets: [{ type: "person", id: ben.id }] },
    ];
    const policy = await api("POST", "/api/v1/escalation-policies", {
      body: { name: "Shop", steps },
    });
    const job = await pager.createWatchedJob([], { escalationPolicyId: policy.json.data.id });
    await job.changeState("down");
    await pager.later(10);
    const act = async (action: string, body: object = {}) => {
      const [alert] = await pager.readAlerts("&status=open,acknowledged,snoozed");
      const path = `/api/v1/alerts/${alert?.id}/${action}`;
      expect((await api("POST", path, { body })).status).toBe(200);
    };
    /** The number of messages to Ada and Ben after each half minute. */
    const passHalfMinutes = async (halves: number) => {
      for (let i = 0; i < halves; i++) await pager.later(30);
      await pager.later(10);
      return [ada.received().length, ben.received().length];
    };
    const formatNextHour = () => new Date(time.now + 3_600_000).toISOString();
    return { ...pager, ada, ben, schedule, act, passHalfMinutes, formatNextHour };
  }

  test("leaves the contact methods that wait, at their times", async () => {
    const { act, passHalfMinutes, restart } = await createTeam();
    await act("acknowledge");
    await act("unacknowledge");
    restart();
    expect(await passHalfMinutes(2)).toEqual([0, 0]);
    expect(await passHalfMinutes(3)).toEqual([1, 0]);
    // Sent messages are not repeated.
    await act("acknowledge");
    await act("unacknowledge");
    expect(await passHalfMinutes(8)).toEqual([1, 0]);
    expect(await passHalfMinutes(50)).toEqual([1, 1]);
  });

  test("even after a snooze that is ended early, or ends", async () => {
    const { act, passHalfMinutes, formatNextHour } = await createTeam();
    await act("snooze", { until: formatNextHour() });
    expect(await passHalfMinutes(10)).toEqual([0, 0]);
    await act("unacknowledge");
    // Its time has passed.
    expect(await passHalfMinutes(1)).toEqual([1, 0]);
    await act("snooze", { until: formatNextHour() });
    expect(await passHalfMinutes(110)).toEqual([1, 0]);
    expect(await passHalfMinutes(20)).toEqual([2, 0]);
  });

  test("notifies who is on call now, and no removed or unverified contact method", async () => {
    const { act, passHalfMinutes, api, schedule, ada, ben } = await createTeam();
    await act("acknowledge");
    const override = { personId: ben.id, startsAt: "2026-11-20T10:00:00Z" };
    const path = `${schedule}/overrides`;
    const endsAt = "2026-11-21T10:00:00Z";
    const created = await api("POST", path, { body: { ...override, endsAt } });
    await act("unacknowledge");
    expect(await passHalfMinutes(8)).toEqual([0, 1]);
    // The override is over, and so is the verification of the phone.
    await api("DELETE", `${path}/${created.json.data.id}`);
    await act("acknowledge");
    await act("unacknowledge");
    await api("PATCH", `/api/v1/contact-methods/${ada.methodId}`, {
      body: { url: ada.phone.at("/other") },
    });
    expect(await passHalfMinutes(8)).toEqual([0, 1]);
  });
});
