import { describe, expect, test } from "bun:test";
import { createDashboard } from "../../support/dashboard.ts";

describe("dependencies", () => {
  test("a monitor and a group name the monitors on which they depend, in order and once", async () => {
    const dashboard = await createDashboard();
    const [router, provider] = [
      await dashboard.monitor(),
      await dashboard.monitor({ name: "Provider" }),
    ];
    const dependsOn = [router.id, provider.id, router.id];
    const shop = await dashboard.monitor({ name: "Shop", dependsOn });
    expect(shop.dependsOn).toEqual([router.id, provider.id]);
    expect((await dashboard.readMonitor(shop.id)).dependsOn).toEqual([router.id, provider.id]);
    expect((await dashboard.changeMonitor(shop.id, { name: "Store" })).json.data.dependsOn).toEqual(
      [router.id, provider.id],
    );
    expect((await dashboard.changeMonitor(shop.id, { dependsOn: [] })).json.data.dependsOn).toEqual(
      [],
    );
    const group = await dashboard.group({ dependsOn: [provider.id], monitorIds: [shop.id] });
    expect(group.dependsOn).toEqual([provider.id]);
    expect((await dashboard.changeGroup(group.id, { dependsOn: [router.id] })).status).toBe(200);
    expect((await dashboard.readGroupById(group.id)).dependsOn).toEqual([router.id]);
  });

  test("a cycle is rejected with its path, and nothing is stored", async () => {
    const dashboard = await createDashboard();
    const a = await dashboard.monitor({ name: "Router" });
    const b = await dashboard.monitor({ name: "Switch", dependsOn: [a.id] });
    const c = await dashboard.monitor({ name: "Shop", dependsOn: [b.id] });
    const { status, json } = await dashboard.changeMonitor(a.id, { dependsOn: [c.id] });
    expect([status, json.error.details]).toEqual([
      422,
      [{ path: "dependsOn", message: "makes a cycle: Shop → Switch → Router → Shop" }],
    ]);
    expect((await dashboard.readMonitor(a.id)).dependsOn).toEqual([]);
    const selfDependency = await dashboard.changeMonitor(a.id, { dependsOn: [a.id] });
    expect(selfDependency.json.error.details[0].message).toBe("makes a cycle: Router → Router");
  });

  test("a cycle through a group is rejected, whichever of its sides is written last", async () => {
    const dashboard = await createDashboard();
    const router = await dashboard.monitor({ name: "Router" });
    const shop = await dashboard.monitor({ name: "Shop" });
    const group = await dashboard.group({ dependsOn: [router.id], monitorIds: [shop.id] });
    const back = await dashboard.changeMonitor(router.id, { dependsOn: [shop.id] });
    expect(back.json.error.details[0].message).toBe("makes a cycle: Shop → Router → Shop");
    for (const join of [
      dashboard.changeMonitor(router.id, { groupId: group.id }),
      dashboard.changeGroup(group.id, { monitorIds: [shop.id, router.id] }),
    ]) {
      const { status, json } = await join;
      expect([status, json.error.message]).toEqual([
        409,
        expect.stringContaining("The group depends on one of these monitors, or on one that"),
      ]);
    }
    const memberDependency = await dashboard.changeGroup(group.id, { dependsOn: [shop.id] });
    expect(memberDependency.json.error.details[0].message).toBe("makes a cycle: Shop → Shop");
  });

  test("of two opposite writes at once, one is rejected", async () => {
    const dashboard = await createDashboard();
    const [a, b] = [await dashboard.monitor({ name: "A" }), await dashboard.monitor({ name: "B" })];
    const responses = await Promise.all([
      dashboard.changeMonitor(a.id, { dependsOn: [b.id] }),
      dashboard.changeMonitor(b.id, { dependsOn: [a.id] }),
    ]);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 422]));
  });

  test("a monitor of another organization is unknown", async () => {
    const dashboard = await createDashboard();
    const router = { name: "Router", type: "ping", host: "192.168.1.1" };
    const theirs = await dashboard.theirs.api("POST", "/api/v1/monitors", { body: router });
    const body = { ...router, dependsOn: [theirs.json.data.id] };
    expect((await dashboard.api("POST", "/api/v1/monitors", { body })).status).toBe(404);
    const group = { name: "Shop", dependsOn: [theirs.json.data.id] };
    expect((await dashboard.api("POST", "/api/v1/monitor-groups", { body: group })).status).toBe(
      404,
    );
  });

  test("a deleted monitor is no longer depended on, and is again after its restoration", async () => {
    const dashboard = await createDashboard();
    const router = await dashboard.monitor();
    const shop = await dashboard.monitor({ name: "Shop", dependsOn: [router.id] });
    const group = await dashboard.group({ dependsOn: [router.id] });
    const path = `/api/v1/monitors/${shop.id}`;
    const etag = await dashboard.readEtag(path);
    await dashboard.api("DELETE", `/api/v1/monitors/${router.id}`);
    expect((await dashboard.readMonitor(shop.id)).dependsOn).toEqual([]);
    expect(await dashboard.isStale(path, etag)).toBe(true);
    expect((await dashboard.readGroupById(group.id)).dependsOn).toEqual([]);
    await dashboard.api("POST", `/api/v1/monitors/${router.id}/restore`);
    expect((await dashboard.readMonitor(shop.id)).dependsOn).toEqual([router.id]);
    expect((await dashboard.readGroupById(group.id)).dependsOn).toEqual([router.id]);
  });

  test("of two deleted monitors, the second restoration links them again", async () => {
    const dashboard = await createDashboard();
    const router = await dashboard.monitor();
    const shop = await dashboard.monitor({ name: "Shop", dependsOn: [router.id] });
    for (const first of [router.id, shop.id]) {
      await dashboard.api("DELETE", `/api/v1/monitors/${shop.id}`);
      await dashboard.api("DELETE", `/api/v1/monitors/${router.id}`);
      await dashboard.api("POST", `/api/v1/monitors/${first}/restore`);
      await dashboard.api(
        "POST",
        `/api/v1/monitors/${first === shop.id ? router.id : shop.id}/restore`,
      );
      expect((await dashboard.readMonitor(shop.id)).dependsOn).toEqual([router.id]);
    }
  });

  test("a restored monitor or group that would close a cycle is rejected until the cycle is opened", async () => {
    const { api, changeMonitor, group, monitor, readMonitor } = await createDashboard();
    const upper = await monitor({ name: "Upper" });
    const middle = await monitor({ name: "Middle", dependsOn: [upper.id] });
    const lower = await monitor({ name: "Lower", dependsOn: [middle.id] });
    const folder = await group({ dependsOn: [lower.id] });
    const member = await monitor({ name: "Member", groupId: folder.id });
    const restore = (path: string) => api("POST", `/api/v1/${path}/restore`);

    await api("DELETE", `/api/v1/monitors/${middle.id}`);
    expect((await changeMonitor(upper.id, { dependsOn: [lower.id] })).status).toBe(200);
    const { status, json } = await restore(`monitors/${middle.id}`);
    expect([status, json.error.message]).toEqual([
      409,
      expect.stringContaining("It would make a cycle"),
    ]);
    await changeMonitor(upper.id, { dependsOn: [] });
    expect((await restore(`monitors/${middle.id}`)).status).toBe(200);
    expect((await readMonitor(lower.id)).dependsOn).toEqual([middle.id]);

    await api("DELETE", `/api/v1/monitor-groups/${folder.id}`);
    expect((await changeMonitor(upper.id, { dependsOn: [member.id] })).status).toBe(200);
    expect((await restore(`monitor-groups/${folder.id}`)).status).toBe(409);
    await changeMonitor(upper.id, { dependsOn: [] });
    expect((await restore(`monitor-groups/${folder.id}`)).status).toBe(200);
  });
});

