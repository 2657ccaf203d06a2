/** Restoring over REST: collisions, limits, retention, and what a deleted record no longer affects. */
import { describe, expect, test } from "bun:test";
import { deletedBounds } from "../../../src/core/limits.ts";
import { dayMs } from "../../../src/core/time/clock.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import { sweepRemovedMonitors } from "../../../src/monitoring/uptime/retention.ts";
import { sweepDeletedRecords } from "../../../src/operations/deleted-records/store.ts";
import { createWatch } from "../../support/check-board.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { signInMember } from "../../support/people.ts";

const list = "/api/v1/deleted-records";

async function setUp(settings: Parameters<typeof createDashboard>[0] = {}) {
  const board = await createDashboard(settings);
  const { api, store, time, database } = board;
  return {
    ...board,
    remove: async (path: string) => expect((await api("DELETE", path)).status).toBe(200),
    restore: (path: string, body?: object) =>
      api("POST", `${path}/restore`, body === undefined ? {} : { body }),
    sweep: async () => {
      await sweepDeletedRecords(createSweeping(store, time.now));
      await sweepRemovedMonitors(createSweeping(store, time.now));
    },
    count: (table: string) =>
      database.query<{ n: number }, []>(`select count(*) as n from ${table}`).get()?.n,
  };
}

describe("a deleted record", () => {
  test("is listed with its name, time, deleter and end, until it is restored", async () => {
    const { api, monitor, remove, restore } = await setUp();
    const { id } = await monitor({ name: "Shop" });
    await remove(`/api/v1/monitors/${id}`);
    expect((await api("GET", `${list}?noun=monitor&q=SHO`)).json.data).toEqual([
      {
        id,
        noun: "monitor",
        name: "Shop",
        origin: null,
        deletedAt: "2026-11-20T10:00:00.000Z",
        deletedBy: expect.any(String),
        restorableUntil: "2026-12-20T10:00:00.000Z",
      },
    ]);
    expect((await api("GET", `${list}?noun=incident`)).json.meta.total).toBe(0);
    const { status, json } = await restore(`/api/v1/monitors/${id}`);
    expect([status, json.data]).toEqual([200, { id, noun: "monitor", name: "Shop" }]);
    expect((await api("GET", list)).json.meta.total).toBe(0);
    expect((await restore(`/api/v1/monitors/${id}`)).status).toBe(404);
  });

  test("belongs to its organization, and to its noun", async () => {
    const { theirs, monitor, remove, restore } = await setUp();
    const { id } = await monitor();
    await remove(`/api/v1/monitors/${id}`);
    expect((await theirs.api("GET", list)).json.meta.total).toBe(0);
    expect((await theirs.api("POST", `/api/v1/monitors/${id}/restore`)).status).toBe(404);
    expect((await theirs.api("DELETE", `${list}/${id}`)).status).toBe(404);
    expect((await restore(`/api/v1/incidents/${id}`)).status).toBe(404);
    expect((await restore(`/api/v1/monitors/${id}`)).status).toBe(200);
  });

  test("does not count for limits, but its restoration does", async () => {
    const { monitor, remove, restore, api } = await setUp({ limits: { monitors: 1 } });
    const { id } = await monitor({ name: "Old" });
    await remove(`/api/v1/monitors/${id}`);
    const other = await monitor({ name: "New" });
    const full = await restore(`/api/v1/monitors/${id}`);
    expect([full.status, full.json.error.message]).toEqual([
      409,
      expect.stringContaining("monitors"),
    ]);
    await remove(`/api/v1/monitors/${other.id}`);
    expect((await restore(`/api/v1/monitors/${id}`)).status).toBe(200);
    expect((await api("GET", `/api/v1/monitors/${id}`)).json.data.name).toBe("Old");
  });

  test("keeps its secrets", async () => {
    const { monitor, remove, restore, readSecrets } = await setUp();
    const { id } = await monitor({
      type: "http",
      url: "https://shop.team.example",
      bearerToken: "canary",
    });
    await remove(`/api/v1/monitors/${id}`);
    await restore(`/api/v1/monitors/${id}`);
    expect(readSecrets("monitor", id)).toEqual({ bearerToken: "canary" });
  });

  test("can be permanently removed, by an admin", async () => {
    const { monitor, remove, restore, api, sweep, count, ...world } = await setUp();
    const { id } = await monitor();
    await remove(`/api/v1/monitors/${id}`);
    const member = (await signInMember(world, "member")).page;
    expect((await member("DELETE", `/dashboard${list}/${id}`)).status).toBe(403);
    await remove(`${list}/${id}`);
    expect((await restore(`/api/v1/monitors/${id}`)).status).toBe(404);
    expect((await api("GET", list)).json.meta.total).toBe(0);
    await sweep();
    expect([count("deleted_records"), count("deleted_rows")]).toEqual([0, 0]);
  });
});

