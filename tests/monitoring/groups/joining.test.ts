import { describe, expect, test } from "bun:test";
import { createDashboard } from "../../support/dashboard.ts";

type Dashboard = Awaited<ReturnType<typeof createDashboard>>;

/** Ways for a monitor with these channels to join a group; each returns the monitor's id. */
const ways: Record<
  string,
  (dashboard: Dashboard, alertChannelIds: string[], groupId: string) => Promise<string>
> = {
  "through the group's monitorIds": async ({ monitor, changeGroup }, alertChannelIds, groupId) => {
    const { id } = await monitor({ alertChannelIds });
    await changeGroup(groupId, { monitorIds: [id] });
    return id;
  },
  "through a new monitor's groupId": async ({ monitor }, alertChannelIds, groupId) =>
    (await monitor({ alertChannelIds, groupId })).id,
  "through a monitor's changed groupId": async (
    { monitor, changeMonitor },
    alertChannelIds,
    groupId,
  ) => {
    const { id } = await monitor({ alertChannelIds });
    await changeMonitor(id, { groupId });
    return id;
  },
};

async function createChannels() {
  const dashboard = await createDashboard();
  const [own, a, b] = [
    await dashboard.channel(),
    await dashboard.channel(),
    await dashboard.channel(),
  ];
  return { ...dashboard, own: own.id as string, a: a.id as string, b: b.id as string };
}

describe("joining", () => {
  for (const [way, join] of Object.entries(ways))
    test(`${way}, a monitor gets the group's channels after its own, once`, async () => {
      const world = await createChannels();
      const { own, a, b, group, readGroupById, readMonitor } = world;
      const { id } = await group({ alertChannelIds: [b, own, a] });
      const monitorId = await join(world, [own], id);
      expect(await readMonitor(monitorId)).toMatchObject({
        groupId: id,
        alertChannelIds: [own, b, a],
      });
      expect((await readGroupById(id)).monitorIds).toEqual([monitorId]);
    });

  test("a new group attaches its channels to its initial monitors", async () => {
    const { own, a, group, monitor, readMonitor } = await createChannels();
    const { id } = await monitor({ alertChannelIds: [own] });
    await group({ alertChannelIds: [a], monitorIds: [id] });
    expect((await readMonitor(id)).alertChannelIds).toEqual([own, a]);
  });

  test("through its groupId, a monitor is added after the existing members", async () => {
    const { group, readGroupById, monitor, changeMonitor } = await createDashboard();
    const [a, b, c] = [(await monitor()).id, (await monitor()).id, (await monitor()).id];
    const { id } = await group({ monitorIds: [c, b] });
    await changeMonitor(a, { groupId: id });
    const d = (await monitor({ groupId: id })).id;
    expect((await readGroupById(id)).monitorIds).toEqual([c, b, a, d]);
  });

  test("monitors that join in the request that changes the channels get the new channels", async () => {
    const { a, b, group, monitor, readMonitor, changeGroup } = await createChannels();
    const { id } = await group({ alertChannelIds: [a] });
    const monitorId = (await monitor()).id;
    await changeGroup(id, { alertChannelIds: [b], monitorIds: [monitorId] });
    expect((await readMonitor(monitorId)).alertChannelIds).toEqual([b]);
  });

  test("a monitor that joins with a new list of channels gets this list and the group's channels", async () => {
    const { own, a, b, group, monitor, changeMonitor } = await createChannels();
    const { id: groupId } = await group({ alertChannelIds: [a] });
    const { id } = await monitor({ alertChannelIds: [b] });
    const { json } = await changeMonitor(id, { groupId, alertChannelIds: [own] });
    expect(json.data.alertChannelIds).toEqual([own, a]);
  });
});

