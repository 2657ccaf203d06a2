/** The appliance's own problems: their start and end are reported once each, also across restarts. */
import { describe, expect, test } from "bun:test";
import { problemTitles } from "../../../src/alerting/deciding/problem-titles.ts";
import { AppError } from "../../../src/core/errors.ts";
import { findLastSeq } from "../../../src/events/log.ts";
import { listOpenProblems } from "../../../src/events/problems.ts";
import { backupSchedule } from "../../../src/database/tables/operations.ts";
import { ProblemWatch } from "../../../src/operations/diagnostics/watch.ts";
import { createCaseServices } from "../../support/case-services.ts";
import { getFreePort } from "../../support/binary.ts";
import { createPager } from "../../support/pager.ts";
import { createPersonWithPhone } from "../../support/on-call.ts";
import { replyWith, startTarget } from "../../support/target.ts";
import { signInMember, createPerson } from "../../support/people.ts";
import type { Json } from "../../support/json.ts";

const GB = 1_000_000_000;
const day = 86_400;

/** An appliance with an administrator of ours, whose disk, clocks and certificate the test sets. */
async function machine(settings: Parameters<typeof createPager>[0] = {}) {
  const made = await createPager(settings);
  const { appliance, store, time, later } = made;
  const { page } = await signInMember(made, "owner", { administrator: true });
  const world = {
    monotonic: 0,
    disk: { free: 50 * GB, total: 100 * GB },
    certificateExpiresAt: null as number | null,
    /** Position of the followers in the event log. */
    reached: Infinity,
  };
  const open = () =>
    new ProblemWatch({
      ...appliance,
      monotonic: () => world.monotonic,
      events: { progress: () => [{ name: "alerting", seq: world.reached }] },
      diskOf: async () => world.disk,
      certificateExpiresAt: () => world.certificateExpiresAt,
    });
  let watch = open();
  function bothClocks(seconds: number) {
    world.monotonic += seconds * 1000;
    time.now += seconds * 1000;
  }
  return {
    ...made,
    page,
    world,
    bothClocks,
    looks: () => watch.runOnce(),
    /** Advances the clock of a healthy machine: problems are found, reported and delivered. */
    passes: async (seconds = 10) => {
      for (let passed = 0; passed < seconds; passed += 5) {
        bothClocks(5);
        await watch.runOnce();
        await later(0);
      }
    },
    /** Restarts the appliance after `afterSeconds`. */
    restarts: async (afterSeconds = 0) => {
      bothClocks(afterSeconds);
      watch = open();
      await watch.runOnce();
    },
    problems: async () =>
      ((await page("GET", "/dashboard/appliance")).json.data.problems as Json[]).map(
        ({ name }) => name,
      ),
    /** Makes all writes fail until the returned function is called. */
    fillsUp() {
      const atomic = store.atomic.bind(store);
      store.atomic = () => Promise.reject(new AppError("UNAVAILABLE", "The disk is full."));
      return () => void (store.atomic = atomic);
    },
  };
}

type Machine = Awaited<ReturnType<typeof machine>>;

/** How each problem starts and ends; `name` is its title on the page. */
const causes: {
  name: keyof typeof problemTitles;
  begins: (made: Machine) => unknown;
  ends: (made: Machine) => unknown;
}[] = [
  {
    name: "disk",
    begins: ({ world }) => void (world.disk = { free: 0.9 * GB, total: 10 * GB }),
    ends: ({ world }) => void (world.disk = { free: 2 * GB, total: 10 * GB }),
  },
  {
    name: "disk",
    begins: ({ world }) => void (world.disk = { free: 4.9 * GB, total: 100 * GB }),
    ends: ({ world }) => void (world.disk = { free: 6.1 * GB, total: 100 * GB }),
  },
  {
    name: "certificate",
    begins: ({ world, time }) => void (world.certificateExpiresAt = time.now + 13.9 * day * 1000),
    ends: ({ world, time }) => void (world.certificateExpiresAt = time.now + 90 * day * 1000),
  },
  {
    name: "events",
    begins: async ({ world, store, passes }) => {
      world.reached = (await findLastSeq(store)) - 1;
      await passes(310);
    },
    ends: ({ world }) => void (world.reached = Infinity),
  },
  {
    name: "loop",
    begins: ({ bothClocks }) => bothClocks(7),
    ends: ({ passes }) => passes(600),
  },
  {
    name: "clock",
    begins: ({ time }) => void (time.now += 3_600_000),
    ends: ({ passes }) => passes(600),
  },
  {
    name: "clock",
    begins: ({ time }) => void (time.now -= 3_600_000),
    ends: ({ passes }) => passes(600),
  },
  {
    name: "backup",
    begins: async ({ store, passes, restarts, time }) => {
      const updatedAt = new Date(time.now - 2.1 * day * 1000).toISOString();
      const settings = JSON.stringify({ enabled: true, folder: "/backups" });
      const row = { id: 1, settings, secrets: "{}", version: 1, updatedAt, triedFor: time.now };
      await store.atomic([store.db.insert(backupSchedule).values(row)]);
      await restarts();
      // A backup that was missed while it was off is created soon.
      await passes(60);
      expect(await listOpenProblems(store)).toEqual([]);
      for (let minutes = 0; minutes < 59; minutes++) await passes(60);
    },
    ends: ({ page }) => page("PATCH", "/dashboard/backup/schedule", { body: { enabled: false } }),
  },
];

