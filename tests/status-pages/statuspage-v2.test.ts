import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { v2Names } from "../../src/status-pages/statuspage-v2.ts";
import { listed, type Visitor, visitor } from "../support/visitor.ts";

// The shapes that https://metastatuspage.com/api publishes; what clients know beyond them is in
// answers of pages that Statuspage runs: time_zone, groups, started_at, affected_components.

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

const component = z.object({
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
  created_at: time,
  updated_at: time,
});

const updateOf = (statuses: z.ZodEnum) =>
  z.object({
    id: z.string(),
    incident_id: z.string(),
    status: statuses,
    body: z.string().min(1),
    created_at: time,
    updated_at: time,
    display_at: time,
    affected_components: z.array(z.object({ code: z.string(), name: z.string() })).nullable(),
    deliver_notifications: z.boolean(),
  });

const incidentStatus = z.enum([
  "investigating",
  "identified",
  "monitoring",
  "resolved",
  "postmortem",
]);
const incident = z.object({
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
  components: z.array(z.object({ id: z.string(), name: z.string() })),
});

const maintenanceStatus = z.enum(["scheduled", "in_progress", "verifying", "completed"]);
const maintenance = z.object({
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
const shapes: Record<(typeof v2Names)[number], z.ZodType<any>> = {
  summary: z.strictObject({ page, status, components, incidents, scheduled_maintenances }),
  status: z.strictObject({ page, status }),
  components: z.strictObject({ page, components }),
  incidents: z.strictObject({ page, incidents }),
  "incidents/unresolved": z.strictObject({ page, incidents }),
  "scheduled-maintenances": z.strictObject({ page, scheduled_maintenances }),
};

async function v2({ read }: Visitor, name: keyof typeof shapes, slug = "ours") {
  const { type, headers, json } = await read(`/status/${slug}/api/v2/${name}.json`);
  expect([type, headers.get("access-control-allow-origin")]).toEqual(["application/json", "*"]);
  return shapes[name].parse(json());
}

/** A page of two sections with an outage, an open incident and one that is over. */
async function story() {
  const made = await visitor();
  const { incident, job, post, monitor, publish, time: clock } = made;
  const [up, down] = [await job({ name: "Up" }), await job({ name: "Down" })];
  const paused = await monitor({ paused: true });
  await up.report();
  await down.report({ status: "down" });
  await publish({
    sections: [listed("Jobs", up.id, [down.id, "Orders"]), listed("Net", paused.id)],
  });
  const over = await incident({ title: "Over" });
  clock.now += 60_000;
  await post(over.id, { status: "monitoring" });
  clock.now += 60_000;
  await post(over.id, { status: "resolved" });
  const open = await incident({ title: "Open", severity: "critical", monitorId: down.id });
  await made.restart();
  return { ...made, up, down, paused, over, open };
}

test("every document has its published shape, on a page with everything and on an empty one", async () => {
  await using made = await story();
  for (const name of v2Names) await v2(made, name);
  for (const name of v2Names) await v2(made, name, "theirs");
});

describe("components", () => {
  test("are the sections as groups and their monitors in them", async () => {
    await using made = await story();
    const { up, down, paused } = made;
    const { components: all } = await v2(made, "components");
    expect(
      all.map(({ name, status, group, group_id, position }: any) => [
        name,
        status,
        group,
        group_id,
        position,
      ]),
    ).toEqual([
      ["Jobs", "major_outage", true, null, 1],
      ["Up", "operational", false, all[0].id, 1],
      ["Orders", "major_outage", false, all[0].id, 2],
      ["Net", "operational", true, null, 2],
      ["Router", "operational", false, all[3].id, 1],
    ]);
    expect([all[0].components, all[3].components]).toEqual([[up.id, down.id], [paused.id]]);
    expect(new Set(all.map(({ id }: any) => id)).size).toBe(all.length);
    const { page: head } = await v2(made, "status");
    for (const one of all) expect(one.page_id).toBe(head.id);
  });
});

describe("incidents", () => {
  test("are all of them or those that are open, newest first, with what they affect", async () => {
    await using made = await story();
    const { down, open, over } = made;
    const ids = async (name: "incidents" | "incidents/unresolved" | "summary") =>
      (await v2(made, name)).incidents.map(({ id }: any) => id);
    expect(await ids("incidents")).toEqual([open.id, over.id]);
    expect(await ids("incidents/unresolved")).toEqual([open.id]);
    expect(await ids("summary")).toEqual([open.id]);
    const [first, second] = (await v2(made, "incidents")).incidents;
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
    await using made = await visitor();
    for (let count = 0; count < 51; count++) {
      made.time.now += 1_000;
      await made.incident({ title: `Number ${count}` });
    }
    const { incidents: all } = await v2(made, "incidents");
    expect([all.length, all[0].name, all[49].name]).toEqual([50, "Number 50", "Number 1"]);
  });
});

test("the indicator says what the headline says", async () => {
  const states = { none: ["up"], minor: ["up", "slow"], major: ["up", "down"] };
  for (const [indicator, all] of Object.entries(states)) {
    await using made = await visitor();
    const jobs = [];
    for (const state of all) {
      const job = await made.job({ name: state, degradedAfterMs: 500 });
      await job.report(state === "slow" ? { latency_ms: "900" } : { status: state });
      jobs.push(job.id);
    }
    await made.publish({ sections: [listed("Jobs", ...jobs)] });
    const { status: said } = await v2(made, "status");
    const { headline } = (await made.read("/status/ours.json")).json();
    expect(said).toEqual({ indicator, description: headline });
  }
});
