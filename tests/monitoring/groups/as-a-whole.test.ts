import { describe, expect, test } from "bun:test";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { createSampleRecord } from "../../support/records.ts";
import { signInMember } from "../../support/people.ts";

const path = "/dashboard/monitor-groups";
const past = { pause: "paused", resume: "resumed", mute: "muted", unmute: "unmuted" };

async function setUp() {
  const dashboard = await createDashboard();
  return { ...dashboard, page: (await signInMember(dashboard, "member")).page };
}

describe("pausing and muting a group", () => {
  for (const [on, off, flag] of [
    ["pause", "resume", "paused"],
    ["mute", "unmute", "muted"],
  ] as const)
    test(`${on} and ${off} change ${flag} in the REST API, each with an audit row and an event`, async () => {
      const { page, group, readGroupById, readEtag, isStale, database } = await setUp();
      const { id } = await group();
      for (const [verb, value] of [
        [on, true] as const,
        [on, true] as const,
        [off, false] as const,
      ]) {
        const etag = await readEtag(`/api/v1/monitor-groups/${id}`);
        const { status, json } = await page("POST", `${path}/${id}/${verb}`);
        expect([status, json.data[flag]]).toEqual([200, value]);
        expect(await readGroupById(id)).toEqual(json.data);
        expect(await isStale(`/api/v1/monitor-groups/${id}`, etag)).toBe(true);
      }
      const messages = ["group.created", ...[on, on, off].map((verb) => `group.${past[verb]}`)];
      for (const [table, column] of [
        ["events", "type"],
        ["audit_entries", "action"],
      ])
        expect(
          database
            .query(`SELECT ${column} FROM ${table} WHERE subject_id = ? ORDER BY seq`)
            .values(id)
            .flat(),
        ).toEqual(messages);
    });

  test("pausing marks its monitors as paused, and resuming marks them as pending", async () => {
    const { page, group, monitor, readMonitor, time, database, api } = await setUp();
    const [one, own] = [await monitor(), await monitor({ paused: true })];
    const { id } = await group({ monitorIds: [one.id, own.id] });
    database.run("UPDATE monitor_states SET status = 'down', failures = 3");
    const paused = await readMonitor(own.id);
    time.now += 1_000;
    await page("POST", `${path}/${id}/pause`);
    const at = new Date(time.now).toISOString();
    expect(await readMonitor(one.id)).toMatchObject({
      status: "paused",
      statusSince: at,
      paused: false,
    });
    expect((await api("GET", "/api/v1/monitors?status=paused")).json.meta.total).toBe(2);
    time.now += 1_000;
    await page("POST", `${path}/${id}/resume`);
    const later = new Date(time.now).toISOString();
    expect(await readMonitor(one.id)).toMatchObject({ status: "pending", statusSince: later });
    expect(await readMonitor(own.id)).toEqual(paused);
  });

  test("a group of another organization, or an unknown group, is not found", async () => {
    const world = await setUp();
    const id = await createSampleRecord(world.theirs.api, "monitor-groups");
    const before = dumpTables(world);
    for (const verb of ["pause", "resume", "mute", "unmute"])
      for (const unknown of [id, unknownId, "x"])
        expect((await world.page("POST", `${path}/${unknown}/${verb}`)).status).toBe(404);
    expect(dumpTables(world)).toBe(before);
  });
});

/** Ways for a monitor to leave a paused group. */
const waysOut = {
  "its own groupId": ({ changeMonitor }, id) => changeMonitor(id, { groupId: null }),
  "another group": ({ group }, id) => group({ monitorIds: [id] }),
  "the group's list": ({ changeGroup }, _id, groupId) => changeGroup(groupId, { monitorIds: [] }),
  "the group's deletion": ({ api }, _id, groupId) =>
    api("DELETE", `/api/v1/monitor-groups/${groupId}`),
  "the order of the ungrouped list": ({ page }, id) =>
    page("PUT", "/dashboard/monitors/order", { body: { groupId: null, monitorIds: [id] } }),
  "a bulk change": ({ page }, id) => {
    const body = { monitorIds: [id], change: { groupId: null } };
    return page("POST", "/dashboard/api/v1/monitors/bulk", { body });
  },
} satisfies Record<
  string,
  (world: Awaited<ReturnType<typeof setUp>>, id: string, groupId: string) => Promise<unknown>
>;

for (const [way, leave] of Object.entries(waysOut))
  test(`a monitor that leaves a paused group by ${way} is pending, and discards the running check`, async () => {
    const world = await setUp();
    const { id } = await world.monitor();
    const { id: groupId } = await world.group({ monitorIds: [id] });
    await world.pauseGroup(groupId, true);
    const readEpoch = () =>
      world.database.query("SELECT epoch FROM monitor_states").values().flat()[0];
    const before = readEpoch();
    world.time.now += 1_000;
    await leave(world, id, groupId);
    const since = new Date(world.time.now).toISOString();
    expect(await world.readMonitor(id)).toMatchObject({ status: "pending", statusSince: since });
    expect(readEpoch()).toBe(Number(before) + 1);
  });

test("a monitor that moves between two paused groups stays paused and otherwise unchanged", async () => {
  const { group, monitor, readMonitor, changeMonitor, pauseGroup, time } = await setUp();
  const { id } = await monitor();
  const [from, to] = [await group({ monitorIds: [id] }), await group()];
  await pauseGroup(from.id, true);
  await pauseGroup(to.id, true);
  const { statusSince } = await readMonitor(id);
  time.now += 1_000;
  await changeMonitor(id, { groupId: to.id });
  expect(await readMonitor(id)).toMatchObject({ status: "paused", statusSince, groupId: to.id });
});

describe("the dashboard order", () => {
  const readList = async ({ api }: Awaited<ReturnType<typeof setUp>>) =>
    (await api("GET", "/api/v1/monitor-groups")).json.data.map(({ id }: { id: string }) => id);

  test("is the last one set, also in the REST API", async () => {
    const world = await setUp();
    const [a, b, c] = [
      (await world.group()).id,
      (await world.group()).id,
      (await world.group()).id,
    ];
    const put = (groupIds: string[]) => world.page("PUT", `${path}/order`, { body: { groupIds } });
    expect((await put([c, a, b])).json.data).toEqual({ groupIds: [c, a, b] });
    expect(await readList(world)).toEqual([c, a, b]);
    const d = (await world.group()).id;
    expect(await readList(world)).toEqual([c, a, b, d]);
    const orders = [
      [a, b, c, d],
      [d, c, b, a],
    ];
    await Promise.all(orders.map(put));
    expect(orders).toContainEqual(await readList(world));
  });

  test("must contain every group of the organization and no other", async () => {
    const world = await setUp();
    const [a, b] = [(await world.group()).id, (await world.group()).id];
    const theirs = await createSampleRecord(world.theirs.api, "monitor-groups");
    const before = dumpTables(world);
    const put = async (groupIds: unknown) =>
      (await world.page("PUT", `${path}/order`, { body: { groupIds } })).status;
    expect(await put([a])).toBe(409);
    expect(await put([])).toBe(409);
    for (const unknown of [theirs, unknownId]) expect(await put([a, b, unknown])).toBe(404);
    expect(await put(["x"])).toBe(422);
    expect(dumpTables(world)).toBe(before);
  });
});