describe("many dependencies", () => {
  /** Entries of a configuration: layers of monitors, each of which depends on all of the layer before. */
  const buildLayers = (layers: number, width: number) => {
    const nameLayer = (layer: number) =>
      Array.from({ length: width }, (_, index) => `m${layer}-${index}`);
    const entries = Array.from({ length: layers }, (_, layer) =>
      nameLayer(layer).map((name) => [
        name,
        { type: "manual", name, dependsOn: layer === 0 ? [] : nameLayer(layer - 1) },
      ]),
    );
    return Object.fromEntries(entries.flat()) as Record<string, { dependsOn: string[] }>;
  };

  test("are searched once per monitor, not once per path or per entry", async () => {
    const { api } = await createDashboard();
    const monitors = buildLayers(20, 20);
    const write = () => api("PUT", "/api/v1/config", { body: { monitors } });
    expect((await write()).status).toBe(200);
    const { json } = await api("GET", "/api/v1/monitors?q=m19-0");
    const { id, dependsOn } = json.data[0];
    const path = `/api/v1/monitors/${id}`;
    const body = { dependsOn: dependsOn.slice(1) };
    expect((await api("PATCH", path, { body })).json.data.dependsOn).toHaveLength(19);
    monitors["m0-0"]?.dependsOn.push("m19-1");
    const { status, json: rejected } = await write();
    expect([status, rejected.error.message]).toEqual([
      422,
      expect.stringContaining("makes a cycle, or more than 50 levels, with the other entries"),
    ]);
  });

  test("have at most 50 levels", async () => {
    const { api, changeMonitor, monitor } = await createDashboard();
    const write = (levels: number) =>
      api("PUT", "/api/v1/config", { body: { monitors: buildLayers(levels, 1) } });
    expect((await write(52)).status).toBe(422);
    expect((await write(51)).status).toBe(200);
    const { json } = await api("GET", "/api/v1/monitors?q=m50-0");
    const last = await monitor({ name: "Last" });
    const changed = await changeMonitor(last.id, { dependsOn: [json.data[0].id] });
    expect([changed.status, changed.json.error.message]).toEqual([
      422,
      "dependsOn must have at most 50 levels of dependencies.",
    ]);
  });

  test("have at most 50 levels, even if a chain grows from below or is joined in the middle", async () => {
    const { api, changeMonitor, changeGroup, group, monitor } = await createDashboard();
    const body = { monitors: buildLayers(50, 1) };
    expect((await api("PUT", "/api/v1/config", { body })).status).toBe(200);
    const { json } = await api("GET", "/api/v1/monitors?q=m0-0");
    const top = json.data[0].id as string;
    const over = await monitor({ name: "Over" });
    const further = await monitor({ name: "Further", dependsOn: [over.id] });
    expect((await changeMonitor(top, { dependsOn: [over.id] })).status).toBe(200);
    const third = await monitor({ name: "Third" });
    expect((await changeMonitor(over.id, { dependsOn: [third.id] })).json.error?.message).toBe(
      "dependsOn must have at most 50 levels of dependencies.",
    );
    expect((await changeMonitor(further.id, { dependsOn: [third.id] })).status).toBe(200);
    const folder = await group({ dependsOn: [third.id] });
    expect((await changeMonitor(over.id, { groupId: folder.id })).status).toBe(409);
    expect((await changeMonitor(further.id, { groupId: folder.id })).status).toBe(200);
    const other = await group({ name: "Other", monitorIds: [over.id] });
    expect((await changeGroup(other.id, { dependsOn: [third.id] })).status).toBe(422);
  });

  test("of all monitors of an organization are limited", async () => {
    const { api } = await createDashboard();
    const { status, json } = await api("PUT", "/api/v1/config", {
      body: { monitors: buildLayers(4, 90) },
    });
    expect([status, json.error?.message]).toEqual([
      409,
      "The monitors and groups of an organization can have at most 20,000 dependencies together.",
    ]);
  });
});
