import { describe, expect, test } from "bun:test";
import { formatTarget, expandOverview } from "../../src/dashboard/rules.ts";
import { dumpTables, testAppliance, unknownId } from "../support/appliance.ts";
import { createDashboard } from "../support/dashboard.ts";
import { createSampleRecord } from "../support/records.ts";
import { signInMember, signInVisitor } from "../support/people.ts";
import { createWatch } from "../support/check-board.ts";

const path = "/dashboard/overview";

/** A dashboard, and how the Monitors page reads it. */
async function setUp() {
  const watch = await createWatch();
  const { page, cookie } = await signInMember(watch, "viewer");
  return {
    ...watch,
    page,
    cookie,
    overview: async () => expandOverview((await page("GET", path)).json.data),
  };
}

describe("the Monitors page in one response", () => {
  test("has groups and monitors in dashboard order, ungrouped monitors last", async () => {
    const { group, monitor, channel, overview, store, appliance, ours } = await setUp();
    const [a, b, c] = [(await monitor()).id, (await monitor()).id, (await monitor()).id];
    const alertChannelIds = [(await channel()).id];
    const fields = { color: "blue", tags: ["eu"], description: "Cards", alertChannelIds };
    const first = await group({ name: "First", ...fields, monitorIds: [c] });
    const second = await group({ name: "Second", monitorIds: [b] });
    const { groups, monitors, position } = await overview();
    expect(groups[0]).toEqual({
      id: first.id,
      name: "First",
      ...fields,
      paused: false,
      muted: false,
      version: expect.any(Number),
    });
    expect(groups.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
    expect(monitors.map(({ id }: { id: string }) => id)).toEqual([c, b, a]);
    const [last] = await store.query<{ seq: number }>("select max(seq) as seq from events", []);
    expect(appliance.vault.openNumber(position, `live/${ours.id}`)).toBe(last?.seq ?? -1);
  });

  test("omits defaults, and values that follow from a row's folder", async () => {
    const { group, monitor, page } = await setUp();
    const { id: groupId } = await group({ name: "Shop" });
    const result = { type: "push", interval: 86_400 };
    await monitor({ ...result, name: "Grouped", groupId, muted: true });
    await monitor({ ...result, name: "Free", tags: ["eu"] });
    const { groups, ungrouped } = (await page("GET", path)).json.data;
    const always = ["id", "name", "statusSince"];
    always.push("type", "status", "uptime24h", "uptime30d", "since", "day", "month");
    expect(groups).toMatchObject([{ name: "Shop", monitors: [{ name: "Grouped", muted: true }] }]);
    expect(Object.keys(groups[0].monitors[0]).sort()).toEqual([...always, "muted"].sort());
    expect(Object.keys(ungrouped[0]).sort()).toEqual([...always, "tags"].sort());
  });

  test("agrees with the monitor's record, with a message only if it is informative", async () => {
    const { createSite, engine, readMonitor, overview, advance } = await setUp();
    await using shop = await createSite({ tags: ["eu"], muted: true, interval: 60 });
    await engine.runOnce();
    const { id, name, type, groupId, tags, status, latencyMs, uptime24h, ...record } =
      await readMonitor(shop.id);
    const row = {
      id,
      name,
      type,
      groupId,
      tags,
      status,
      latencyMs,
      uptime24h,
      statusSince: record.statusSince,
      lastMessage: null,
      paused: false,
      pausedUntil: null,
      muted: true,
      target: new URL(shop.at()).host,
      uptime30d: 1,
      since: record.createdAt,
      day: `${"-".repeat(23)}u`,
      month: "u",
      spark: `${"-".repeat(23)}0`,
    };
    expect((await overview()).monitors).toEqual([row]);
    shop.failNow();
    await advance(60);
    expect((await overview()).monitors).toMatchObject([
      {
        status: "down",
        lastMessage: (await readMonitor(shop.id)).lastMessage,
        day: expect.stringMatching(/d$/),
      },
    ]);
  });

  test("shows the last 24 hours, one letter each, oldest first, and their exact uptime", async () => {
    const { monitor, readMonitor, database, overview, time } = await setUp();
    const { id } = await monitor();
    const hour = Math.floor(time.now / 3_600_000);
    const sums: Record<number, number[]> = {
      24: [0, 0, 3600, 0],
      23: [3600, 0, 0, 0],
      5: [3000, 600, 0, 0],
      4: [3563, 0, 37, 0],
      3: [3599, 0, 1, 0],
      2: [0, 0, 0, 3600],
      0: [60, 0, 0, 0],
    };
    const add = database.query(
      "INSERT INTO uptime_hours VALUES (?, 1, ?, ?, ?, 0, ?, 0, 0, NULL, NULL, NULL)",
    );
    for (const [back, [up = 0, degraded = 0, down = 0, maintenance = 0]] of Object.entries(sums))
      add.run(hour - Number(back), up, degraded, down, maintenance);
    const [row] = (await overview()).monitors;
    expect(row?.day).toBe(`u${"-".repeat(17)}gddm-u`);
    expect(row?.uptime24h).toBe((await readMonitor(id)).uptime24h);
    time.now += 3_600_000;
    await monitor();
    const later = (await overview()).monitors;
    expect(later[0]?.day).toBe(`${"-".repeat(17)}gddm-u-`);
    expect(later[0]?.uptime24h).toBe((await readMonitor(id)).uptime24h);
    expect(later[1]?.day).toBe("-".repeat(24));
  });

  test("shows the last 30 days, one letter each, from the first measured day", async () => {
    const { monitor, database, overview, time } = await setUp();
    await monitor();
    const day = Math.floor(time.now / 86_400_000);
    const sums: Record<number, number[]> = {
      30: [0, 0, 86_400, 0],
      6: [86_400, 0, 0, 0],
      4: [86_399, 0, 1, 0],
      2: [0, 0, 0, 86_400],
      1: [86_000, 400, 0, 0],
      0: [60, 0, 0, 0],
    };
    const add = database.query(
      "INSERT INTO uptime_days VALUES (?, 1, ?, ?, ?, 0, ?, 0, 0, NULL, NULL, NULL)",
    );
    for (const [back, [up = 0, degraded = 0, down = 0, maintenance = 0]] of Object.entries(sums))
      add.run(day - Number(back), up, degraded, down, maintenance);
    expect((await overview()).monitors[0]?.month).toBe("u-d-mgu");
    // In steps, so that the session stays valid.
    for (let step = 0; step < 3; step++) {
      time.now += 28_800_000;
      await overview();
    }
    await monitor();
    const [later, other] = (await overview()).monitors;
    expect(later?.month).toBe("u-d-mgu-");
    expect(other?.month).toBe("");
  });

  test("distinguishes a monitor's pause from its group's", async () => {
    const { group, monitor, pauseGroup, muteGroup, overview } = await setUp();
    const { id: groupId } = await group();
    await monitor({ name: "Grouped", groupId });
    await monitor({ name: "Own", paused: true });
    await pauseGroup(groupId, true);
    await muteGroup(groupId, true);
    const { groups, monitors } = await overview();
    expect(groups).toMatchObject([{ paused: true, muted: true }]);
    expect(monitors).toMatchObject([
      { name: "Grouped", status: "paused", paused: false, muted: false },
      { name: "Own", status: "paused", paused: true, muted: false },
    ]);
  });

  test("contains nothing of another organization, and is compressed if accepted", async () => {
    const { theirs, app, cookie, monitor, overview } = await setUp();
    await createSampleRecord(theirs.api, "monitor-groups");
    await createSampleRecord(theirs.api, "monitors");
    expect(await overview()).toMatchObject({ groups: [], monitors: [] });
    await monitor();
    const request = (accepted: string, known = "") =>
      app.handle(
        new Request(`http://localhost${path}`, {
          headers: {
            Host: "localhost",
            Cookie: cookie,
            "Accept-Encoding": accepted,
            ...(known !== "" && { "If-None-Match": known }),
          },
        }),
      );
    const packed = await request("gzip, br");
    const plain = await request("identity, gzip;q=0");
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(packed.headers.get("vary")).toBe("Accept-Encoding");
    const bytes = Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer()));
    expect(new TextDecoder().decode(bytes)).toBe(await plain.text());
    const tags = [packed, plain].map(({ headers }) => headers.get("etag") ?? "");
    expect(tags[0]).not.toBe(tags[1]);
    expect((await request("gzip", tags[0])).status).toBe(304);
    expect((await request("gzip", tags[1])).status).toBe(200);
  });
});

