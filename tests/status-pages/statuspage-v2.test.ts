import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { v2Names } from "../../src/status-pages/formats/statuspage-v2.ts";
import { buildSection, type Visitor, createVisitor } from "../support/visitor.ts";
import type { Json } from "../support/json.ts";

// The shapes are published at https://metastatuspage.com/api. Pages on Statuspage also have
// time_zone, groups, started_at and affected_components.

const time = z.iso.datetime({ offset: true });
const page = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  url: z.url(),
  time_zone: z.string(),
  updated_at: time,
});

const status = z.object({
  indicator: z.enum(["none", "minor", "major", "critical", "maintenance"]),
  description: z.string().min(1),
});

// The objects are strict: a missing or an unknown field fails.
const component = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  status: z.enum([
    "operational",
    "degraded_performance",
    "partial_outage",
    "major_outage",
    "under_maintenance",
  ]),
  description: z.string().nullable(),
  position: z.int().min(1),
  page_id: z.string(),
  group_id: z.string().nullable(),
  group: z.boolean(),
  components: z.array(z.string()).optional(),
  only_show_if_degraded: z.boolean(),
  showcase: z.boolean(),
  start_date: z.string().nullable(),
  /** Not in Statuspage's API. */
  not_judged_since: time.nullable().optional(),
  created_at: time,
  updated_at: time,
});

const updateOf = (statuses: z.ZodEnum) =>
  z.strictObject({
    id: z.string(),
    incident_id: z.string(),
    status: statuses,
    body: z.string().min(1),
    created_at: time,
    updated_at: time,
    display_at: time,
    affected_components: z
      .array(
        z.strictObject({
          code: z.string(),
          name: z.string(),
          old_status: component.shape.status.nullable(),
          new_status: component.shape.status.nullable(),
        }),
      )
      .min(1)
      .nullable(),
    deliver_notifications: z.boolean(),
    custom_tweet: z.null(),
    tweet_id: z.null(),
  });

const incidentStatus = z.enum([
  "investigating",
  "identified",
  "monitoring",
  "resolved",
  "postmortem",
]);
const incident = z.strictObject({
  id: z.string(),
  name: z.string().min(1),
  status: incidentStatus,
  impact: z.enum(["none", "minor", "major", "critical"]),
  page_id: z.string(),
  shortlink: z.url(),
  created_at: time,
  started_at: time,
  updated_at: time,
  monitoring_at: time.nullable(),
  resolved_at: time.nullable(),
  incident_updates: z.array(updateOf(incidentStatus)).min(1),
  components: z.array(component),
  reminder_intervals: z.null(),
});

const maintenanceStatus = z.enum(["scheduled", "in_progress", "verifying", "completed"]);
const maintenance = z.strictObject({
  ...incident.shape,
  status: maintenanceStatus,
  impact: z.enum(["none", "minor", "major", "critical", "maintenance"]),
  incident_updates: z.array(updateOf(maintenanceStatus)),
  scheduled_for: time,
  scheduled_until: time,
});

const incidents = z.array(incident);
const scheduled_maintenances = z.array(maintenance);
const components = z.array(component);
const shapes: Record<(typeof v2Names)[number], z.ZodType<Json>> = {
  summary: z.strictObject({ page, status, components, incidents, scheduled_maintenances }),
  status: z.strictObject({ page, status }),
  components: z.strictObject({ page, components }),
  incidents: z.strictObject({ page, incidents }),
  "incidents/unresolved": z.strictObject({ page, incidents }),
  "scheduled-maintenances": z.strictObject({ page, scheduled_maintenances }),
  "scheduled-maintenances/upcoming": z.strictObject({ page, scheduled_maintenances }),
  "scheduled-maintenances/active": z.strictObject({ page, scheduled_maintenances }),
};

async function readV2({ readHtml }: Visitor, name: keyof typeof shapes, slug = "ours") {
  const { type, headers, json } = await readHtml(`/status/${slug}/api/v2/${name}.json`);
  expect([type, headers.get("access-control-allow-origin")]).toEqual(["application/json", "*"]);
  return shapes[name].parse(json());
}

