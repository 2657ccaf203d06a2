/** No list of channels shows a contact method, and no field accepts one. Generated from all routes. */
import { expect, test } from "bun:test";
import { exportConfiguration } from "../../../src/configuration/export-service.ts";
import type { Route } from "../../../src/http/openapi.ts";
import { unknownId } from "../../support/appliance.ts";
import { crawlRoutes, readRoutes } from "../../support/crawler.ts";
import { createPager } from "../../support/pager.ts";
import { createPerson, signInMember } from "../../support/people.ts";
import { createSampleRecord, fillIds, nounOf, sampleBodies } from "../../support/records.ts";
import { api as apiTable, dashboard } from "../../support/routes.ts";

const name = "Canary phone";

async function setUp() {
  const world = await createPager();
  const { api, ours, database } = world;
  const person = await createPerson(world, ours.id, "member", { name: "Ada" });
  const body = { type: "email", name, personId: person.id, to: ["canary@team.example"] };
  const { status, json } = await api("POST", "/api/v1/contact-methods", { body });
  expect(status).toBe(201);
  const id: string = json.data.id;
  database.run("UPDATE alert_channels SET verified_at = updated_at, last_error = 'Failed.'");
  const ids: Record<string, string> = {};
  for (const noun of Object.keys(sampleBodies)) ids[noun] = await createSampleRecord(api, noun);
  return { ...world, person, id, ids };
}

/** Routes that show contact methods on purpose: to their owner, to admins and keys, and in the log of changes. */
const showing = ["/contact-methods", "/audit-log"];

test("no other route than these shows a contact method", async () => {
  const world = await setUp();
  const { api, id, ids } = world;
  const owner = await signInMember(world, "owner", { administrator: true });
  const all = [
    ...(await crawlRoutes(readRoutes.api, ids, api)),
    ...(await crawlRoutes(readRoutes.dashboard, ids, owner.page)),
  ];
  expect(all.length).toBeGreaterThan(100);
  const leaking = all.filter(
    ({ path, text }) =>
      (text.includes(id) || text.includes(name) || text.includes("canary@")) &&
      !showing.some((one) => path.includes(one)),
  );
  expect(leaking.map(({ path }) => path)).toEqual([]);
  const { document } = await exportConfiguration(world.ours.scope);
  expect(JSON.stringify(document)).not.toContain(name);
});

test("to every route below a channel, a contact method is like an unknown one", async () => {
  const world = await setUp();
  const owner = await signInMember(world, "owner");
  const routes = [
    ...(apiTable.routes as unknown as Route[]),
    ...(dashboard.routes as unknown as Route[]),
  ].filter(({ path }) => nounOf(path) === "alert-channels" && path.includes(":id"));
  expect(routes.length).toBeGreaterThan(8);
  for (const { method, path, hooks } of routes) {
    const by = path.startsWith("/dashboard") ? owner.page : world.api;
    const body = hooks.detail?.endpoint?.body === undefined ? {} : { body: { name: "X" } };
    for (const at of [world.id, unknownId]) {
      const { status } = await by(method, fillIds(path, at), body);
      expect([method, path, status]).toEqual([method, path, 404]);
    }
  }
});

test("no field accepts a contact method as a channel", async () => {
  const world = await setUp();
  const { api, id, ids } = world;
  const owner = await signInMember(world, "owner");
  const steps = [{ afterMinutes: 0, targets: [{ type: "channel", id }] }];
  const list = { alertChannelIds: [id] };
  const bulk = { monitorIds: [ids["monitors"]], change: { addAlertChannelIds: [id] } };
  const responses = [
    await api("POST", "/api/v1/monitors", { body: { type: "push", name: "X", ...list } }),
    await api("PATCH", `/api/v1/monitors/${ids["monitors"]}`, { body: list }),
    await api("POST", "/api/v1/monitor-groups", { body: { name: "X", ...list } }),
    await api("PATCH", `/api/v1/monitor-groups/${ids["monitor-groups"]}`, { body: list }),
    await api("POST", "/api/v1/escalation-policies", { body: { name: "X", steps } }),
    await owner.page("POST", "/dashboard/api/v1/monitors/bulk", { body: bulk }),
  ];
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404));
});

test("every field of a body that names channels is in the test above", () => {
  const fields = new Set<string>();
  const collect = (value: unknown) => {
    for (const [key, inner] of Object.entries(value ?? {}))
      if (/channelIds?$/i.test(key)) fields.add(key);
      else if (typeof inner === "object") collect(inner);
  };
  for (const { hooks } of dashboard.routes as unknown as Route[]) {
    const schema = hooks.detail?.endpoint?.body;
    if (schema !== undefined) collect(schema.toJSONSchema({ io: "input", unrepresentable: "any" }));
  }
  expect([...fields].toSorted()).toEqual([
    "addAlertChannelIds",
    "alertChannelIds",
    "removeAlertChannelIds",
  ]);
});

test("incidents, problems of the appliance and failing channels notify no contact method", async () => {
  const world = await setUp();
  const { api, id, person, later, database, ours, store, time } = world;
  await using hook = await world.inbox({ name: "Hook", default: false });
  const at = new Date(time.now).toISOString();
  for (const [type, data] of [
    ["appliance.troubled", { problem: "disk", severity: "critical", message: "The disk is full." }],
    ["channel.failed", { message: "The receiver rejected it." }],
  ] as const)
    await store.atomic([
      {
        text: "insert into events (organization_id, at, type, subject_id, data) values (?, ?, ?, ?, ?)",
        parameters: [
          ours.id,
          at,
          type,
          type === "channel.failed" ? id : "disk",
          JSON.stringify(data),
        ],
      },
    ]);
  await api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  await later();
  await later(60);
  const receivers = database.query("SELECT DISTINCT receiver_id FROM deliveries").values().flat();
  expect(receivers).not.toContain(id);
  expect(receivers).toContain(hook.id);
  const message = hook.alerts().find(({ type }) => type === "channel.failed");
  expect(message?.data).toMatchObject({ channel: { id, name: `${person.name}: ${name}` } });
  const preview = await api("GET", `/api/v1/monitors/${world.ids["monitors"]}/alert-preview`);
  expect(preview.text).not.toContain(id);
});