describe("being in a group", () => {
  test("later changes of the group's channels do not affect its monitors", async () => {
    const { own, a, b, group, monitor, readMonitor, changeGroup } = await createChannels();
    const { id: monitorId } = await monitor({ alertChannelIds: [own] });
    const { id } = await group({ alertChannelIds: [a], monitorIds: [monitorId] });
    for (const alertChannelIds of [[b], [], [a, b]]) {
      await changeGroup(id, { alertChannelIds });
      expect((await readMonitor(monitorId)).alertChannelIds).toEqual([own, a]);
    }
  });

  test("a current member that is listed again does not get the channels again", async () => {
    const { a, group, monitor, readMonitor, changeGroup, changeMonitor } = await createChannels();
    const { id } = await group({ alertChannelIds: [a] });
    const stayer = (await monitor({ groupId: id })).id;
    await changeMonitor(stayer, { alertChannelIds: [] });
    const joiner = (await monitor()).id;
    await changeGroup(id, { monitorIds: [joiner, stayer] });
    await changeMonitor(stayer, { groupId: id, name: "Again" });
    expect((await readMonitor(stayer)).alertChannelIds).toEqual([]);
    expect((await readMonitor(joiner)).alertChannelIds).toEqual([a]);
  });

  test("a monitor that left can join again", async () => {
    const { a, group, monitor, changeMonitor } = await createChannels();
    const { id: groupId } = await group({ alertChannelIds: [a] });
    const { id } = await monitor({ groupId });
    await changeMonitor(id, { groupId: null, alertChannelIds: [] });
    expect((await changeMonitor(id, { groupId })).json.data.alertChannelIds).toEqual([a]);
  });
});

describe("leaving", () => {
  const waysOut: Record<string, (dashboard: Dashboard, group: string, id: string) => unknown> = {
    "left out of the group's list": ({ changeGroup }, group) =>
      changeGroup(group, { monitorIds: [] }),
    "through its own groupId": ({ changeMonitor }, _group, id) =>
      changeMonitor(id, { groupId: null }),
    "moved by another group": ({ group }, _group, id) => group({ monitorIds: [id] }),
    "moved by its own groupId": async ({ group, changeMonitor }, _group, id) =>
      changeMonitor(id, { groupId: (await group()).id }),
    "when its group is deleted": ({ api }, group) =>
      api("DELETE", `/api/v1/monitor-groups/${group}`),
  };
  for (const [way, leave] of Object.entries(waysOut))
    test(`${way}, a monitor keeps all its channels`, async () => {
      const world = await createChannels();
      const { own, a, group, monitor, readMonitor } = world;
      const { id } = await monitor({ alertChannelIds: [own] });
      const before = await group({ alertChannelIds: [a], monitorIds: [id] });
      await leave(world, before.id, id);
      const after = await readMonitor(id);
      expect(after.groupId).not.toBe(before.id);
      expect(after.alertChannelIds).toEqual([own, a]);
    });

  const moves: Record<string, (dashboard: Dashboard, to: string, id: string) => unknown> = {
    "by the new group": ({ changeGroup }, to, id) => changeGroup(to, { monitorIds: [id] }),
    "by its own groupId": ({ changeMonitor }, to, id) => changeMonitor(id, { groupId: to }),
  };
  for (const [way, move] of Object.entries(moves))
    test(`moved ${way}, a monitor leaves its previous group, and the ETags of monitor and groups change`, async () => {
      const dashboard = await createDashboard();
      const { group, readGroupById, monitor, readMonitor, readEtag, isStale, time } = dashboard;
      const [id, stayer] = [(await monitor()).id, (await monitor()).id];
      const from = (await group({ monitorIds: [id, stayer] })).id;
      const to = (await group()).id;
      const paths = [
        ...[from, to].map((group) => `/api/v1/monitor-groups/${group}`),
        `/api/v1/monitors/${id}`,
      ];
      const etags = await Promise.all(paths.map(readEtag));
      time.now += 1_000;
      await move(dashboard, to, id);
      expect(await readGroupById(from)).toMatchObject({
        monitorIds: [stayer],
        updatedAt: "2026-11-20T10:00:01.000Z",
      });
      expect(await readGroupById(to)).toMatchObject({
        monitorIds: [id],
        updatedAt: "2026-11-20T10:00:01.000Z",
      });
      expect(await readMonitor(id)).toMatchObject({
        groupId: to,
        updatedAt: "2026-11-20T10:00:01.000Z",
      });
      for (const [index, path] of paths.entries()) {
        const etag = etags[index] ?? null;
        expect([path, await isStale(path, etag)]).toEqual([path, true]);
        expect(await readEtag(path)).not.toBe(etag);
      }
    });

  test("a deleted monitor is removed from its group, and the group's ETag changes", async () => {
    const { api, group, readGroupById, monitor, readEtag, isStale } = await createDashboard();
    const { id } = await monitor();
    const { id: groupId } = await group({ monitorIds: [id] });
    const path = `/api/v1/monitor-groups/${groupId}`;
    const etag = await readEtag(path);
    await api("DELETE", `/api/v1/monitors/${id}`);
    expect((await readGroupById(groupId)).monitorIds).toEqual([]);
    expect(await isStale(path, etag)).toBe(true);
  });
});