/** A page of two sections with an outage, an open incident and a resolved one. */
async function setUpStory() {
  const visitor = await createVisitor();
  const { createIncident, createJob, postUpdate, monitor, publish, time: clock } = visitor;
  const [up, down] = [await createJob({ name: "Up" }), await createJob({ name: "Down" })];
  const paused = await monitor({ paused: true });
  await up.report();
  await down.report({ status: "down" });
  await publish({
    sections: [buildSection("Jobs", up.id, [down.id, "Orders"]), buildSection("Net", paused.id)],
  });
  const resolved = await createIncident({ title: "Over" });
  clock.now += 60_000;
  await postUpdate(resolved.id, { status: "monitoring" });
  clock.now += 60_000;
  await postUpdate(resolved.id, { status: "resolved" });
  const open = await createIncident({ title: "Open", severity: "critical", monitorId: down.id });
  await visitor.restart();
  return { ...visitor, up, down, paused, over: resolved, open };
}

test("every document has its published shape, on a full page and on an empty one", async () => {
  await using world = await setUpStory();
  for (const name of v2Names) await readV2(world, name);
  for (const name of v2Names) await readV2(world, name, "theirs");
});

describe("components", () => {
  test("are the sections as groups, and their monitors", async () => {
    await using world = await setUpStory();
    const { up, down, paused } = world;
    const { components: all } = await readV2(world, "components");
    expect(
      all.map(
        ({
          name,
          status,
          group,
          group_id,
          position,
        }: {
          name: string;
          status: string;
          group: unknown;
          group_id: unknown;
          position: unknown;
        }) => [name, status, group, group_id, position],
      ),
    ).toEqual([
      ["Jobs", "partial_outage", true, null, 1],
      ["Up", "operational", false, all[0].id, 1],
      ["Orders", "major_outage", false, all[0].id, 2],
      ["Net", "operational", true, null, 2],
      ["Router", "operational", false, all[3].id, 1],
    ]);
    expect([all[0].components, all[3].components]).toEqual([[up.id, down.id], [paused.id]]);
    expect(new Set(all.map(({ id }: { id: string }) => id)).size).toBe(all.length);
    const { page: head } = await readV2(world, "status");
    for (const one of all) expect(one.page_id).toBe(head.id);
  });
});

describe("incidents", () => {
  test("are all or only the open ones, newest first, with their affected components", async () => {
    await using world = await setUpStory();
    const { down, open, over } = world;
    const readIds = async (name: "incidents" | "incidents/unresolved" | "summary") =>
      (await readV2(world, name)).incidents.map(({ id }: { id: string }) => id);
    expect(await readIds("incidents")).toEqual([open.id, over.id]);
    expect(await readIds("incidents/unresolved")).toEqual([open.id]);
    expect(await readIds("summary")).toEqual([open.id]);
    const [first, second] = (await readV2(world, "incidents")).incidents;
    expect(first).toMatchObject({
      impact: "critical",
      resolved_at: null,
      components: [{ id: down.id, name: "Orders" }],
      shortlink: `http://signalbox.lan:3210/status/ours/incidents/${open.id}`,
    });
    expect(second).toMatchObject({
      status: "resolved",
      monitoring_at: "2026-11-20T10:01:00.000Z",
      resolved_at: "2026-11-20T10:02:00.000Z",
      incident_updates: [
        { status: "resolved" },
        { status: "monitoring" },
        { status: "investigating" },
      ],
      components: [],
    });
  });

  test("are the newest 50", async () => {
    await using visitor = await createVisitor();
    for (let count = 0; count < 51; count++) {
      visitor.time.now += 1_000;
      await visitor.createIncident({ title: `Number ${count}` });
    }
    const { incidents: all } = await readV2(visitor, "incidents");
    expect([all.length, all[0].name, all[49].name]).toEqual([50, "Number 50", "Number 1"]);
  });
});

