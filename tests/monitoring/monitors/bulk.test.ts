import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { maxMonitorsInBulk } from "../../../src/monitoring/monitors/bulk-schema.ts";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { copyMonitor, buildCopyId } from "../../support/many-monitors.ts";
import { createSampleRecord } from "../../support/records.ts";

const route = "/api/v1/monitors/bulk";

async function setUp(names: readonly string[] = ["Shop", "Billing", "Search"]) {
  const dashboard = await createDashboard();
  const ids: string[] = [];
  for (const name of names) ids.push((await dashboard.monitor({ name })).id);
  const { api } = dashboard;
  return {
    ...dashboard,
    ids,
    bulk: (body: object) => api("POST", route, { body }),
    preview: async (body: object) => {
      const { status, json } = await api("POST", `${route}/preview`, { body });
      expect(status).toBe(200);
      return json.data;
    },
    /** Monitors and groups, without versions and times of changes. */
    records: async () => {
      const read = async (path: string) => (await api("GET", path)).json.data as object[];
      return [
        await read("/api/v1/monitors?per_page=100"),
        await read("/api/v1/monitor-groups"),
      ].map((list) => list.map((one) => ({ ...one, updatedAt: "", statusSince: "" })));
    },
  };
}

/** A monitor that the configuration `main` manages. */
async function addManaged({ api }: Awaited<ReturnType<typeof setUp>>) {
  const { status } = await api("PUT", "/api/v1/config", {
    body: { monitors: { ledger: { type: "tcp", name: "Ledger", host: "10.0.0.9", port: 1 } } },
  });
  expect(status).toBe(200);
  return (await api("GET", "/api/v1/monitors?q=Ledger")).json.data[0].id as string;
}

describe("the preview of a bulk change", () => {
  test("counts each change of a value, and the monitors that stay unchanged with the reason", async () => {
    const world = await setUp();
    const [shop = "", billing = "", search = ""] = world.ids;
    await world.changeMonitor(billing, { interval: 30 });
    await world.changeMonitor(search, { interval: 30, timeout: 30 });
    const managed = await addManaged(world);
    const before = dumpTables(world);
    const change = { interval: 20 };
    const { etag, ...effects } = await world.preview({
      monitorIds: [...world.ids, managed],
      change,
    });
    const findByName = (id: string, name: string) => ({ count: 1, monitors: [{ id, name }] });
    expect(effects).toEqual({
      changed: 2,
      changes: [
        { field: "interval", before: 60, after: 20, ...findByName(shop, "Shop") },
        { field: "interval", before: 30, after: 20, ...findByName(billing, "Billing") },
      ],
      unchanged: [
        {
          reason: "invalid",
          message: "would have a timeout of 30 s, longer than its interval of 20 s",
          ...findByName(search, "Search"),
        },
        {
          reason: "managed",
          message: "is managed by the configuration main",
          ...findByName(managed, "Ledger"),
        },
      ],
    });
    expect(etag).toMatch(/^\w+-\w+$/);
    const samePreview = await world.preview({ monitorIds: world.ids, change: { interval: 60 } });
    expect(samePreview.unchanged).toEqual([
      { reason: "same", message: "has these values already", ...findByName(shop, "Shop") },
    ]);
    expect(dumpTables(world)).toBe(before);
  });

  test("reads no monitor of another organization", async () => {
    const { api, theirs } = await setUp();
    for (const id of [await createSampleRecord(theirs.api, "monitors"), unknownId]) {
      const body = { monitorIds: [id], change: { interval: 30 } };
      expect((await api("POST", `${route}/preview`, { body })).status).toBe(404);
    }
  });
});

