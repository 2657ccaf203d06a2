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
async function setUpMachine(settings: Parameters<typeof createPager>[0] = {}) {
  const pager = await createPager(settings);
  const { appliance, store, time, later } = pager;
  const { page } = await signInMember(pager, "owner", { administrator: true });
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
  function advanceClocks(seconds: number) {
    world.monotonic += seconds * 1000;
    time.now += seconds * 1000;
  }
  return {
    ...pager,
    page,
    world,
    advanceClocks,
    looks: () => watch.runOnce(),
    /** Advances the clock of a healthy machine: problems are found, reported and delivered. */
    passes: async (seconds = 10) => {
      for (let elapsed = 0; elapsed < seconds; elapsed += 5) {
        advanceClocks(5);
        await watch.runOnce();
        await later(0);
      }
    },
    /** Restarts the appliance after `afterSeconds`. */
    restarts: async (afterSeconds = 0) => {
      advanceClocks(afterSeconds);
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

type Machine = Awaited<ReturnType<typeof setUpMachine>>;

/** How each problem starts and ends; `name` is its title on the page. */
const causes: {
  name: keyof typeof problemTitles;
  begins: (machine: Machine) => unknown;
  ends: (machine: Machine) => unknown;
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
    begins: ({ advanceClocks }) => advanceClocks(7),
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
    "unhandled",
  ]);
});

test("an unreachable person on call and an unacknowledged drill are problems of their organization alone", async () => {
  const world = await setUpMachine();
  const { inbox, passes, restarts, page, problems, theirs } = world;
  await using hook = await inbox({ default: true });
  // Their organization has no administrator of the appliance.
  await using ada = await createPersonWithPhone({ ...world, ours: theirs }, "Ada");
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
    const world = await setUpMachine();
    const { inbox, passes, restarts, problems } = world;
    await using hook = await inbox({ default: true });
    await using other = await inbox();
    await passes();
    expect([hook.alerts(), await problems()]).toEqual([[], []]);

    await begins(world);
    await passes();
    expect(hook.alerts()).toMatchObject([{ type: "appliance.troubled", data: { problem: name } }]);
    expect(await problems()).toEqual([name]);
    await passes();
    await restarts();
    await passes();
    expect(hook.alerts()).toHaveLength(1);

    await ends(world);
    await passes();
    await restarts();
    await passes();
    expect(hook.alerts().slice(1)).toMatchObject([
      { type: "appliance.recovered", data: { problem: name } },
    ]);
    expect([await problems(), other.asked]).toEqual([[], []]);
    expect((await world.theirs.api("GET", "/api/v1/alerts")).json.data).toEqual([]);
  });

  test("is one case of a pager from start to end", async () => {
    const services = createCaseServices();
    const world = await setUpMachine({ exchange: services.exchange });
    await world.channel({ type: "pagerduty", routingKey: "r".repeat(32), default: true });
    await world.channel({ type: "opsgenie", apiKey: "key", default: true });
    await begins(world);
    await world.passes();
    for (const service of ["pagerduty", "opsgenie"] as const)
      expect(services.open(service)).toEqual([expect.stringContaining(problemTitles[name].start)]);
    await ends(world);
    await world.passes();
    for (const service of ["pagerduty", "opsgenie"] as const)
      expect(services.open(service)).toEqual([]);
  });
});

test("a channel that fails when a problem starts and ends gets both once it works again", async () => {
  const world = await setUpMachine();
  await using hook = await world.inbox({ default: true }, replyWith(500));
  world.world.disk = { free: 0, total: 100 * GB };
  await world.passes();
  world.world.disk = { free: 50 * GB, total: 100 * GB };
  await world.passes();
  hook.setReply(replyWith());
  world.advanceClocks(900);
  await world.deliverTwiceAfter(60);
  expect([...new Set(hook.alerts().map(({ type }) => type))]).toEqual([
    "appliance.troubled",
    "appliance.recovered",
  ]);
});

test("a disk that fluctuates around the threshold does not start and end its problem each time", async () => {
  const world = await setUpMachine();
  await using hook = await world.inbox({ default: true });
  for (const free of [0.99, 1.01, 0.98, 1.19, 0.99]) {
    world.world.disk = { free: free * GB, total: 10 * GB };
    await world.passes(5);
    await world.restarts();
  }
  await world.passes();
  expect(hook.alerts()).toHaveLength(1);
});

