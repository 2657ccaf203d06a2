/** Cases at PagerDuty and Opsgenie: opened by problems, replaced, and closed when the problem ends. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sweepAlerts } from "../../src/alerting/sending/retention.ts";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import type { Event } from "../../src/events/catalog.ts";
import { appendEvent } from "../../src/events/log.ts";
import { recordProblem, recordProblemEnd } from "../../src/events/problems.ts";
import { type ServiceMode, createCaseServices } from "../support/case-services.ts";
import { createPager } from "../support/pager.ts";
import { replyWith } from "../support/target.ts";
import { limitTries } from "../support/property-runs.ts";

const day = 86_400;

/** A monitor `Shop` that is up, and channels of both services that open cases. */
async function startWatching(fields: object = {}) {
  const services = createCaseServices();
  const pager = await createPager({ exchange: services.exchange });
  const pagerduty = await pager.channel({ type: "pagerduty", routingKey: "r".repeat(32) });
  const opsgenie = await pager.channel({ type: "opsgenie", apiKey: "key" });
  const channelIds = [pagerduty.id as string, opsgenie.id as string];
  const group = await pager.group({ name: "Payments" });
  const watched = (more: object = {}) =>
    pager.createWatchedJob([pagerduty, opsgenie], {
      name: "Shop",
      degradedAfterMs: 500,
      ...fields,
      ...more,
    });
  return {
    ...pager,
    ...services,
    pagerduty,
    opsgenie,
    both: channelIds,
    group: group.id as string,
    watched,
    shop: await watched(),
    /** Open cases. Both services must have the same ones, except for their priority. */
    opened: () => {
      const buildTitles = (service: "pagerduty" | "opsgenie") =>
        services.open(service).map((one) => one.replace(/^\S+ /, ""));
      expect(buildTitles("opsgenie")).toEqual(buildTitles("pagerduty"));
      return services.open();
    },
  };
}

const downAlerts = ["critical Shop is down"];