test("12 groups that add one monitor concurrently leave it in exactly one group", async () => {
  const { api, group, monitor, readMonitor, changeGroup, channel } = await createDashboard();
  const { id } = await monitor();
  const groups = [];
  for (let index = 0; index < 12; index++)
    groups.push(await group({ alertChannelIds: [(await channel()).id] }));
  const responses = await Promise.all(
    groups.map((grabbing) => changeGroup(grabbing.id, { monitorIds: [id] })),
  );
  expect(responses.map(({ status }) => status)).toEqual(groups.map(() => 200));
  const { json } = await api("GET", "/api/v1/monitor-groups");
  const holders = json.data.filter(({ monitorIds }: { monitorIds: string[] }) =>
    monitorIds.includes(id),
  );
  const { groupId, alertChannelIds } = await readMonitor(id);
  expect(holders.map((holder: { id: string }) => holder.id)).toEqual([groupId]);
  expect(alertChannelIds.toSorted()).toEqual(
    groups.map((joined) => String(joined.alertChannelIds[0])).toSorted(),
  );
});

test("after concurrent moves, a monitor's groupId matches the membership of the groups", async () => {
  const { api, group, monitor, readMonitor, changeGroup, changeMonitor } = await createDashboard();
  const { id } = await monitor();
  const groups = [await group(), await group(), await group()];
  const responses = await Promise.all(
    groups.flatMap(({ id: groupId }) => [
      changeMonitor(id, { groupId }),
      changeGroup(groupId, { monitorIds: [id] }),
      changeMonitor(id, { groupId: null }),
    ]),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  const { json } = await api("GET", "/api/v1/monitor-groups");
  const holders = json.data
    .filter(({ monitorIds }: { monitorIds: string[] }) => monitorIds.includes(id))
    .map((holder: { id: string }) => holder.id);
  const { groupId } = await readMonitor(id);
  expect(holders).toEqual(groupId === null ? [] : [groupId]);
});

test("monitors that join while the group's channels change get the channels at the time of joining", async () => {
  const { a, b, group, monitor, readMonitor, changeGroup, changeMonitor, database } =
    await createChannels();
  const { id: groupId } = await group({ alertChannelIds: [a] });
  const monitors: { id: string }[] = [];
  for (let index = 0; index < 12; index++) monitors.push(await monitor());
  const join = ({ id }: { id: string }) => changeMonitor(id, { groupId });
  await Promise.all([
    ...monitors.slice(0, 6).map(join),
    changeGroup(groupId, { alertChannelIds: [b] }),
    ...monitors.slice(6).map(join),
  ]);
  const order = database
    .query("SELECT subject_id FROM audit_entries WHERE action LIKE '%.updated' ORDER BY seq")
    .values()
    .flat();
  expect(order).toHaveLength(13);
  for (const { id } of monitors) {
    const channel = order.indexOf(id) < order.indexOf(groupId) ? a : b;
    expect((await readMonitor(id)).alertChannelIds).toEqual([channel]);
  }
});

test("a monitor that joins a group during its deletion ends up ungrouped", async () => {
  const { api, group, monitor, readMonitor, changeMonitor } = await createDashboard();
  const { id: groupId } = await group();
  const monitors: { id: string }[] = [];
  for (let index = 0; index < 6; index++) monitors.push(await monitor());
  const join = ({ id }: { id: string }) => changeMonitor(id, { groupId });
  const [deleted, ...joined] = await Promise.all([
    api("DELETE", `/api/v1/monitor-groups/${groupId}`),
    ...monitors.map(join),
  ]);
  expect(deleted.status).toBe(200);
  for (const { status } of joined) expect([200, 404]).toContain(status);
  for (const { id } of monitors) expect((await readMonitor(id)).groupId).toBeNull();
});