describe("the indicator", () => {
  type Case = { jobs: string[]; incident?: string; work?: boolean; is: string; says: string };
  const [none, degraded, minor] = [
    "All Systems Operational",
    "Partially Degraded Service",
    "Minor Service Outage",
  ];
  const [major, critical] = ["Partial System Outage", "Major Service Outage"];
  const cases: Case[] = [
    { jobs: [], is: "none", says: none },
    { jobs: ["up", "paused"], is: "none", says: none },
    { jobs: ["up"], work: true, is: "maintenance", says: "Service Under Maintenance" },
    { jobs: ["up", "slow"], work: true, is: "minor", says: degraded },
    { jobs: ["up", "slow"], incident: "minor", is: "minor", says: minor },
    { jobs: ["up"], incident: "minor", is: "minor", says: minor },
    { jobs: ["up"], incident: "major", is: "major", says: major },
    { jobs: ["up", "slow"], incident: "critical", is: "critical", says: critical },
    { jobs: ["up", "down"], is: "major", says: major },
    { jobs: ["up", "down"], incident: "minor", is: "major", says: major },
    { jobs: ["down", "paused"], incident: "minor", is: "critical", says: critical },
  ];
  for (const { jobs, incident, work, is, says } of cases)
    test(`is ${is} with ${JSON.stringify({ jobs, incident, work })}`, async () => {
      await using visitor = await createVisitor();
      const ids = [];
      for (const state of jobs) {
        const fields = { name: state, degradedAfterMs: 500, paused: state === "paused" };
        const job = await visitor.createJob(fields);
        if (state !== "paused")
          await job.report(state === "slow" ? { latency_ms: "900" } : { status: state });
        ids.push(job.id);
      }
      await visitor.publish({ sections: [buildSection("Jobs", ...ids)] });
      const { id } = await visitor.createIncident({ severity: "critical" });
      await visitor.postUpdate(id, { status: "resolved" });
      if (incident !== undefined) await visitor.createIncident({ severity: incident });
      if (work) await plan(visitor);
      const { status: text } = await readV2(visitor, "status");
      expect(text).toEqual({ indicator: is, description: says });
    });
});

/** Schedules maintenance that is running. */
async function plan({ api }: Visitor, fields: object = {}) {
  const body = {
    title: "Firmware",
    startsAt: "2026-11-20T09:00:00.000Z",
    endsAt: "2026-11-20T12:00:00.000Z",
    ...fields,
  };
  const { status, json } = await api("POST", "/api/v1/maintenance-windows", { body });
  expect(status).toBe(201);
  return json.data.id as string;
}

describe("scheduled maintenance", () => {
  const names = {
    all: "scheduled-maintenances",
    upcoming: "scheduled-maintenances/upcoming",
    active: "scheduled-maintenances/active",
    summary: "summary",
  } as const;

  async function summarize(visitor: Visitor) {
    await visitor.restart();
    const readMaintenance = async (name: keyof typeof names) =>
      (await readV2(visitor, names[name])).scheduled_maintenances.map(
        ({ name, status }: { name: string; status: string }) => [name, status],
      );
    return {
      all: await readMaintenance("all"),
      upcoming: await readMaintenance("upcoming"),
      active: await readMaintenance("active"),
      summary: await readMaintenance("summary"),
    };
  }

  test("is upcoming, active or completed; the summary leaves out completed maintenance", async () => {
    await using visitor = await createVisitor();
    await plan(visitor);
    const later = { startsAt: "2026-11-21T09:00:00.000Z", endsAt: "2026-11-21T12:00:00.000Z" };
    await plan(visitor, { title: "Disks", ...later });
    const [running, waiting] = [
      ["Firmware", "in_progress"],
      ["Disks", "scheduled"],
    ];
    expect(await summarize(visitor)).toEqual({
      all: [waiting, running],
      upcoming: [waiting],
      active: [running],
      summary: [running, waiting],
    });
    visitor.time.now += 3 * 3_600_000;
    expect(await summarize(visitor)).toEqual({
      all: [waiting, ["Firmware", "completed"]],
      upcoming: [waiting],
      active: [],
      summary: [waiting],
    });
    const [, over] = (await readV2(visitor, "scheduled-maintenances")).scheduled_maintenances;
    expect(over).toMatchObject({
      resolved_at: "2026-11-20T12:00:00.000Z",
      updated_at: "2026-11-20T12:00:00.000Z",
      incident_updates: [
        { status: "completed" },
        { status: "in_progress" },
        { status: "scheduled" },
      ],
    });
  });

  test("names the components that the page shows, from its monitors and groups", async () => {
    await using visitor = await createVisitor();
    const [shop, mail, other] = [
      await visitor.monitor(),
      await visitor.monitor(),
      await visitor.monitor(),
    ];
    const group = await visitor.group({ monitorIds: [mail.id, other.id] });
    await visitor.publish({
      sections: [buildSection("Shop", [shop.id, "Web shop"], [mail.id, "Mail"])],
    });
    await plan(visitor, { monitorIds: [shop.id], groupIds: [group.id] });
    const [one] = (await readV2(visitor, "scheduled-maintenances/active")).scheduled_maintenances;
    expect(one.components).toMatchObject([
      { id: shop.id, name: "Web shop" },
      { id: mail.id, name: "Mail" },
    ]);
    expect(JSON.stringify(one)).not.toContain(other.id);
  });

  test("names at most a hundred components, and a feed fifty of them", async () => {
    await using visitor = await createVisitor();
    const monitorIds: string[] = [];
    for (let count = 0; count < 120; count++) monitorIds.push((await visitor.monitor()).id);
    const { id: groupId } = await visitor.group({ monitorIds });
    await visitor.publish({ sections: [{ name: "All", groupId, monitors: [] }] });
    await plan(visitor, { groupIds: [groupId] });
    const [one] = (await readV2(visitor, "scheduled-maintenances/active")).scheduled_maintenances;
    expect(one.components.map(({ id }: { id: string }) => id)).toEqual(monitorIds.slice(0, 100));
    expect(one.incident_updates[0].affected_components).toHaveLength(100);
    expect((await visitor.readHtml("/status/ours/feed.rss")).text).toContain(", 70 more&lt;/p&gt;");
  });

  test("has a stable id per occurrence, as do its updates", async () => {
    await using visitor = await createVisitor();
    const id = await plan(visitor);
    const daily = await plan(visitor, { title: "Daily", rrule: "FREQ=DAILY" });
    const idsOf = async () => {
      await visitor.restart();
      const { scheduled_maintenances: all } = await readV2(visitor, "scheduled-maintenances");
      expect(new Set(all.map(({ id }: { id: string }) => id)).size).toBe(all.length);
      return new Map<string, Json>(
        all.map((one: Json) => [`${one.name} ${one.scheduled_for}`, one]),
      );
    };
    const before = await idsOf();
    expect(before.size).toBe(4);
    visitor.time.now += 86_400_000;
    const after = await idsOf();
    let stored = 0;
    for (const [key, one] of before) {
      const sameEntry = after.get(key);
      if (sameEntry === undefined) continue;
      stored++;
      expect(sameEntry.id).toBe(one.id);
      const updates = one.incident_updates.map(({ id }: { id: string }) => id);
      expect(
        sameEntry.incident_updates.map(({ id }: { id: string }) => id).slice(-updates.length),
      ).toEqual(updates);
    }
    expect(stored).toBe(4);
    expect([...after.values()].map((one) => one.id)).toContain(id);
    expect([...after.values()].map((one) => one.id)).not.toContain(daily);
  });
});