describe("a case is closed", () => {
  test("when the monitor is up again", async () => {
    const { shop, later, opened, cases } = await startWatching();
    await shop.changeState("down");
    await later();
    expect(opened()).toEqual(downAlerts);
    await shop.changeState("up");
    await later();
    expect(opened()).toEqual([]);
    expect([cases.pagerduty.length, cases.opsgenie.length]).toEqual([1, 1]);
  });

  type TestSetUp = Awaited<ReturnType<typeof startWatching>>;
  const ends: [
    string,
    (appliance: TestSetUp) => Promise<unknown>,
    undone?: (appliance: TestSetUp) => Promise<unknown>,
  ][] = [
    [
      "muted",
      ({ shop }) => shop.change({ muted: true }),
      ({ shop }) => shop.change({ muted: false }),
    ],
    [
      "detached from its channels",
      ({ shop }) => shop.change({ alertChannelIds: [] }),
      ({ shop, both }) => shop.change({ alertChannelIds: both }),
    ],
    ["paused", ({ shop }) => shop.change({ paused: true })],
    ["deleted", ({ api, shop }) => api("DELETE", `/api/v1/monitors/${shop.id}`)],
    [
      "put into a muted group",
      async ({ shop, group, muteGroup }) => {
        await muteGroup(group, true);
        await shop.change({ groupId: group });
      },
      ({ group, muteGroup }) => muteGroup(group, false),
    ],
    [
      "without a channel that is enabled",
      async ({ pagerduty, opsgenie, changeChannel }) => {
        for (const one of [pagerduty, opsgenie]) await changeChannel(one, { enabled: false });
      },
      async ({ pagerduty, opsgenie, changeChannel }) => {
        for (const one of [pagerduty, opsgenie]) await changeChannel(one, { enabled: true });
      },
    ],
  ];
  for (const [what, end, undone] of ends)
    test(`when the monitor is ${what} while it is down${undone ? ", and another opens when that is over" : ""}`, async () => {
      const world = await startWatching();
      const { shop, later, opened, pages, restart } = world;
      await shop.changeState("down");
      await later();
      await end(world);
      restart();
      await later();
      expect(opened()).toEqual([]);
      expect(pages).toHaveLength(2);
      if (undone === undefined) return;
      await undone(world);
      restart();
      await later();
      expect(opened()).toEqual(downAlerts);
      expect(pages).toHaveLength(4);
      await shop.changeState("up");
      await later();
      expect(opened()).toEqual([]);
    });

  test("when its muted monitor recovers", async () => {
    const { shop, later, opened } = await startWatching();
    await shop.changeState("down");
    await later();
    await shop.change({ muted: true });
    await shop.changeState("up");
    await later();
    expect(opened()).toEqual([]);
    await shop.change({ muted: false });
    await later();
    expect(opened()).toEqual([]);
  });

  test("even if the request that opened it was never confirmed", async () => {
    const { shop, later, opened, behave } = await startWatching();
    behave("lost");
    await shop.changeState("down");
    for (let hours = 0; hours < 26; hours++) await later(3_600);
    expect(opened()).toContain("critical Shop is down");
    behave("well");
    await shop.changeState("up");
    await later();
    await later(900);
    await later();
    expect(opened()).toEqual([]);
  });

  test("even if the log no longer contains its opening", async () => {
    const { shop, later, opened, store, time, database } = await startWatching();
    await shop.changeState("down");
    await later();
    time.now += 200 * day * 1_000;
    await sweepAlerts(createSweeping(store, time.now));
    expect(database.query("select count(*) from deliveries").values()).toEqual([[0]]);
    await shop.changeState("up");
    await later();
    expect(opened()).toEqual([]);
    await sweepAlerts(createSweeping(store, time.now + 200 * day * 1_000));
    expect(database.query("select count(*) from alerts").values()).toEqual([[0]]);
  });

  test("of a failing channel, when the channel works again", async () => {
    const { inbox, watched, later, opened } = await startWatching({ alertChannelIds: [] });
    await using hook = await inbox({ name: "Bot" }, replyWith(403));
    const job = await watched({ name: "Job" });
    await job.change({ alertChannelIds: [hook.id] });
    await job.changeState("down");
    await later();
    await later();
    expect(opened()).toEqual(["warning Alerts to Bot can't be delivered"]);
    hook.setReply(replyWith());
    await later(60);
    await later();
    expect(opened()).toEqual([]);
  });
});

describe("a service that rejects requests for hours and then recovers", () => {
  test("gets the opening of a case", async () => {
    const { shop, later, opened, behave } = await startWatching();
    behave("forbidden");
    await shop.changeState("down");
    for (let hours = 0; hours < 5; hours++) await later(3_600);
    behave("well");
    await later(1_200);
    await later();
    expect(opened()).toEqual(downAlerts);
  });

  test("gets the closing of a case", async () => {
    const { shop, later, opened, behave } = await startWatching();
    await shop.changeState("down");
    await later();
    behave("forbidden");
    await shop.changeState("up");
    for (let hours = 0; hours < 5; hours++) await later(3_600);
    behave("well");
    await later(1_200);
    await later();
    expect(opened()).toEqual([]);
  });
});