test("a target is abbreviated as people write it", () => {
  const noTarget = { url: null, watched: null, port: null };
  const targets: [Parameters<typeof formatTarget>[0], string | null][] = [
    [{ ...noTarget, type: "http", url: "https://shop.lan/" }, "shop.lan"],
    [
      { ...noTarget, type: "http", url: "http://shop.lan:8080/health?full=1" },
      "shop.lan:8080/health?full=1",
    ],
    [{ ...noTarget, type: "tcp", watched: "db.lan", port: 5432 }, "db.lan:5432"],
    [{ ...noTarget, type: "tcp", watched: "fd00::1", port: 22 }, "[fd00::1]:22"],
    [{ ...noTarget, type: "tls", watched: "shop.lan", port: 443 }, "shop.lan"],
    [{ ...noTarget, type: "tls", watched: "shop.lan", port: 8443 }, "shop.lan:8443"],
    [{ ...noTarget, type: "ping", watched: "router.lan" }, "router.lan"],
    [{ ...noTarget, type: "push" }, null],
  ];
  for (const [monitor, target] of targets) expect(formatTarget(monitor)).toBe(target);
});

describe("the history of a monitor's states", () => {
  test("starts with its creation, and includes pauses of its group", async () => {
    const { createSite, engine, time, group, pauseGroup, changeMonitor, page } = await setUp();
    const at = () => new Date(time.now).toISOString();
    const times = [at()];
    const tick = () => {
      time.now += 1_000;
      times.push(at());
    };
    await using shop = await createSite({ interval: 60 });
    const { id: groupId } = await group({ monitorIds: [shop.id] });
    tick();
    await pauseGroup(groupId, true);
    tick();
    await changeMonitor(shop.id, { paused: true });
    await pauseGroup(groupId, false);
    await changeMonitor(shop.id, { paused: false });
    tick();
    shop.failNow();
    await engine.runOnce();
    const path = `/dashboard/monitors/${shop.id}/states`;
    const { json } = await page("GET", path);
    expect(json.data).toEqual([
      { status: "down", since: times[3], message: expect.stringContaining("500") },
      { status: "pending", since: times[2], message: null },
      { status: "paused", since: times[1], message: null },
      { status: "pending", since: times[0], message: null },
    ]);
    expect((await page("GET", `${path}?limit=2`)).json.data).toEqual(json.data.slice(0, 2));
    // A span starts in the state of that time.
    const within = await page("GET", `${path}?from=${times[1]}&to=${times[3]}`);
    expect(within.json.data).toEqual(json.data.slice(1, 3));
    expect((await page("GET", `${path}?from=${times[3]}&to=${times[1]}`)).status).toBe(422);
  });

  test("starts with the oldest known state if older events were removed", async () => {
    const { createSite, engine, page, time, database } = await setUp();
    await using shop = await createSite({ interval: 60, retries: 0 });
    const path = `/dashboard/monitors/${shop.id}/states`;
    const readStates = async () => (await page("GET", path)).json.data;
    const times: string[] = [];
    for (const step of [() => {}, () => shop.failNow(), () => shop.recoverNow()]) {
      time.now += 60_000;
      times.push(new Date(time.now).toISOString());
      step();
      await engine.runOnce();
    }
    const [up, down, wasUp, pending] = await readStates();
    expect([up, down, wasUp, pending].map(({ status }) => status)).toEqual([
      "up",
      "down",
      "up",
      "pending",
    ]);
    database.run("DELETE FROM events WHERE at < ?", [times[1] ?? ""]);
    expect(await readStates()).toEqual([up, down, { ...wasUp, message: null }]);
    database.run("DELETE FROM events");
    expect(await readStates()).toEqual([{ ...up, message: null }]);
  });

  test("of a monitor created paused starts with that state", async () => {
    const { monitor, page } = await setUp();
    const { id } = await monitor({ paused: true });
    const { json } = await page("GET", `/dashboard/monitors/${id}/states`);
    expect(json.data).toMatchObject([{ status: "paused" }]);
  });
});

