/** Cases at PagerDuty and Opsgenie: opened by problems, replaced, and closed when the problem ends. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sweepAlerts } from "../../src/alerting/sending/retention.ts";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import type { Event } from "../../src/events/catalogue.ts";
import { appendEvent } from "../../src/events/log.ts";
import { recordProblem, recordProblemEnd } from "../../src/events/problems.ts";
import { type ServiceMode, createCaseServices } from "../support/case-services.ts";
import { createPager } from "../support/pager.ts";
import { replyWith } from "../support/target.ts";
import { limitTries } from "../support/property-runs.ts";

const day = 86_400;

/** A monitor `Shop` that is up, and channels of both services that open cases. */
async function watching(fields: object = {}) {
  const services = createCaseServices();
  const made = await createPager({ exchange: services.exchange });
  const pagerduty = await made.channel({ type: "pagerduty", routingKey: "r".repeat(32) });
  const opsgenie = await made.channel({ type: "opsgenie", apiKey: "key" });
  const both = [pagerduty.id as string, opsgenie.id as string];
  const group = await made.group({ name: "Payments" });
  const watched = (more: object = {}) =>
    made.createWatchedJob([pagerduty, opsgenie], {
      name: "Shop",
      degradedAfterMs: 500,
      ...fields,
      ...more,
    });
  return {
    ...made,
    ...services,
    pagerduty,
    opsgenie,
    both,
    group: group.id as string,
    watched,
    shop: await watched(),
    /** Open cases. Both services must have the same ones, except for their priority. */
    opened: () => {
      const titles = (service: "pagerduty" | "opsgenie") =>
        services.open(service).map((one) => one.replace(/^\S+ /, ""));
      expect(titles("opsgenie")).toEqual(titles("pagerduty"));
      return services.open();
    },
  };
}

const isDown = ["critical Shop is down"];

describe("a case is closed", () => {
  test("when the monitor is up again", async () => {
    const { shop, later, opened, cases } = await watching();
    await shop.changeState("down");
    await later();
    expect(opened()).toEqual(isDown);
    await shop.changeState("up");
    await later();
    expect(opened()).toEqual([]);
    expect([cases.pagerduty.length, cases.opsgenie.length]).toEqual([1, 1]);
  });

  type TestSetUp = Awaited<ReturnType<typeof watching>>;
  const ends: [
    string,
    (made: TestSetUp) => Promise<unknown>,
    undone?: (made: TestSetUp) => Promise<unknown>,
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
      const made = await watching();
      const { shop, later, opened, pages, restart } = made;
      await shop.changeState("down");
      await later();
      await end(made);
      restart();
      await later();
      expect(opened()).toEqual([]);
      expect(pages).toHaveLength(2);
      if (undone === undefined) return;
      await undone(made);
      restart();
      await later();
      expect(opened()).toEqual(isDown);
      expect(pages).toHaveLength(4);
      await shop.changeState("up");
      await later();
      expect(opened()).toEqual([]);
    });

  test("when its muted monitor recovers", async () => {
    const { shop, later, opened } = await watching();
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
    const { shop, later, opened, behave } = await watching();
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
    const { shop, later, opened, store, time, database } = await watching();
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
    const { inbox, watched, later, opened } = await watching({ alertChannelIds: [] });
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
    const { shop, later, opened, behave } = await watching();
    behave("forbidden");
    await shop.changeState("down");
    for (let hours = 0; hours < 5; hours++) await later(3_600);
    behave("well");
    await later(1_200);
    await later();
    expect(opened()).toEqual(isDown);
  });

  test("gets the closing of a case", async () => {
    const { shop, later, opened, behave } = await watching();
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
    const { shop, later, opened, acknowledge, pages } = await watching();
    await shop.changeState("slow");
    await later();
    expect(opened()).toEqual(["warning Shop is degraded"]);
    acknowledge();
    await shop.changeState("down");
    await later();
    expect(opened()).toEqual(isDown);
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
    const { shop, later, pages, behave, acknowledge } = await watching();
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
    const { shop, later, opened, pages } = await watching({ reminderInterval: 600 });
    await shop.changeState("down");
    for (let minutes = 0; minutes < 60; minutes += 10) await later(600);
    expect(opened()).toEqual(isDown);
    expect(pages).toHaveLength(2);
  });

  test("flapping replaces an outage, and an outage replaces flapping", async () => {
    const { shop, later, opened } = await watching();
    for (let turn = 0; turn < 12; turn++) await shop.changeState(turn % 2 === 0 ? "down" : "up");
    await later();
    expect(opened()).toEqual(["warning Shop is flapping"]);
    await shop.changeState("down");
    await later(700);
    await later();
    expect(opened()).toEqual(isDown);
  });
});