describe("each problem of a monitor has its own case, which replaces the previous one:", () => {
  test("an outage pages even if the slowness before it was acknowledged", async () => {
    const { shop, later, opened, acknowledge, pages } = await startWatching();
    await shop.changeState("slow");
    await later();
    expect(opened()).toEqual(["warning Shop is degraded"]);
    acknowledge();
    await shop.changeState("down");
    await later();
    expect(opened()).toEqual(downAlerts);
    expect(pages).toContain("opsgenie P1 Shop is down");
    acknowledge();
    await shop.changeState("slow");
    await later();
    expect(opened()).toEqual(["warning Shop is degraded"]);
    await shop.changeState("up");
    await later();
    expect(opened()).toEqual([]);
  });

  test("the next outage pages even if the previous case was never closed", async () => {
    const { shop, later, pages, behave, acknowledge } = await startWatching();
    await shop.changeState("down");
    await later();
    acknowledge();
    behave("broken");
    await shop.changeState("up");
    for (let hours = 0; hours < 30; hours++) await later(3_600);
    behave("well");
    await later(3_600);
    await shop.changeState("down");
    await later();
    expect(pages.filter((one) => one.endsWith("Shop is down"))).toHaveLength(4);
  });

  test("reminders are added to the same case", async () => {
    const { shop, later, opened, pages } = await startWatching({ reminderInterval: 600 });
    await shop.changeState("down");
    for (let minutes = 0; minutes < 60; minutes += 10) await later(600);
    expect(opened()).toEqual(downAlerts);
    expect(pages).toHaveLength(2);
  });

  test("flapping replaces an outage, and an outage replaces flapping", async () => {
    const { shop, later, opened } = await startWatching();
    for (let turn = 0; turn < 12; turn++) await shop.changeState(turn % 2 === 0 ? "down" : "up");
    await later();
    expect(opened()).toEqual(["warning Shop is flapping"]);
    await shop.changeState("down");
    await later(700);
    await later();
    expect(opened()).toEqual(downAlerts);
  });
});