test("every stored problem is tested here, except those of organizations, checks and other machines", () => {
  const tried = new Set<string>(causes.map(({ name }) => name));
  expect(Object.keys(problemTitles).filter((name) => !tried.has(name))).toEqual([
    "alerts",
    "checks",
    "drill",
    "node",
    "notices",
    "on-call",
    "publishing",
    "storage",
  ]);
});

test("an unreachable person on call and an unacknowledged drill are problems of their organization alone", async () => {
  const made = await machine();
  const { inbox, passes, restarts, page, problems, theirs } = made;
  await using hook = await inbox({ default: true });
  // Their organization has no administrator of the appliance.
  await using ada = await createPersonWithPhone({ ...made, ours: theirs }, "Ada");
  await using theirHook = await startTarget(replyWith());
  const channel = { type: "webhook", name: "Ops", url: theirHook.at("/"), default: true };
  await theirs.api("POST", "/api/v1/alert-channels", { body: channel });
  const steps = [{ afterMinutes: 0, targets: [{ type: "person", id: ada.id }] }];
  await theirs.api("POST", "/api/v1/escalation-policies", { body: { name: "Shop", steps } });
  const listTypes = () =>
    theirHook.asked.map((one) => {
      const { type, data } = JSON.parse(one.body);
      return `${type} ${data.problem}`;
    });
  await passes();
  const method = `/api/v1/contact-methods/${ada.methodId}`;
  await theirs.api("PATCH", method, { body: { enabled: false } });
  await passes();
  await restarts();
  await passes();
  expect(listTypes()).toEqual(["appliance.troubled on-call"]);
  await theirs.api("PATCH", method, { body: { enabled: true } });
  await passes();
  const drill = `/api/v1/people/${ada.id}/drill`;
  await theirs.api("POST", drill);
  await passes(320);
  const started = await theirs.api("POST", drill);
  await theirs.api("POST", `/api/v1/alerts/${started.json.data.id}/acknowledge`);
  await passes();
  expect(listTypes().slice(1)).toEqual([
    "appliance.recovered on-call",
    "appliance.troubled drill",
    "appliance.recovered drill",
  ]);
  expect([hook.asked, await problems()]).toEqual([[], []]);
  expect((await page("GET", "/dashboard/problems")).json.data.appliance).toEqual([]);
});

describe.each(causes)("$name", ({ name, begins, ends }) => {
  test("is reported to the administrators' default channels when it starts and ends, once each", async () => {
    const made = await machine();
    const { inbox, passes, restarts, problems } = made;
    await using hook = await inbox({ default: true });
    await using other = await inbox();
    await passes();
    expect([hook.alerts(), await problems()]).toEqual([[], []]);

    await begins(made);
    await passes();
    expect(hook.alerts()).toMatchObject([{ type: "appliance.troubled", data: { problem: name } }]);
    expect(await problems()).toEqual([name]);
    await passes();
    await restarts();
    await passes();
    expect(hook.alerts()).toHaveLength(1);

    await ends(made);
    await passes();
    await restarts();
    await passes();
    expect(hook.alerts().slice(1)).toMatchObject([
      { type: "appliance.recovered", data: { problem: name } },
    ]);
    expect([await problems(), other.asked]).toEqual([[], []]);
    expect((await made.theirs.api("GET", "/api/v1/alerts")).json.data).toEqual([]);
  });

  test("is one case of a pager from start to end", async () => {
    const services = createCaseServices();
    const made = await machine({ exchange: services.exchange });
    await made.channel({ type: "pagerduty", routingKey: "r".repeat(32), default: true });
    await made.channel({ type: "opsgenie", apiKey: "key", default: true });
    await begins(made);
    await made.passes();
    for (const service of ["pagerduty", "opsgenie"] as const)
      expect(services.open(service)).toEqual([expect.stringContaining(problemTitles[name].begins)]);
    await ends(made);
    await made.passes();
    for (const service of ["pagerduty", "opsgenie"] as const)
      expect(services.open(service)).toEqual([]);
  });
});