test("a certificate is reported 14, 7 and 1 days before it expires, when it expires, and when it is renewed", async () => {
  const world = await setUpMachine();
  await using hook = await world.inbox({ default: true });
  world.world.certificateExpiresAt = world.time.now + 15 * day * 1000;
  await world.restarts();
  for (let days = 0; days < 17; days++) {
    await world.restarts(day);
    await world.passes();
  }
  expect(hook.alerts().map(({ data }) => data.severity)).toEqual([
    "warning",
    "warning",
    "error",
    "critical",
  ]);
  expect(await listOpenProblems(world.store)).toMatchObject([{ name: "certificate", stage: "0" }]);
  world.world.certificateExpiresAt = world.time.now + 90 * day * 1000;
  await world.passes();
  expect(hook.alerts().slice(4)).toMatchObject([{ type: "appliance.recovered" }]);
});

test("a slow follower is not stuck", async () => {
  const world = await setUpMachine();
  await using hook = await world.inbox({ default: true });
  const first = (await findLastSeq(world.store)) - 1;
  for (let minutes = 0; minutes < 12; minutes++) {
    await world.api("POST", "/api/v1/incidents", { body: { title: "One more" } });
    world.world.reached = first + minutes;
    await world.passes(60);
  }
  expect(hook.alerts().filter(({ type }) => type === "appliance.troubled")).toEqual([]);
});

test("on a full disk the log reports the problem at once, and the alert follows once there is space", async () => {
  const world = await setUpMachine();
  await using hook = await world.inbox({ default: true });
  const frees = world.fillsUp();
  world.world.disk = { free: 0, total: 100 * GB };
  await world.looks();
  const log = world.logged.join("");
  expect(log).toMatch(
    /error the appliance has a problem problem="disk" reason="The disk .* 0 bytes left/,
  );
  expect(log).toContain("no alert reports them yet");
  frees();
  await world.passes();
  expect(hook.alerts()).toMatchObject([{ data: { problem: "disk" } }]);
});

test("checks that can't be judged because the appliance was suspended are no second problem", async () => {
  const world = await setUpMachine();
  await using hook = await world.inbox({ default: true });
  const shop = await world.createSite({ interval: 3_600 });
  shop.setReply(() => {});
  await using _ = shop;
  const checking = world.api("POST", `/api/v1/monitors/${shop.id}/check`);
  await shop.waitUntilRequested(1);
  world.advanceClocks(9);
  await world.looks();
  shop.release(replyWith(500));
  expect((await checking).json.data.status).toBe("unknown");
  await world.passes();
  expect(hook.alerts()).toMatchObject([{ type: "appliance.troubled", data: { problem: "loop" } }]);
});

test("without an administrator only the log reports problems, once each", async () => {
  const setUp = await setUpMachine();
  setUp.database.run("UPDATE people SET administrator = 0");
  const buildLines = () =>
    setUp.logged.filter((line) => line.startsWith("{") && line.includes("has a problem")).length;
  const world = setUp.world;
  for (const times of [1, 2]) {
    world.disk = { free: 0, total: 100 * GB };
    await setUp.passes();
    expect(buildLines()).toBe(2 * times - 1);
    world.disk = { free: 50 * GB, total: 100 * GB };
    setUp.advanceClocks(9);
    await setUp.passes();
    expect(buildLines()).toBe(2 * times);
  }
  expect(await listOpenProblems(setUp.store)).toEqual([]);
});

test("a new administrator is notified of an open problem", async () => {
  const world = await setUpMachine();
  const { json } = await world.theirs.api("POST", "/api/v1/alert-channels", {
    body: {
      type: "webhook",
      name: "Theirs",
      url: `http://127.0.0.1:${getFreePort()}/`,
      default: true,
    },
  });
  world.world.disk = { free: 0, total: 100 * GB };
  await world.passes();
  const readDeliveries = async () =>
    (await world.theirs.api("GET", `/api/v1/alert-channels/${json.data.id}/deliveries`)).json.data;
  expect(await readDeliveries()).toEqual([]);
  await createPerson(world, world.theirs.id, "owner", { administrator: true });
  await world.passes();
  expect(await readDeliveries()).toMatchObject([{ type: "appliance.troubled" }]);
});
