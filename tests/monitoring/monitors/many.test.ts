import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expandOverview } from "../../../src/dashboard/rules.ts";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { copyMonitor, buildCopyId } from "../../support/many-monitors.ts";
import { createSampleRecord } from "../../support/records.ts";
import { signInMember } from "../../support/people.ts";

async function setUp(count = 3) {
  const dashboard = await createDashboard();
  const { page } = await signInMember(dashboard, "member");
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push((await dashboard.monitor()).id);
  return {
    ...dashboard,
    page,
    ids,
    order: (groupId: string | null, monitorIds: string[], headers = {}) =>
      page("PUT", "/dashboard/monitors/order", { body: { groupId, monitorIds }, headers }),
    bulk: (monitorIds: string[], change: object) =>
      page("POST", "/dashboard/api/v1/monitors/bulk", { body: { monitorIds, change } }),
    remove: (monitorIds: string[]) =>
      page("POST", "/dashboard/api/v1/monitors/bulk", { body: { monitorIds, delete: true } }),
    /** Ids in the order of the Monitors page. */
    shown: async (): Promise<string[]> =>
      expandOverview((await page("GET", "/dashboard/overview")).json.data).monitors.map(
        ({ id }) => id,
      ),
  };
}

describe("the order of monitors", () => {
  test("can be set for a group and for the ungrouped list", async () => {
    const { ids, order, shown, group, readGroupById } = await setUp(6);
    const [a, b, c, d, e, f] = ids as [string, string, string, string, string, string];
    const { id } = await group({ monitorIds: [a, b, c] });
    expect((await order(id, [c, a, b])).json.data).toEqual({ groupId: id, monitorIds: [c, a, b] });
    expect((await readGroupById(id)).monitorIds).toEqual([c, a, b]);
    await order(null, [f, d, e]);
    expect(await shown()).toEqual([c, a, b, f, d, e]);
  });

  test("adds monitors from other groups and changes the groups that they leave", async () => {
    const { ids, order, group, readGroupById, readMonitor, channel, readEtag, isStale } =
      await setUp();
    const [a, b, c] = ids as [string, string, string];
    const alertChannelIds = [(await channel()).id];
    const [from, to] = [
      await group({ monitorIds: [a] }),
      await group({ alertChannelIds, monitorIds: [b] }),
    ];
    const etag = await readEtag(`/api/v1/monitor-groups/${from.id}`);
    await order(to.id, [c, b, a]);
    expect((await readGroupById(to.id)).monitorIds).toEqual([c, b, a]);
    expect((await readGroupById(from.id)).monitorIds).toEqual([]);
    expect(await isStale(`/api/v1/monitor-groups/${from.id}`, etag)).toBe(true);
    for (const id of ids) expect((await readMonitor(id)).alertChannelIds).toEqual(alertChannelIds);
    await order(null, [b]);
    expect((await readGroupById(to.id)).monitorIds).toEqual([c, a]);
    expect(await readMonitor(b)).toMatchObject({ groupId: null, alertChannelIds });
  });

  test("puts new monitors, and monitors that leave a group, at the end of the ungrouped list", async () => {
    const { ids, order, shown, monitor, group, changeMonitor, changeGroup } = await setUp();
    const [a, b, c] = ids as [string, string, string];
    await order(null, [c, b, a]);
    const d = (await monitor()).id;
    expect(await shown()).toEqual([c, b, a, d]);
    const { id } = await group({ monitorIds: [b, c] });
    await changeMonitor(c, { groupId: null });
    expect(await shown()).toEqual([b, a, d, c]);
    await changeGroup(id, { monitorIds: [] });
    expect(await shown()).toEqual([a, d, c, b]);
  });

  test("is one of two orders that are set concurrently", async () => {
    const { ids, order, readGroupById, group } = await setUp(8);
    const { id } = await group({ monitorIds: ids });
    const orders = [ids.toReversed(), [...ids.slice(4), ...ids.slice(0, 4)]];
    const responses = await Promise.all(orders.map((one) => order(id, one)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(orders).toContainEqual((await readGroupById(id)).monitorIds);
  });

  test("must contain every monitor of the list, and none of another organization", async () => {
    const world = await setUp();
    const { ids, order, group } = world;
    const { id } = await group({ monitorIds: ids.slice(1) });
    const [monitorId, groupId] = [
      await createSampleRecord(world.theirs.api, "monitors"),
      await createSampleRecord(world.theirs.api, "monitor-groups"),
    ];
    const before = dumpTables(world);
    expect((await order(id, [ids[1] ?? ""])).status).toBe(409);
    expect((await order(null, [])).status).toBe(409);
    for (const unknown of [monitorId, unknownId])
      expect((await order(id, [...ids, unknown])).json.error.details[0].path).toBe("monitorIds");
    for (const unknown of [groupId, unknownId])
      expect((await order(unknown, ids)).status).toBe(404);
    expect((await order(id, ids, { "If-Match": '"9-x"' })).status).toBe(412);
    expect(dumpTables(world)).toBe(before);
  });
});

describe("bulk changes", () => {
  test("pause, resume and mute monitors", async () => {
    const { ids, bulk, readMonitor } = await setUp();
    expect((await bulk(ids, { paused: true, muted: true })).json.data.changed).toBe(3);
    for (const id of ids)
      expect(await readMonitor(id)).toMatchObject({ status: "paused", paused: true, muted: true });
    await bulk(ids.slice(1), { paused: false });
    const states = await Promise.all(ids.map(async (id) => (await readMonitor(id)).status));
    expect(states).toEqual(["paused", "pending", "pending"]);
  });

  test("move monitors to the end of a group, after its existing members", async () => {
    const { ids, bulk, group, readGroupById, readMonitor, channel } = await setUp();
    const [a, b, c] = ids as [string, string, string];
    const alertChannelIds = [(await channel()).id];
    const { id } = await group({ monitorIds: [b], alertChannelIds });
    await bulk([c, b, a], { groupId: id, removeAlertChannelIds: alertChannelIds });
    expect((await readGroupById(id)).monitorIds).toEqual([b, c, a]);
    // An existing member does not get the group's channels again.
    expect((await readMonitor(b)).alertChannelIds).toEqual([]);
    expect((await readMonitor(a)).alertChannelIds).toEqual(alertChannelIds);
  });

  test("add and remove tags, in order, without duplicates, up to 10", async () => {
    const { bulk, monitor, readMonitor, ...world } = await setUp(0);
    const digits = Array.from({ length: 10 }, (_, digit) => String(digit));
    const one = (await monitor({ tags: ["b", "a", "x"] })).id;
    const full = (await monitor({ name: "Full", tags: digits })).id;
    await bulk([one], { addTags: ["c", "a"], removeTags: ["x"] });
    expect((await readMonitor(one)).tags).toEqual(["b", "a", "c"]);
    const before = dumpTables(world);
    const { status, json } = await bulk([one, full], { addTags: ["new"] });
    expect([status, json.error.details]).toEqual([
      422,
      [{ path: "change.addTags", message: "Full would have more than 10 tags" }],
    ]);
    expect(dumpTables(world)).toBe(before);
    await bulk([one, full], { addTags: ["new"], removeTags: ["9", "b"] });
    expect((await readMonitor(full)).tags).toEqual([...digits.slice(0, 9), "new"]);
  });

  test("append and remove alert channels", async () => {
    const { ids, bulk, channel, changeMonitor, readMonitor } = await setUp();
    const [a, b, c] = [(await channel()).id, (await channel()).id, (await channel()).id];
    const [one = "", two = ""] = ids;
    await changeMonitor(one, { alertChannelIds: [b, a] });
    await bulk([one, two], { addAlertChannelIds: [c, a], removeAlertChannelIds: [b] });
    expect((await readMonitor(one)).alertChannelIds).toEqual([a, c]);
    expect((await readMonitor(two)).alertChannelIds).toEqual([c, a]);
  });

  test("delete the same rows as single deletions", async () => {
    const world = await setUp();
    const { ids, remove, api, group, readGroupById } = world;
    const { id } = await group({ monitorIds: ids });
    const incident = await createSampleRecord(api, "incidents", { monitorId: ids[0] });
    await remove(ids.slice(0, 2));
    expect((await readGroupById(id)).monitorIds).toEqual([ids[2]]);
    expect((await api("GET", `/api/v1/incidents/${incident}`)).json.data.monitorId).toBeNull();
    expect((await api("GET", "/api/v1/monitors")).json.meta.total).toBe(1);
    expect(
      world.database.query("SELECT count(monitor_key) AS n FROM deleted_records").get(),
    ).toEqual({
      n: 2,
    });
  });

  test("add an audit row and an event per monitor", async () => {
    const { ids, bulk, remove, database } = await setUp();
    await bulk(ids, { muted: true, addTags: ["eu"] });
    await remove(ids);
    const pairWithIds = (action: string) => ids.map((id) => [action, id]);
    const expected = [...pairWithIds("monitor.updated"), ...pairWithIds("monitor.deleted")];
    for (const [table, column] of [
      ["(select * from events where type <> 'monitor.paused')", "type"],
      ["audit_entries", "action"],
    ])
      expect(
        database
          .query(`SELECT ${column}, subject_id FROM ${table} ORDER BY seq DESC LIMIT 6`)
          .values()
          .toReversed(),
      ).toEqual(expected);
    expect(
      database
        .query("SELECT DISTINCT fields FROM audit_entries WHERE action = 'monitor.updated'")
        .values(),
    ).toEqual([['["muted","tags"]']]);
    expect(
      database
        .query(
          "SELECT DISTINCT changes ->> '$[0]' FROM audit_entries WHERE action = 'monitor.updated'",
        )
        .values(),
    ).toEqual([['{"field":"muted","before":false,"after":true,"truncated":[]}']]);
  });

  test("apply to hundreds of monitors in order, once each, in one atomic write", async () => {
    const { ids, bulk, remove, shown, group, readGroupById, database } = await setUp(2);
    const [first = "", stays = ""] = ids;
    copyMonitor(database, first, 899, {
      position: "10 + i",
      tags: 'iif(i = 850, \'["a","b","c","d","e","f","g","h","i","j"]\', \'[]\')',
    });
    const many = [first, ...Array.from({ length: 899 }, (_, index) => buildCopyId(index + 1))];
    const { id } = await group({ name: "All", monitorIds: [stays] });
    const reversedIds = many.toReversed();
    expect((await bulk(reversedIds, { groupId: id })).json.data.changed).toBe(900);
    expect((await readGroupById(id)).monitorIds).toEqual([stays, ...reversedIds]);
    const readStates = () =>
      database
        .query(
          "SELECT paused, count(*) AS count FROM monitor_states GROUP BY paused ORDER BY paused",
        )
        .all();
    await bulk(many, { paused: true });
    expect(readStates()).toEqual([
      { paused: 0, count: 1 },
      { paused: 1, count: 900 },
    ]);
    const before = dumpTables({ database });
    expect((await bulk(many, { addTags: ["one more"] })).status).toBe(422);
    expect(dumpTables({ database })).toEqual(before);
    const readEvents = (type: string) =>
      database.query("SELECT count(*) FROM events WHERE type = ?").values(type).flat();
    expect(readEvents("monitor.paused")).toEqual([900]);
    await remove(many);
    expect(readEvents("monitor.deleted")).toEqual([900]);
    expect(await shown()).toEqual([stays]);
  });

  test("are atomic: a single unknown id leaves everything unchanged", async () => {
    const world = await setUp();
    const { ids, bulk, remove, page, theirs } = world;
    const foreign = {
      monitor: await createSampleRecord(theirs.api, "monitors"),
      group: await createSampleRecord(theirs.api, "monitor-groups"),
      channel: await createSampleRecord(theirs.api, "alert-channels"),
    };
    const before = dumpTables(world);
    const change = { paused: true, muted: true };
    for (const unknown of [foreign.monitor, unknownId]) {
      expect((await bulk([...ids, unknown], change)).status).toBe(404);
      expect((await remove([...ids, unknown])).status).toBe(404);
    }
    for (const groupId of [foreign.group, unknownId])
      expect((await bulk(ids, { ...change, groupId })).status).toBe(404);
    for (const id of [foreign.channel, unknownId])
      expect((await bulk(ids, { ...change, addAlertChannelIds: [id] })).status).toBe(404);
    for (const body of [
      { monitorIds: ids },
      { monitorIds: ids, change: {} },
      { monitorIds: [], change },
      { monitorIds: ids, change, delete: true },
      { monitorIds: ids, delete: false },
      { monitorIds: ids, change: { name: "All" } },
      { change },
      { monitorIds: ids, changes: [{ monitorIds: ids, change }] },
      {
        changes: [
          { monitorIds: ids, change },
          { monitorIds: ids.slice(1), change },
        ],
      },
      { monitorIds: ids, change: { tags: [], addTags: ["eu"] } },
      { monitorIds: ids, change: { alertChannelIds: [], removeAlertChannelIds: [] } },
      { monitorIds: ids, change: { positions: [1, 2, 3] } },
      { monitorIds: ids, change: { groupId: null, positions: [1] } },
    ])
      expect((await page("POST", "/dashboard/api/v1/monitors/bulk", { body })).status).toBe(422);
    expect(dumpTables(world)).toBe(before);
  });
});

test("after any concurrent changes, a monitor is in at most one group and its state has the right pause", async () => {
  const pick = fc.nat({ max: 4 });
  const action = fc.record({
    does: fc.constantFrom("order", "list", "bulk", "own", "pause", "resume", "fill", "move", "end"),
    members: fc.uniqueArray(pick, { minLength: 1, maxLength: 5 }),
    pick,
    flag: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 20 }), async (actions) => {
      const world = await setUp(5);
      const { ids, order, bulk, api, page, group, changeGroup, changeMonitor, database } = world;
      const groups: string[] = [];
      for (let index = 0; index < 5; index++) groups.push((await group()).id);
      const perform = async ({ does, members, pick, flag }: (typeof actions)[number]) => {
        const monitorIds = members.map((index) => ids[index] ?? "");
        const [groupId = "", id = ""] = [groups[pick], monitorIds[0]];
        const verbs: Record<string, () => Promise<{ status: number }>> = {
          order: () => order(groupId, monitorIds),
          list: () => order(null, monitorIds),
          bulk: () => bulk(monitorIds, { groupId: flag ? groupId : null }),
          own: () => bulk(monitorIds, { paused: flag }),
          pause: () => page("POST", `/dashboard/monitor-groups/${groupId}/pause`),
          resume: () => page("POST", `/dashboard/monitor-groups/${groupId}/resume`),
          fill: () => changeGroup(groupId, { monitorIds }),
          move: () => changeMonitor(id, { groupId: flag ? groupId : null, paused: !flag }),
          end: () => api("DELETE", `/api/v1/monitor-groups/${groupId}`),
        };
        return (await verbs[does]?.())?.status ?? 0;
      };
      for (const status of await Promise.all(actions.map(perform)))
        expect([200, 404, 409]).toContain(status);
      const wrong = database.query(`SELECT s.monitor_id FROM monitor_states s
        JOIN monitors m ON m.id = s.monitor_id LEFT JOIN monitor_groups g ON g.id = m.group_id
        WHERE s.paused <> (m.paused OR coalesce(g.paused, 0))`);
      expect(wrong.values()).toEqual([]);
      const listed = (await api("GET", "/api/v1/monitor-groups")).json.data as {
        monitorIds: string[];
      }[];
      const members = listed.flatMap(({ monitorIds }) => monitorIds);
      expect(new Set(members).size).toBe(members.length);
    }),
    { numRuns: 15 },
  );
});