test("a channel that fails when a problem starts and ends gets both once it works again", async () => {
  const made = await machine();
  await using hook = await made.inbox({ default: true }, replyWith(500));
  made.world.disk = { free: 0, total: 100 * GB };
  await made.passes();
  made.world.disk = { free: 50 * GB, total: 100 * GB };
  await made.passes();
  hook.setReply(replyWith());
  made.bothClocks(900);
  await made.deliverTwiceAfter(60);
  expect([...new Set(hook.alerts().map(({ type }) => type))]).toEqual([
    "appliance.troubled",
    "appliance.recovered",
  ]);
});

test("a disk that fluctuates around the threshold does not start and end its problem each time", async () => {
  const made = await machine();
  await using hook = await made.inbox({ default: true });
  for (const free of [0.99, 1.01, 0.98, 1.19, 0.99]) {
    made.world.disk = { free: free * GB, total: 10 * GB };
    await made.passes(5);
    await made.restarts();
  }
  await made.passes();
  expect(hook.alerts()).toHaveLength(1);
});

test("a certificate is reported 14, 7 and 1 days before it expires, when it expires, and when it is renewed", async () => {
  const made = await machine();
  await using hook = await made.inbox({ default: true });
  made.world.certificateExpiresAt = made.time.now + 15 * day * 1000;
  await made.restarts();
  for (let days = 0; days < 17; days++) {
    await made.restarts(day);
    await made.passes();
  }
  expect(hook.alerts().map(({ data }) => data.severity)).toEqual([
    "warning",
    "warning",
    "error",
    "critical",
  ]);
  expect(await listOpenProblems(made.store)).toMatchObject([{ name: "certificate", stage: "0" }]);
  made.world.certificateExpiresAt = made.time.now + 90 * day * 1000;
  await made.passes();
  expect(hook.alerts().slice(4)).toMatchObject([{ type: "appliance.recovered" }]);
});

test("a slow follower is not stuck", async () => {
  const made = await machine();
  await using hook = await made.inbox({ default: true });
  const first = (await findLastSeq(made.store)) - 1;
  for (let minutes = 0; minutes < 12; minutes++) {
    await made.api("POST", "/api/v1/incidents", { body: { title: "One more" } });
    made.world.reached = first + minutes;
    await made.passes(60);
  }
  expect(hook.alerts().filter(({ type }) => type === "appliance.troubled")).toEqual([]);
});

test("on a full disk the log reports the problem at once, and the alert follows once there is space", async () => {
  const made = await machine();
  await using hook = await made.inbox({ default: true });
  const frees = made.fillsUp();
  made.world.disk = { free: 0, total: 100 * GB };
  await made.looks();
  const log = made.logged.join("");
  expect(log).toMatch(
    /error the appliance has a problem problem="disk" reason="The disk .* 0 bytes left/,
  );
  expect(log).toContain("no alert reports them yet");
  frees();
  await made.passes();
  expect(hook.alerts()).toMatchObject([{ data: { problem: "disk" } }]);
});

test("checks that can't be judged because the appliance was suspended are no second problem", async () => {
  const made = await machine();
  await using hook = await made.inbox({ default: true });
  const shop = await made.createSite({ interval: 3_600 });
  shop.setReply(() => {});
  await using _ = shop;
  const checking = made.api("POST", `/api/v1/monitors/${shop.id}/check`);
  await shop.waitUntilAsked(1);
  made.bothClocks(9);
  await made.looks();
  shop.release(replyWith(500));
  expect((await checking).json.data.status).toBe("unknown");
  await made.passes();
  expect(hook.alerts()).toMatchObject([{ type: "appliance.troubled", data: { problem: "loop" } }]);
});

test("without an administrator only the log reports problems, once each", async () => {
  const made = await machine();
  made.database.run("UPDATE people SET administrator = 0");
  const lines = () =>
    made.logged.filter((line) => line.startsWith("{") && line.includes("has a problem")).length;
  const world = made.world;
  for (const times of [1, 2]) {
    world.disk = { free: 0, total: 100 * GB };
    await made.passes();
    expect(lines()).toBe(2 * times - 1);
    world.disk = { free: 50 * GB, total: 100 * GB };
    made.bothClocks(9);
    await made.passes();
    expect(lines()).toBe(2 * times);
  }
  expect(await listOpenProblems(made.store)).toEqual([]);
});

test("a new administrator is notified of an open problem", async () => {
  const made = await machine();
  const { json } = await made.theirs.api("POST", "/api/v1/alert-channels", {
    body: {
      type: "webhook",
      name: "Theirs",
      url: `http://127.0.0.1:${getFreePort()}/`,
      default: true,
    },
  });
  made.world.disk = { free: 0, total: 100 * GB };
  await made.passes();
  const deliveries = async () =>
    (await made.theirs.api("GET", `/api/v1/alert-channels/${json.data.id}/deliveries`)).json.data;
  expect(await deliveries()).toEqual([]);
  await createPerson(made, made.theirs.id, "owner", { administrator: true });
  await made.passes();
  expect(await deliveries()).toMatchObject([{ type: "appliance.troubled" }]);
});