test("the page's update time is that of a change, not of a request", async () => {
  await using world = await setUpStory();
  const readUpdateTime = async () => {
    await world.restart();
    const all = await Promise.all(v2Names.map(async (name) => (await readV2(world, name)).page));
    const [first, ...others] = new Set(all.map(({ updated_at }) => updated_at));
    expect(others).toEqual([]);
    return first as string;
  };
  const applyChange = async (change: () => Promise<unknown>) => {
    world.time.now += 60_000;
    await change();
    const at = new Date(world.time.now).toISOString();
    expect(await readUpdateTime()).toBe(at);
    world.time.now += 86_400_000;
    expect(await readUpdateTime()).toBe(at);
  };
  await applyChange(() => world.postUpdate(world.open.id, { message: "Still." }));
  await applyChange(() => world.postUpdate(world.open.id, { severity: "minor" }));
  await applyChange(() => world.publish({ title: "Ours alone" }));
  await applyChange(() => world.down.report());
  const startsAt = new Date(world.time.now + 3_600_000).toISOString();
  const endsAt = new Date(world.time.now + 7_200_000).toISOString();
  await plan(world, { startsAt, endsAt });
  world.time.now += 86_400_000;
  expect(await readUpdateTime()).toBe(endsAt);
  world.time.now += 30 * 86_400_000;
  await world.postUpdate(world.open.id, { status: "resolved" });
  const at = await readUpdateTime();
  world.time.now += 30 * 86_400_000;
  expect(await readUpdateTime()).toBe(at);
  const { components: all } = await readV2(world, "components");
  expect(all.every(({ updated_at }: { updated_at: string }) => updated_at <= at)).toBe(true);
});