describe("a taken name", () => {
  test("is reported; the restoration can choose another one, or confirm the old one", async () => {
    const { monitor, remove, restore, api } = await setUp();
    const old = await monitor({ name: "Shop" });
    await remove(`/api/v1/monitors/${old.id}`);
    await monitor({ name: "Shop" });
    const taken = await restore(`/api/v1/monitors/${old.id}`);
    expect([taken.status, taken.json.error.details[0].path]).toEqual([409, "name"]);
    expect((await restore(`/api/v1/monitors/${old.id}`, { name: "Old shop" })).status).toBe(200);
    expect((await api("GET", `/api/v1/monitors/${old.id}`)).json.data.name).toBe("Old shop");
    await remove(`/api/v1/monitors/${old.id}`);
    expect((await restore(`/api/v1/monitors/${old.id}`, { name: "Shop" })).status).toBe(200);
  });

  test("of a record that a configuration has created again does not prevent a restoration", async () => {
    const { api, remove, restore } = await setUp();
    const apply = async () => {
      const body = {
        source: "acme",
        monitors: { shop: { type: "tcp", name: "Shop", host: "shop.team.example", port: 443 } },
      };
      const { json } = await api("PUT", "/api/v1/config", { body });
      return json.data.changes.map(({ action }: { action: string }) => action);
    };
    const list = async () => (await api("GET", "/api/v1/monitors")).json.data;
    expect(await apply()).toEqual(["create"]);
    const [old] = await list();
    await remove(`/api/v1/monitors/${old.id}`);
    expect(await apply()).toEqual(["create"]);
    const [created] = await list();
    expect(created.id).not.toBe(old.id);
    expect((await restore(`/api/v1/monitors/${old.id}`)).status).toBe(409);
    expect((await restore(`/api/v1/monitors/${old.id}`, { name: "Old shop" })).status).toBe(200);
    // The configuration still manages the new one only.
    expect(await apply()).toEqual([]);
    expect((await list()).map(({ name }: { name: string }) => name).toSorted()).toEqual([
      "Old shop",
      "Shop",
    ]);
  });

  test("so is a slug or host of another page, also of another organization", async () => {
    const { theirs, api, remove, restore } = await setUp();
    const page = { title: "Shop", slug: "shop", hosts: ["shop.team.example"] };
    const { id } = (await api("POST", "/api/v1/status-pages", { body: page })).json.data;
    const path = `/api/v1/status-pages/${id}`;
    await remove(path);
    const other = await theirs.api("POST", "/api/v1/status-pages", { body: page });
    expect(other.status).toBe(201);
    const taken = await restore(path);
    expect([taken.status, taken.json.error.details[0].path]).toEqual([409, "slug"]);
    const host = await restore(path, { slug: "shop-2" });
    expect([host.status, host.json.error.details[0].path]).toEqual([409, "hosts"]);
    await theirs.api("PATCH", `/api/v1/status-pages/${other.json.data.id}`, {
      body: { hosts: [] },
    });
    expect((await restore(path, { slug: "shop-2" })).status).toBe(200);
  });
});

describe("retention", () => {
  test("removes records after the days of the setting, with the results of monitors", async () => {
    const { monitor, remove, restore, sweep, count, time, api, database } = await setUp();
    const { id } = await monitor();
    database.run(
      "insert into heartbeats values ((select key from monitor_states), 1, 0, 5, 60, null, null)",
    );
    await api("PATCH", "/api/v1/settings", { body: { keepDeletedDays: 2 } });
    await remove(`/api/v1/monitors/${id}`);
    time.now += 2 * dayMs - 1;
    await sweep();
    expect((await restore(`/api/v1/monitors/${id}`)).status).toBe(200);
    await remove(`/api/v1/monitors/${id}`);
    time.now += 2 * dayMs;
    await sweep();
    expect((await restore(`/api/v1/monitors/${id}`)).status).toBe(404);
    const tables = ["deleted_records", "deleted_rows", "heartbeats", "removed_monitors"];
    expect(tables.map(count)).toEqual([0, 0, 0, 0]);
  });

  test("removes the oldest records of an organization beyond the bound", async () => {
    const { sweep, count, database, ours, time } = await setUp();
    database.run(
      `with recursive numbers (value) as (
          select 0 union all select value + 1 from numbers where value < ?3)
        insert into deleted_records
        select ?1, printf('%08d', value), 'monitor', 'x', ?2 + value, 'x', null, 1 from numbers`,
      [ours.id, time.now - 1_000_000, deletedBounds.records.value + 2],
    );
    await sweep();
    expect(count("deleted_records")).toBe(deletedBounds.records.value);
    const oldest = database.query("select min(id) as id from deleted_records").get();
    expect(oldest).toEqual({ id: "00000003" });
  });
});

test("a restored monitor is checked again; its history shows the time in between as paused", async () => {
  const { createSite, advance, readStatus, readBeats, api, engine } = await createWatch();
  const site = await createSite();
  await advance(70);
  expect(await readStatus(site.id)).toBe("up");
  const before = await readBeats(site.id);
  await api("DELETE", `/api/v1/monitors/${site.id}`);
  await engine.runOnce();
  const requests = site.asked.length;
  await advance(120);
  expect(site.asked.length).toBe(requests);
  await api("POST", `/api/v1/monitors/${site.id}/restore`);
  expect(await readStatus(site.id)).toBe("pending");
  expect(await readBeats(site.id)).toEqual(before);
  site.failNow();
  await advance(70);
  expect(await readStatus(site.id)).toBe("down");
});