describe("a bulk change", () => {
  test("sets the schedule, the severity and the lists of all monitors", async () => {
    const { ids, bulk, channel, readMonitor } = await setUp();
    const change = {
      interval: 30,
      timeout: 5,
      retries: 3,
      degradedAfterMs: 800,
      autoIncidentSeverity: "major",
      tags: ["eu", "production"],
      alertChannelIds: [(await channel()).id],
    };
    expect((await bulk({ monitorIds: ids, change })).json.data.changed).toBe(3);
    for (const id of ids) expect(await readMonitor(id)).toMatchObject(change);
    const clearedFields = { degradedAfterMs: null, autoIncidentSeverity: null, tags: [] };
    await bulk({ monitorIds: ids, change: { ...clearedFields, alertChannelIds: [] } });
    for (const id of ids)
      expect(await readMonitor(id)).toMatchObject({ ...clearedFields, alertChannelIds: [] });
  });

  test("touches no monitor that has the values already", async () => {
    const { ids, bulk, changeMonitor, readEtag, isStale } = await setUp();
    const path = `/api/v1/monitors/${ids[0]}`;
    await changeMonitor(ids[0] ?? "", { interval: 30 });
    const etag = await readEtag(path);
    const { changed } = (await bulk({ monitorIds: ids, change: { interval: 30 } })).json.data;
    expect([changed, await isStale(path, etag)]).toEqual([2, false]);
    const unchanged = await bulk({ monitorIds: ids, change: { interval: 30 } });
    expect(unchanged.json.data).toMatchObject({ changed: 0, undo: null });
  });

  test("is rejected with the names of the monitors that it would make invalid, or leaves them out", async () => {
    const world = await setUp();
    const { ids, bulk, changeMonitor, readMonitor } = world;
    await changeMonitor(ids[1] ?? "", { timeout: 40 });
    const before = dumpTables(world);
    const body = { monitorIds: ids, change: { interval: 20 } };
    const { status, json } = await bulk(body);
    expect([status, json.error.details]).toEqual([
      422,
      [
        {
          path: "change.interval",
          message: "Billing would have a timeout of 40 s, longer than its interval of 20 s",
        },
      ],
    ]);
    expect(dumpTables(world)).toBe(before);
    expect((await bulk({ ...body, skip: true })).json.data.changed).toBe(2);
    expect((await readMonitor(ids[1] ?? "")).interval).toBe(60);
    expect((await bulk({ ...body, change: { interval: 20, timeout: 5 } })).status).toBe(200);
  });

  test("pauses and mutes a monitor of a configuration, but changes nothing else of it", async () => {
    const world = await setUp(["Shop"]);
    const managed = await addManaged(world);
    const monitorIds = [...world.ids, managed];
    const before = dumpTables(world);
    for (const body of [{ change: { interval: 30 } }, { delete: true }]) {
      const { status, json } = await world.bulk({ monitorIds, ...body });
      expect([status, json.error.message]).toEqual([
        409,
        "Nothing was changed: Ledger is managed by the configuration main.",
      ]);
    }
    expect(dumpTables(world)).toBe(before);
    const change = { paused: true, muted: true };
    expect((await world.bulk({ monitorIds, change })).json.data.changed).toBe(2);
    const { changed } = (await world.bulk({ monitorIds, delete: true, skip: true })).json.data;
    expect([changed, (await world.readMonitor(managed)).name]).toEqual([1, "Ledger"]);
  });

  test("with the ETag of its preview, is rejected if a monitor has changed, and names it", async () => {
    const world = await setUp();
    const body = { monitorIds: world.ids, change: { interval: 30 } };
    const { etag } = await world.preview(body);
    world.time.now += 1000;
    await world.changeMonitor(world.ids[1] ?? "", { retries: 5 });
    const before = dumpTables(world);
    for (const stale of [etag, "1-x", "nonsense"]) {
      const { status, json } = await world.bulk({ ...body, etag: stale });
      expect([status, json.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
    }
    const { json } = await world.bulk({ ...body, etag });
    expect(json.error.message).toBe(
      "Nothing was changed, because someone else has changed Billing meanwhile. Preview the change again.",
    );
    expect(dumpTables(world)).toBe(before);
    const fresh = (await world.preview(body)).etag;
    expect((await world.bulk({ ...body, etag: fresh })).json.data.changed).toBe(3);
  });

  test("of ten concurrent ones with the same ETag, only one is made", async () => {
    const { ids, bulk, preview } = await setUp();
    const { etag } = await preview({ monitorIds: ids, change: { interval: 30 } });
    const tries = Array.from({ length: 10 }, (_, index) =>
      bulk({ monitorIds: ids, change: { interval: 30 + index }, etag }),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array<number>(9).fill(412),
    ]);
  });

  test("can be held, and is made when its hold is over", async () => {
    const { ids, api, held, time, readMonitor } = await setUp();
    const body = { monitorIds: ids, change: { interval: 30 } };
    expect((await api("POST", `${route}?hold=10`, { body })).status).toBe(202);
    expect((await readMonitor(ids[0] ?? "")).interval).toBe(60);
    time.now += 10_000;
    await held.runOnce();
    expect((await readMonitor(ids[0] ?? "")).interval).toBe(30);
  });
});

describe("the undo of a bulk change", () => {
  test("restores the values of each monitor, its groups, positions and channels", async () => {
    const size = 6;
    const member = fc.nat({ max: size - 1 });
    const list = fc.uniqueArray(fc.constantFrom(0, 1, 2), { maxLength: 3 });
    const choice = fc.record(
      {
        interval: fc.constantFrom(30, 60, 90),
        degradedAfterMs: fc.constantFrom(null, 500),
        paused: fc.boolean(),
        groupId: fc.constantFrom(null, 0, 1),
        addTags: list,
        removeTags: list,
        addAlertChannelIds: list,
        removeAlertChannelIds: list,
      },
      { requiredKeys: [] },
    );
    const world = await setUp(Array.from({ length: size }, (_, index) => `Shop ${index}`));
    const { ids, bulk, records } = world;
    const channels = [await world.channel(), await world.channel(), await world.channel()];
    const escalationPolicyId = await createSampleRecord(world.api, "escalation-policies");
    const groups = [
      await world.group({
        alertChannelIds: [channels[0]?.id],
        escalationPolicyId,
        monitorIds: ids.slice(0, 2),
      }),
      await world.group({ alertChannelIds: [channels[1]?.id], monitorIds: ids.slice(2, 4) }),
    ];
    const toChange = ({ groupId, ...chosen }: Record<string, unknown>) =>
      Object.fromEntries([
        ...(groupId === undefined
          ? []
          : [["groupId", groups[groupId as number]?.id ?? null] as const]),
        ...Object.entries(chosen).map(([name, value]) => {
          if (!Array.isArray(value)) return [name, value] as const;
          return [
            name,
            name.endsWith("Tags")
              ? value.map((tag) => `tag ${tag}`)
              : value.map((index) => channels[index as number]?.id),
          ] as const;
        }),
      ]);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(member, { minLength: 1 }),
        choice,
        fc.boolean(),
        async (members, chosen, isUndone) => {
          const change = toChange(chosen);
          if (Object.keys(change).length === 0) return;
          const before = await records();
          const monitorIds = members.map((index) => ids[index] ?? "");
          const { status, json } = await bulk({ monitorIds, change });
          expect(status).toBe(200);
          if (!isUndone || json.data.undo === null) return;
          expect((await bulk(json.data.undo)).json.data.changed).toBe(json.data.changed);
          expect(await records()).toEqual(before);
          expect((await bulk(json.data.undo)).status).toBe(412);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("is rejected if one of the monitors was changed meanwhile", async () => {
    const world = await setUp();
    const { undo } = (await world.bulk({ monitorIds: world.ids, change: { interval: 30 } })).json
      .data;
    world.time.now += 1000;
    await world.changeMonitor(world.ids[2] ?? "", { interval: 300 });
    const { status, json } = await world.bulk(undo);
    expect([status, json.error.message]).toEqual([412, expect.stringContaining("Search")]);
    expect((await world.readMonitor(world.ids[0] ?? "")).interval).toBe(30);
  });

  test("changes the most monitors of a request at once, and fits into one", async () => {
    const { ids, bulk, preview, database } = await setUp(["Shop"]);
    copyMonitor(database, ids[0] ?? "", maxMonitorsInBulk - 1, { position: "10 + i" });
    const monitorIds = [
      ...ids,
      ...Array.from({ length: maxMonitorsInBulk - 1 }, (_, index) => buildCopyId(index + 1)),
    ];
    const body = { monitorIds, change: { interval: 30, addTags: ["eu"] } };
    expect((await preview(body)).changed).toBe(maxMonitorsInBulk);
    const { json } = await bulk(body);
    const readIntervals = () =>
      database
        .query("SELECT interval_seconds, tags, count(*) FROM monitors GROUP BY 1, 2")
        .values();
    expect(readIntervals()).toEqual([[30, '["eu"]', maxMonitorsInBulk]]);
    expect((await bulk(json.data.undo)).status).toBe(200);
    expect(readIntervals()).toEqual([[60, "[]", maxMonitorsInBulk]]);
  });
});

describe("the schedule of jobs", () => {
  test("is changed for push monitors, names others, and is undone", async () => {
    const world = await setUp(["Shop"]);
    const [shop = ""] = world.ids;
    const jobs: string[] = [];
    for (const fields of [{ schedule: "0 1 * * *", timeZone: "Europe/Berlin" }, { grace: 300 }])
      jobs.push((await world.monitor({ type: "push", name: `Job ${jobs.length}`, ...fields })).id);
    const before = await world.records();
    const change = {
      schedule: "30 2 * * 1-5",
      timeZone: "Asia/Tokyo",
      grace: 600,
      maximumRunTime: 900,
    };
    const mixed = { monitorIds: [shop, ...jobs], change };
    const rejected = await world.bulk(mixed);
    expect([rejected.status, rejected.json.error.details]).toEqual([
      422,
      [{ path: "change.schedule", message: "Shop is not a push monitor" }],
    ]);
    const { json } = await world.bulk({ ...mixed, skip: true });
    expect(json.data.changed).toBe(2);
    for (const id of jobs) expect(await world.readMonitor(id)).toMatchObject(change);
    expect(await world.readMonitor(shop)).not.toHaveProperty("grace");
    expect((await world.bulk(json.data.undo)).status).toBe(200);
    expect(await world.records()).toEqual(before);
  });

  test("is rejected by name if it is no schedule", async () => {
    const world = await setUp([]);
    const { id } = await world.monitor({ type: "push", name: "Job" });
    const cases = [
      [{ schedule: "every day" }, "change.schedule"],
      [{ timeZone: "Mars/Base" }, "change.timeZone"],
      [{ grace: null }, "change.grace"],
      [{ maximumRunTime: 0 }, "change.maximumRunTime"],
    ] as const;
    for (const [change, path] of cases) {
      const { status, json } = await world.bulk({ monitorIds: [id], change });
      expect([status, json.error.details[0].path]).toEqual([422, path]);
    }
  });
});