describe("a certificate", () => {
  async function setUpCertified(days: number) {
    const world = await startWatching();
    const fields = { name: "Site", alertChannelIds: world.both, interval: 3_600 };
    const site = await world.createSite(fields);
    await world.engine.runOnce();
    const setCertificateExpiry = (at: string) =>
      world.database.run(
        "UPDATE monitor_states SET certificate_expires_at = ? WHERE monitor_id = ?",
        [at, site.id],
      );
    const formatDaysAhead = (left: number) =>
      new Date(world.time.now + left * day * 1000).toISOString();
    const first = formatDaysAhead(days);
    setCertificateExpiry(first);
    await world.later();
    return {
      ...world,
      site,
      /** Renews the certificate. */
      endsIn: (left: number) => setCertificateExpiry(formatDaysAhead(left)),
      /** Checks the monitor again with the same certificate. */
      checked: async () => {
        world.time.now += 3_600_000;
        await world.engine.runOnce();
        setCertificateExpiry(first);
        await world.later();
      },
      [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
    };
  }

  test("has a case for each threshold, and none once it is renewed", async () => {
    await using world = await setUpCertified(9.5);
    const { opened, later, endsIn, pages } = world;
    expect(opened()).toEqual(["warning The certificate of Site expires in 9 days"]);
    await later(4 * day);
    await later();
    expect(opened()).toEqual(["warning The certificate of Site expires in 5 days"]);
    await later(4 * day);
    await later();
    expect(opened()).toEqual(["error The certificate of Site expires in 1 day"]);
    expect(pages).toHaveLength(6);
    endsIn(90);
    await later();
    expect(opened()).toEqual([]);
  });

  test("that is renewed for only a short time opens a case again", async () => {
    await using world = await setUpCertified(2.5);
    const { opened, later, endsIn } = world;
    endsIn(6.5);
    await later();
    expect(opened()).toEqual(["warning The certificate of Site expires in 6 days"]);
  });

  for (const [what, change] of [
    ["muted", { muted: true }],
    ["no longer set to report its certificate", { certificateExpiryDays: null }],
    ["detached", { alertChannelIds: [] }],
  ] as const)
    test(`of a monitor that is ${what} no longer has a case`, async () => {
      await using world = await setUpCertified(5.5);
      const { opened, later, changeMonitor, site } = world;
      expect((await changeMonitor(site.id, change)).status).toBe(200);
      await later();
      expect(opened()).toEqual([]);
    });

  test("has a case in addition to that of an outage, and neither closes the other", async () => {
    await using world = await setUpCertified(5.5);
    const { opened, site, checked } = world;
    const ends = "warning The certificate of Site expires in 5 days";
    site.failNow();
    await checked();
    expect(opened()).toEqual(["critical Site is down", ends]);
    site.recoverNow();
    await checked();
    expect(opened()).toEqual([ends]);
  });
});

describe("an incident", () => {
  const createIncident = (world: Awaited<ReturnType<typeof startWatching>>, body: object) =>
    world.api("POST", "/api/v1/incidents", { body: { title: "Slow", ...body } });

  test("has a case of its severity, which is replaced when the severity rises", async () => {
    const world = await startWatching();
    const { json } = await createIncident(world, { severity: "minor" });
    await world.later();
    expect(world.opened()).toEqual(["warning Incident: Slow"]);
    world.acknowledge();
    const path = `/api/v1/incidents/${json.data.id}`;
    await world.api("PATCH", path, { body: { severity: "critical", status: "identified" } });
    await world.later();
    expect(world.opened()).toEqual(["critical Incident, identified: Slow"]);
    await world.api("PATCH", path, { body: { message: "More." } });
    await world.later();
    expect(world.pages).toHaveLength(4);
    await world.api("POST", `${path}/resolve`);
    await world.later();
    expect(world.opened()).toEqual([]);
  });

  for (const [what, end] of [
    ["deleted", "DELETE"],
    ["no longer enabled on the channels", { incidents: false }],
    ["open on disabled channels", { enabled: false }],
  ] as const)
    test(`that is ${what} no longer has a case`, async () => {
      const world = await startWatching();
      const { json } = await createIncident(world, {});
      await world.later();
      expect(world.opened()).toEqual(["warning Incident: Slow"]);
      if (end === "DELETE") await world.api(end, `/api/v1/incidents/${json.data.id}`);
      else for (const one of [world.pagerduty, world.opsgenie]) await world.changeChannel(one, end);
      await world.later();
      expect(world.opened()).toEqual([]);
    });

  test("of a monitor no longer has a case when the monitor is deleted", async () => {
    const world = await startWatching();
    const job = await world.watched({ name: "Job", autoIncidentSeverity: "major" });
    await job.change({ alertChannelIds: [] });
    await job.changeState("down");
    await world.later();
    expect(world.opened()).toEqual([expect.stringContaining("error Incident: ")]);
    await world.api("DELETE", `/api/v1/monitors/${job.id}`);
    await world.later();
    expect(world.opened()).toEqual([]);
  });

  test("of a monitor no longer has a case when it ends while the monitor is muted", async () => {
    const world = await startWatching();
    const job = await world.watched({ name: "Job", autoIncidentSeverity: "major" });
    await job.change({ alertChannelIds: [] });
    await job.changeState("down");
    await world.later();
    expect(world.opened()).toEqual([expect.stringContaining("error Incident: ")]);
    await job.change({ muted: true });
    await job.changeState("up");
    await world.later();
    expect(world.opened()).toEqual([]);
  });
});

test("a problem of the appliance is one case at all its stages, and the next problem is another", async () => {
  const { store, ours, time, later, opened, pages } = await startWatching();
  const startProblem = async (stage: string, severity: "warning" | "error") => {
    const problem = {
      name: "certificate",
      stage,
      severity,
      message: "It ends.",
      until: null,
    } as const;
    await store.atomic(recordProblem([ours.id], problem, time.now));
    await later();
  };
  const endProblem = async () => {
    await store.atomic(recordProblemEnd({ name: "certificate" }, "It was renewed.", time.now));
    await later();
  };
  const title = "Signalbox: its own certificate expires soon";
  await startProblem("14", "warning");
  await startProblem("14", "warning");
  expect([opened(), pages.length]).toEqual([[`warning ${title}`], 2]);
  await later(7 * 86_400);
  await startProblem("7", "warning");
  expect([opened(), pages.length]).toEqual([[`warning ${title}`], 2]);
  await startProblem("1", "error");
  expect(opened()).toEqual([`error ${title}`]);
  const before = pages.length;
  await endProblem();
  await endProblem();
  expect([opened(), pages.length]).toEqual([[], before]);
  await startProblem("14", "warning");
  expect(opened()).toEqual([`warning ${title}`]);
});

test("a problem that an older version reported is closed after ten minutes", async () => {
  const { store, ours, time, later, opened } = await startWatching();
  const at = new Date(time.now).toISOString();
  const event = { organizationId: ours.id, at, type: "appliance.troubled", subjectId: ours.id };
  await store.atomic([appendEvent({ ...event, data: { message: "No network." } } as Event)]);
  await later();
  expect(opened()).toEqual(["warning Signalbox can't check reliably"]);
  await later(600);
  expect(opened()).toEqual([]);
});

test("each test alert pages, even if the last one was acknowledged", async () => {
  const { api, pagerduty, pages, acknowledge } = await startWatching();
  for (let time = 0; time < 2; time++) {
    await api("POST", `/api/v1/alert-channels/${pagerduty.id}/test`);
    acknowledge();
  }
  expect(pages).toHaveLength(2);
});

describe("after any sequence of events", () => {
  type Snapshot = Awaited<ReturnType<typeof readSnapshot>>;

  async function readSnapshot() {
    const world = await startWatching();
    const { api, services, time, later } = { ...world, services: world };
    const jobs = [world.shop, await world.watched({ name: "Job", autoIncidentSeverity: "major" })];
    const states = new Map(
      jobs.map(({ id }) => [
        id,
        { status: "up", muted: false, paused: false, attached: true, gone: false, grouped: false },
      ]),
    );
    const stateOf = (index: number) => {
      const job = jobs[index % jobs.length] as (typeof jobs)[number];
      return { job, state: states.get(job.id) as NonNullable<ReturnType<typeof states.get>> };
    };
    let groupMuted = false;
    let enabled = true;
    const incidents: string[] = [];

    const settle = async () => {
      services.behave("well");
      // A resumed monitor is checked soon; until then its outage lasts.
      for (const [index, { id }] of jobs.entries())
        if (states.get(id)?.status === "pending") await does.goes(index, "up");
      for (const seconds of [10, 3_600, 10]) await later(seconds);
    };

    const does = {
      async goes(index: number, status: "up" | "down" | "slow") {
        const { job, state } = stateOf(index);
        if (state.gone || state.paused) return;
        await job.changeState(status);
        state.status = status;
      },
      async flutter(index: number) {
        for (let turn = 0; turn < 13; turn++)
          await does.goes(index, turn % 2 === 0 ? "down" : "up");
      },
      async mute(index: number, muted: boolean) {
        const { job, state } = stateOf(index);
        if (state.gone) return;
        await job.change({ muted });
        state.muted = muted;
      },
      async pause(index: number, paused: boolean) {
        const { job, state } = stateOf(index);
        if (state.gone || state.paused === paused) return;
        await job.change({ paused });
        Object.assign(state, { paused, status: "pending" });
      },
      async attach(index: number, attached: boolean) {
        const { job, state } = stateOf(index);
        if (state.gone) return;
        await job.change({ alertChannelIds: attached ? world.both : [] });
        state.attached = attached;
      },
      async join(index: number, grouped: boolean) {
        const { job, state } = stateOf(index);
        if (state.gone) return;
        await job.change({ groupId: grouped ? world.group : null });
        state.grouped = grouped;
      },
      async muteGroup(muted: boolean) {
        await world.muteGroup(world.group, muted);
        groupMuted = muted;
      },
      async enable(on: boolean) {
        for (const one of [world.pagerduty, world.opsgenie])
          await world.changeChannel(one, { enabled: on });
        enabled = on;
      },
      async remove(index: number) {
        const { job, state } = stateOf(index);
        if (state.gone) return;
        await api("DELETE", `/api/v1/monitors/${job.id}`);
        state.gone = true;
      },
      async open(severity: "minor" | "critical") {
        const { json } = await api("POST", "/api/v1/incidents", {
          body: { title: "Slow", severity },
        });
        incidents.push(json.data.id);
      },
      async post(which: number, body: object | null) {
        const id = incidents.at(-1 - which);
        if (id === undefined) return;
        if (body === null) await api("DELETE", `/api/v1/incidents/${id}`);
        else await api("PATCH", `/api/v1/incidents/${id}`, { body });
      },
      behave: (mood: ServiceMode) => services.behave(mood),
      acknowledge: () => services.acknowledge(),
      advance: async (seconds: number) => {
        await later(seconds);
      },
      restart: () => void world.restart(),
      settle,
    };
    return {
      ...does,
      world,
      /** Expected cases, by their titles. */
      wanted: () =>
        jobs.flatMap(({ id }, index) => {
          const { status, muted, paused, attached, gone, grouped } = states.get(id) as NonNullable<
            ReturnType<typeof states.get>
          >;
          if (gone || muted || paused || !attached || !enabled || (grouped && groupMuted))
            return [];
          const name = index === 0 ? "Shop" : "Job";
          if (status === "down") return [`critical ${name} is down`];
          return status === "slow" ? [`warning ${name} is degraded`] : [];
        }),
      /** Ends all problems. */
      async heal() {
        services.behave("well");
        for (const [index] of jobs.entries()) {
          await does.pause(index, false);
          await does.goes(index, "up");
        }
        for (const id of incidents) await api("POST", `/api/v1/incidents/${id}/resolve`);
        const { json } = await api("GET", "/api/v1/incidents?open=true&per_page=100");
        for (const { id } of json.data) await api("POST", `/api/v1/incidents/${id}/resolve`);
        await settle();
        time.now += 1;
        await settle();
      },
    };
  }

  type Action = readonly [keyof Snapshot, ...unknown[]];
  const weighAction = (
    weight: number,
    name: keyof Snapshot,
    ...parts: fc.Arbitrary<unknown>[]
  ) => ({
    weight,
    arbitrary: fc.tuple(fc.constant(name), ...parts) as unknown as fc.Arbitrary<Action>,
  });
  const index = fc.constantFrom(0, 0, 1);
  const anyBoolean = fc.boolean();
  const action = fc.oneof(
    weighAction(30, "goes", index, fc.constantFrom("up", "down", "slow")),
    weighAction(2, "flutter", index),
    weighAction(8, "mute", index, anyBoolean),
    weighAction(4, "pause", index, anyBoolean),
    weighAction(8, "attach", index, anyBoolean),
    weighAction(4, "join", index, anyBoolean),
    weighAction(4, "muteGroup", anyBoolean),
    weighAction(4, "enable", anyBoolean),
    weighAction(1, "remove", index),
    weighAction(3, "open", fc.constantFrom("minor", "critical")),
    weighAction(
      5,
      "post",
      fc.nat(1),
      fc.constantFrom(
        null,
        { message: "More." },
        { severity: "major", message: "Worse." },
        { status: "resolved" },
      ),
    ),
    weighAction(
      10,
      "behave",
      fc.constantFrom("well", "well", "broken", "deaf", "lost", "forbidden"),
    ),
    weighAction(10, "acknowledge"),
    weighAction(20, "advance", fc.constantFrom(1, 10, 60, 900)),
    weighAction(4, "restart"),
    weighAction(8, "settle"),
  );

  async function run(actions: readonly Action[]) {
    const all = await readSnapshot();
    for (const [name, ...parts] of actions) {
      await (all[name] as (...parts: unknown[]) => unknown)(...parts);
      if (name !== "settle") continue;
      const monitorCases = all.world
        .opened()
        .filter(
          (title) => /(Shop|Job) is (down|degraded)$/.test(title) && !title.includes("Incident"),
        );
      expect(monitorCases).toEqual(all.wanted().toSorted());
    }
    await all.heal();
    expect(all.world.opened()).toEqual([]);
    const left = all.world.database.query("select count(*) from open_cases").values();
    expect(left).toEqual([[0]]);
  }

  test("a case is open while its reported problem lasts, and none once everything is up", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 40, size: "max" }), run),
      limitTries(12),
    );
  });
});
