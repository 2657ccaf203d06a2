import { describe, expect, test } from "bun:test";
import { createDashboard } from "../../support/dashboard.ts";

describe("dependencies", () => {
  test("a monitor and a group name the monitors on which they depend, in order and once", async () => {
    const made = await createDashboard();
    const [router, provider] = [await made.monitor(), await made.monitor({ name: "Provider" })];
    const dependsOn = [router.id, provider.id, router.id];
    const shop = await made.monitor({ name: "Shop", dependsOn });
    expect(shop.dependsOn).toEqual([router.id, provider.id]);
    expect((await made.readMonitor(shop.id)).dependsOn).toEqual([router.id, provider.id]);
    expect((await made.changeMonitor(shop.id, { name: "Store" })).json.data.dependsOn).toEqual([
      router.id,
      provider.id,
    ]);
    expect((await made.changeMonitor(shop.id, { dependsOn: [] })).json.data.dependsOn).toEqual([]);
    const group = await made.group({ dependsOn: [provider.id], monitorIds: [shop.id] });
    expect(group.dependsOn).toEqual([provider.id]);
    expect((await made.changeGroup(group.id, { dependsOn: [router.id] })).status).toBe(200);
    expect((await made.readGroupById(group.id)).dependsOn).toEqual([router.id]);
  });

  test("a cycle is rejected with its path, and nothing is stored", async () => {
    const made = await createDashboard();
    const a = await made.monitor({ name: "Router" });
    const b = await made.monitor({ name: "Switch", dependsOn: [a.id] });
    const c = await made.monitor({ name: "Shop", dependsOn: [b.id] });
    const { status, json } = await made.changeMonitor(a.id, { dependsOn: [c.id] });
    expect([status, json.error.details]).toEqual([
      422,
      [{ path: "dependsOn", message: "makes a cycle: Shop → Switch → Router → Shop" }],
    ]);
    expect((await made.readMonitor(a.id)).dependsOn).toEqual([]);
    const own = await made.changeMonitor(a.id, { dependsOn: [a.id] });
    expect(own.json.error.details[0].message).toBe("makes a cycle: Router → Router");
  });

  test("a cycle through a group is rejected, whichever of its sides is written last", async () => {
    const made = await createDashboard();
    const router = await made.monitor({ name: "Router" });
    const shop = await made.monitor({ name: "Shop" });
    const group = await made.group({ dependsOn: [router.id], monitorIds: [shop.id] });
    const back = await made.changeMonitor(router.id, { dependsOn: [shop.id] });
    expect(back.json.error.details[0].message).toBe("makes a cycle: Shop → Router → Shop");
    for (const join of [
      made.changeMonitor(router.id, { groupId: group.id }),
      made.changeGroup(group.id, { monitorIds: [shop.id, router.id] }),
    ]) {
      const { status, json } = await join;
      expect([status, json.error.message]).toEqual([
        409,
        "The group depends on one of these monitors, or on one that depends on it.",
      ]);
    }
    const own = await made.changeGroup(group.id, { dependsOn: [shop.id] });
    expect(own.json.error.details[0].message).toBe("makes a cycle: Shop → Shop");
  });

  test("of two opposite writes at once, one is rejected", async () => {
    const made = await createDashboard();
    const [a, b] = [await made.monitor({ name: "A" }), await made.monitor({ name: "B" })];
    const answers = await Promise.all([
      made.changeMonitor(a.id, { dependsOn: [b.id] }),
      made.changeMonitor(b.id, { dependsOn: [a.id] }),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 422]));
  });

  test("a monitor of another organization is unknown", async () => {
    const made = await createDashboard();
    const router = { name: "Router", type: "ping", host: "192.168.1.1" };
    const theirs = await made.theirs.api("POST", "/api/v1/monitors", { body: router });
    const body = { ...router, dependsOn: [theirs.json.data.id] };
    expect((await made.api("POST", "/api/v1/monitors", { body })).status).toBe(404);
    const group = { name: "Shop", dependsOn: [theirs.json.data.id] };
    expect((await made.api("POST", "/api/v1/monitor-groups", { body: group })).status).toBe(404);
  });

  test("a deleted monitor is no longer depended on, and is again after its restoration", async () => {
    const made = await createDashboard();
    const router = await made.monitor();
    const shop = await made.monitor({ name: "Shop", dependsOn: [router.id] });
    const group = await made.group({ dependsOn: [router.id] });
    const path = `/api/v1/monitors/${shop.id}`;
    const etag = await made.readEtag(path);
    await made.api("DELETE", `/api/v1/monitors/${router.id}`);
    expect((await made.readMonitor(shop.id)).dependsOn).toEqual([]);
    expect(await made.isStale(path, etag)).toBe(true);
    expect((await made.readGroupById(group.id)).dependsOn).toEqual([]);
    await made.api("POST", `/api/v1/monitors/${router.id}/restore`);
    expect((await made.readMonitor(shop.id)).dependsOn).toEqual([router.id]);
    expect((await made.readGroupById(group.id)).dependsOn).toEqual([router.id]);
  });

  test("of two deleted monitors, the second restoration links them again", async () => {
    const made = await createDashboard();
    const router = await made.monitor();
    const shop = await made.monitor({ name: "Shop", dependsOn: [router.id] });
    for (const first of [router.id, shop.id]) {
      await made.api("DELETE", `/api/v1/monitors/${shop.id}`);
      await made.api("DELETE", `/api/v1/monitors/${router.id}`);
      await made.api("POST", `/api/v1/monitors/${first}/restore`);
      await made.api("POST", `/api/v1/monitors/${first === shop.id ? router.id : shop.id}/restore`);
      expect((await made.readMonitor(shop.id)).dependsOn).toEqual([router.id]);
    }
  });
});