describe("a certificate", () => {
  async function certified(days: number) {
    const made = await watching();
    const fields = { name: "Site", alertChannelIds: made.both, interval: 3_600 };
    const site = await made.createSite(fields);
    await made.engine.runOnce();
    const endsAt = (at: string) =>
      made.database.run(
        "UPDATE monitor_states SET certificate_expires_at = ? WHERE monitor_id = ?",
        [at, site.id],
      );
    const inDays = (left: number) => new Date(made.time.now + left * day * 1000).toISOString();
    const first = inDays(days);
    endsAt(first);
    await made.later();
    return {
      ...made,
      site,
      /** Renews the certificate. */
      endsIn: (left: number) => endsAt(inDays(left)),
      /** Checks it again with the same certificate. */
      checked: async () => {
        made.time.now += 3_600_000;
        await made.engine.runOnce();
        endsAt(first);
        await made.later();
      },
      [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
    };
  }

  test("has a case for each threshold, and none once it is renewed", async () => {
    await using made = await certified(9.5);
    const { opened, later, endsIn, pages } = made;
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
    await using made = await certified(2.5);
    const { opened, later, endsIn } = made;
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
      await using made = await certified(5.5);
      const { opened, later, changeMonitor, site } = made;
      expect((await changeMonitor(site.id, change)).status).toBe(200);
      await later();
      expect(opened()).toEqual([]);
    });

  test("has a case in addition to that of an outage, and neither closes the other", async () => {
    await using made = await certified(5.5);
    const { opened, site, checked } = made;
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
  const incident = (made: Awaited<ReturnType<typeof watching>>, body: object) =>
    made.api("POST", "/api/v1/incidents", { body: { title: "Slow", ...body } });

  test("has a case of its severity, which is replaced when the severity rises", async () => {
    const made = await watching();
    const { json } = await incident(made, { severity: "minor" });
    await made.later();
    expect(made.opened()).toEqual(["warning Incident: Slow"]);
    made.acknowledge();
    const path = `/api/v1/incidents/${json.data.id}`;
    await made.api("PATCH", path, { body: { severity: "critical", status: "identified" } });
    await made.later();
    expect(made.opened()).toEqual(["critical Incident, identified: Slow"]);
    await made.api("PATCH", path, { body: { message: "More." } });
    await made.later();
    expect(made.pages).toHaveLength(4);
    await made.api("POST", `${path}/resolve`);
    await made.later();
    expect(made.opened()).toEqual([]);
  });

  for (const [what, end] of [
    ["deleted", "DELETE"],
    ["no longer enabled on the channels", { incidents: false }],
    ["open on disabled channels", { enabled: false }],
  ] as const)
    test(`that is ${what} no longer has a case`, async () => {
      const made = await watching();
      const { json } = await incident(made, {});
      await made.later();
      expect(made.opened()).toEqual(["warning Incident: Slow"]);
      if (end === "DELETE") await made.api(end, `/api/v1/incidents/${json.data.id}`);
      else for (const one of [made.pagerduty, made.opsgenie]) await made.changeChannel(one, end);
      await made.later();
      expect(made.opened()).toEqual([]);
    });

  test("of a monitor no longer has a case when the monitor is deleted", async () => {
    const made = await watching();
    const job = await made.watched({ name: "Job", autoIncidentSeverity: "major" });
    await job.change({ alertChannelIds: [] });
    await job.changeState("down");
    await made.later();
    expect(made.opened()).toEqual([expect.stringContaining("error Incident: ")]);
    await made.api("DELETE", `/api/v1/monitors/${job.id}`);
    await made.later();
    expect(made.opened()).toEqual([]);
  });

  test("of a monitor no longer has a case when it ends while the monitor is muted", async () => {
    const made = await watching();
    const job = await made.watched({ name: "Job", autoIncidentSeverity: "major" });
    await job.change({ alertChannelIds: [] });
    await job.changeState("down");
    await made.later();
    expect(made.opened()).toEqual([expect.stringContaining("error Incident: ")]);
    await job.change({ muted: true });
    await job.changeState("up");
    await made.later();
    expect(made.opened()).toEqual([]);
  });
});

test("a problem of the appliance is one case at all its stages, and the next problem is another", async () => {
  const { store, ours, time, later, opened, pages } = await watching();
  const begins = async (stage: string, severity: "warning" | "error") => {
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
  const ends = async () => {
    await store.atomic(recordProblemEnd({ name: "certificate" }, "It was renewed.", time.now));
    await later();
  };
  const title = "Signalbox: its own certificate expires soon";
  await begins("14", "warning");
  await begins("14", "warning");
  expect([opened(), pages.length]).toEqual([[`warning ${title}`], 2]);
  await later(7 * 86_400);
  await begins("7", "warning");
  expect([opened(), pages.length]).toEqual([[`warning ${title}`], 2]);
  await begins("1", "error");
  expect(opened()).toEqual([`error ${title}`]);
  const before = pages.length;
  await ends();
  await ends();
  expect([opened(), pages.length]).toEqual([[], before]);
  await begins("14", "warning");
  expect(opened()).toEqual([`warning ${title}`]);
});

test("a problem that an older version reported is closed after ten minutes", async () => {
  const { store, ours, time, later, opened } = await watching();
  const at = new Date(time.now).toISOString();
  const event = { organizationId: ours.id, at, type: "appliance.troubled", subjectId: ours.id };
  await store.atomic([appendEvent({ ...event, data: { message: "No network." } } as Event)]);
  await later();
  expect(opened()).toEqual(["warning Signalbox can't check reliably"]);
  await later(600);
  expect(opened()).toEqual([]);
});

test("each test alert pages, even if the last one was acknowledged", async () => {
  const { api, pagerduty, pages, acknowledge } = await watching();
  for (let time = 0; time < 2; time++) {
    await api("POST", `/api/v1/alert-channels/${pagerduty.id}/test`);
    acknowledge();
  }
  expect(pages).toHaveLength(2);
});

describe("after any sequence of events", () => {
  type Snapshot = Awaited<ReturnType<typeof snapshot>>;

  async function snapshot() {
    const made = await watching();
    const { api, services, time, later } = { ...made, services: made };
    const jobs = [made.shop, await made.watched({ name: "Job", autoIncidentSeverity: "major" })];
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
        await job.change({ alertChannelIds: attached ? made.both : [] });
        state.attached = attached;
      },
      async join(index: number, grouped: boolean) {
        const { job, state } = stateOf(index);
        if (state.gone) return;
        await job.change({ groupId: grouped ? made.group : null });
        state.grouped = grouped;
      },
      async muteGroup(muted: boolean) {
        await made.muteGroup(made.group, muted);
        groupMuted = muted;
      },
      async enable(on: boolean) {
        for (const one of [made.pagerduty, made.opsgenie])
          await made.changeChannel(one, { enabled: on });
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
      pass: async (seconds: number) => {
        await later(seconds);
      },
      restart: () => void made.restart(),
      settle,
    };
    return {
      ...does,
      made,
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
  const one = (weight: number, name: keyof Snapshot, ...parts: fc.Arbitrary<unknown>[]) => ({
    weight,
    arbitrary: fc.tuple(fc.constant(name), ...parts) as unknown as fc.Arbitrary<Action>,
  });
  const index = fc.constantFrom(0, 0, 1);
  const yes = fc.boolean();
  const action = fc.oneof(
    one(30, "goes", index, fc.constantFrom("up", "down", "slow")),
    one(2, "flutter", index),
    one(8, "mute", index, yes),
    one(4, "pause", index, yes),
    one(8, "attach", index, yes),
    one(4, "join", index, yes),
    one(4, "muteGroup", yes),
    one(4, "enable", yes),
    one(1, "remove", index),
    one(3, "open", fc.constantFrom("minor", "critical")),
    one(
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
    one(10, "behave", fc.constantFrom("well", "well", "broken", "deaf", "lost", "forbidden")),
    one(10, "acknowledge"),
    one(20, "pass", fc.constantFrom(1, 10, 60, 900)),
    one(4, "restart"),
    one(8, "settle"),
  );

  async function run(actions: readonly Action[]) {
    const all = await snapshot();
    for (const [name, ...parts] of actions) {
      await (all[name] as (...parts: unknown[]) => unknown)(...parts);
      if (name !== "settle") continue;
      const ofMonitors = all.made
        .opened()
        .filter(
          (title) => /(Shop|Job) is (down|degraded)$/.test(title) && !title.includes("Incident"),
        );
      expect(ofMonitors).toEqual(all.wanted().toSorted());
    }
    await all.heal();
    expect(all.made.opened()).toEqual([]);
    const left = all.made.database.query("select count(*) from open_cases").values();
    expect(left).toEqual([[0]]);
  }

  test("a case is open while its reported problem lasts, and none once everything is up", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 40, size: "max" }), run),
      limitTries(25),
    );
  });
});