describe("what clients compare", () => {
  test("updates of an automatic incident have the old and new component status", async () => {
    await using visitor = await createVisitor();
    const job = await visitor.createJob({ name: "API", autoIncidentSeverity: "major" });
    await job.report();
    await visitor.publish({ sections: [buildSection("Jobs", job.id)] });
    visitor.time.now += 60_000;
    await job.report({ status: "down" });
    visitor.time.now += 60_000;
    await job.report();
    await visitor.restart();
    const [one] = (await readV2(visitor, "incidents")).incidents;
    const changes = one.incident_updates.map(({ affected_components: [{ ...change }] }: Json) => [
      change.code,
      change.old_status,
      change.new_status,
    ]);
    expect(changes).toEqual([
      [job.id, "major_outage", "operational"],
      [job.id, "operational", "major_outage"],
    ]);
    expect(one.components).toMatchObject([{ id: job.id, status: "operational", group: false }]);
  });

  test("manual updates leave component statuses unknown, and incidents without monitors have none", async () => {
    await using visitor = await createVisitor();
    const { id: monitorId } = await visitor.monitor({ name: "Shop" });
    await visitor.publish({ sections: [buildSection("All", monitorId)] });
    await visitor.createIncident({ title: "General" });
    await visitor.createIncident({ title: "Shop", monitorId });
    await visitor.restart();
    const [shop, general] = (await readV2(visitor, "incidents")).incidents;
    expect(general.incident_updates[0].affected_components).toBeNull();
    expect(shop.incident_updates[0].affected_components).toEqual([
      { code: monitorId, name: "Shop", old_status: null, new_status: null },
    ]);
  });

  test("a component has its own address, and one that the page does not show has none", async () => {
    await using world = await setUpStory();
    const { components: all } = await readV2(world, "components");
    for (const one of all) {
      const { status, json } = await world.readHtml(
        `/status/ours/api/v2/components/${one.id}.json`,
      );
      expect(status).toBe(200);
      expect(z.strictObject({ page, component }).parse(json()).component).toEqual(one);
    }
    const hidden = await world.monitor({ name: "Hidden" });
    for (const id of [hidden.id, Bun.randomUUIDv7(), "none"])
      expect((await world.get(`/status/ours/api/v2/components/${id}.json`)).status).toBe(404);
  });

  test("sections have stable ids in any order and next to any other sections", async () => {
    await using visitor = await createVisitor();
    const { api } = visitor;
    const [a, b] = [await visitor.monitor({ name: "A" }), await visitor.monitor({ name: "B" })];
    const group = await visitor.group({ name: "Group", monitorIds: [b.id] });
    const [one, two, three] = [
      buildSection("One", a.id),
      { groupId: group.id },
      buildSection("Three"),
    ];
    const { id } = await visitor.publish({ sections: [one, two, three] });
    const readIdsByName = async () => {
      await visitor.restart();
      const { components: all } = await readV2(visitor, "components");
      const groups = all.filter(({ group }: Json) => group);
      return Object.fromEntries(groups.map(({ name, id }: Json) => [name, id]));
    };
    const before = await readIdsByName();
    expect(new Set(Object.values(before)).size).toBe(3);
    for (const sections of [
      [three, one, two],
      [two, one],
    ]) {
      await api("PATCH", `/api/v1/status-pages/${id}`, { body: { sections } });
      expect(before).toMatchObject(await readIdsByName());
    }
  });

  test("each maintenance has its own link, to its position on the page", async () => {
    await using visitor = await createVisitor();
    await plan(visitor, { title: "One" });
    await plan(visitor, {
      title: "Two",
      startsAt: "2026-11-21T09:00:00.000Z",
      endsAt: "2026-11-21T10:00:00.000Z",
    });
    await visitor.restart();
    const { text } = await visitor.readHtml("/status/ours");
    const links = (await readV2(visitor, "scheduled-maintenances")).scheduled_maintenances.map(
      ({ shortlink }: Json) => shortlink,
    );
    expect(new Set(links).size).toBe(2);
    for (const link of links) expect(text).toContain(` id="${new URL(link).hash.slice(1)}"`);
  });

  test("feeds are also at Statuspage's paths", async () => {
    await using visitor = await createVisitor();
    await visitor.publish({ hosts: ["status.team.example"] });
    await visitor.createIncident();
    await visitor.restart();
    for (const type of ["rss", "atom"])
      for (const [path, host] of [
        ["/status/ours", "localhost"],
        ["", "status.team.example"],
      ]) {
        const ownFeed = await visitor.readHtml(`${path}/feed.${type}`, { host: host ?? "" });
        const theirs = await visitor.readHtml(`${path}/history.${type}`, { host: host ?? "" });
        expect([theirs.status, theirs.type, theirs.text]).toEqual([
          200,
          ownFeed.type,
          ownFeed.text,
        ]);
      }
  });
});
