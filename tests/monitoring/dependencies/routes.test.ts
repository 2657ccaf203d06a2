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
    const own = await dashboard.changeMonitor(a.id, { dependsOn: [a.id] });
    expect(own.json.error.details[0].message).toBe("makes a cycle: Router → Router");
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
        "The group depends on one of these monitors, or on one that depends on it.",
      ]);
    }
    const own = await dashboard.changeGroup(group.id, { dependsOn: [shop.id] });
    expect(own.json.error.details[0].message).toBe("makes a cycle: Shop → Shop");
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