test("a record is found in any of the person's organizations, and in no other", async () => {
  const appliance = await testAppliance();
  const { ours, theirs, database } = appliance;
  const { id, page } = await signInMember(appliance, "viewer");
  const kinds = {
    monitor: "monitors",
    incident: "incidents",
    "maintenance-window": "maintenance-windows",
    "alert-channel": "alert-channels",
  };
  for (const [kind, noun] of Object.entries(kinds)) {
    const [own, foreign] = [
      await createSampleRecord(ours.api, noun),
      await createSampleRecord(theirs.api, noun),
    ];
    const request = (record: string) => page("GET", `/dashboard/where?kind=${kind}&id=${record}`);
    expect((await request(own)).json.data).toEqual({ organizationId: ours.id });
    expect((await request(foreign)).status).toBe(404);
    expect((await request(unknownId)).status).toBe(404);
  }
  const theirMonitor = await createSampleRecord(theirs.api, "monitors");
  database.run(
    "INSERT INTO memberships (organization_id, person_id, role, created_at) VALUES (?, ?, 'viewer', '2027-01-01T00:00:00.000Z')",
    [theirs.id, id],
  );
  const again = await signInVisitor(appliance, id);
  const { json } = await again.page("GET", `/dashboard/where?kind=monitor&id=${theirMonitor}`);
  expect(json.data).toEqual({ organizationId: theirs.id });
  expect((await page("GET", "/dashboard/where?kind=person&id=x")).status).toBe(422);
});

test("reading changes nothing", async () => {
  const dashboard = await createDashboard();
  const { page } = await signInMember(dashboard, "viewer");
  const { id } = await dashboard.monitor();
  const before = dumpTables(dashboard);
  for (const read of [
    path,
    `/dashboard/monitors/${id}/states`,
    `/dashboard/where?kind=monitor&id=${id}`,
  ])
    expect((await page("GET", read)).status).toBe(200);
  expect(dumpTables(dashboard)).toBe(before);
});
