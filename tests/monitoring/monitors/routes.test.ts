import { describe, expect, test } from "bun:test";
import { dumpTables, testAppliance, unknownId } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { canary, newMonitors } from "../../support/samples.ts";

const path = "/api/v1/monitors";
const isHeader = (field: string) => field.startsWith("headers.");

describe("secrets", () => {
  const secrets = {
    basicAuth: { username: "probe", password: canary },
    bearerToken: canary,
    headers: { "X-Api-Key": canary },
  };
  async function createWithSecrets() {
    const dashboard = await createDashboard();
    const { id } = await dashboard.monitor({ type: "http", ...newMonitors.http, ...secrets });
    return { ...dashboard, id: id as string };
  }

  test("are never returned, stored or logged in plain text; secretsSet lists the set ones", async () => {
    const world = await createWithSecrets();
    const { api, id } = world;
    const copy = { type: "http", name: "Copy", ...newMonitors.http, ...secrets };
    const responses = [
      await api("POST", path, { body: copy, headers: { "Idempotency-Key": "once" } }),
      await api("GET", `${path}/${id}`),
      await api("PATCH", `${path}/${id}`, { body: { ...secrets, muted: true } }),
      await api("PATCH", `${path}/${id}`, { body: { ...secrets, method: canary } }),
      await api("PATCH", `${path}/${id}`, { body: { bearerToken: `${canary}\n` } }),
      await api("GET", path),
    ];
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 422, 422, 200]);
    for (const { json } of responses.slice(0, 3)) {
      expect(json.data.secretsSet).toEqual(["bearerToken", "basicAuth.password"]);
      expect(json.data.basicAuth).toEqual({ username: "probe" });
      expect(json.data.headers).toEqual({ "X-Api-Key": null });
      expect(json.data).not.toHaveProperty("bearerToken");
    }
    const everything = [
      ...responses.map(({ text }) => text),
      ...world.logged,
      dumpTables(world),
    ].join();
    expect(everything).not.toContain(canary);
  });

  const header = { "headers.X-Api-Key": canary };
  const secretFields = { bearerToken: canary, "basicAuth.password": canary, ...header };
  const changes: [does: string, patch: object, left: Record<string, string>][] = [
    ["an absent field changes nothing", { name: "Renamed" }, secretFields],
    ["null clears the token", { bearerToken: null }, { "basicAuth.password": canary, ...header }],
    [
      "null clears the user and the password",
      { basicAuth: null },
      { bearerToken: canary, ...header },
    ],
    [
      "null clears only the password",
      { basicAuth: { username: "probe", password: null } },
      { bearerToken: canary, ...header },
    ],
    ["basicAuth sent back keeps its password", { basicAuth: { username: "probe" } }, secretFields],
    [
      "a new user keeps the password, a new token replaces the old one",
      { basicAuth: { username: "other" }, bearerToken: "new" },
      { ...secretFields, bearerToken: "new" },
    ],
    ["headers sent back keep their values", { headers: { "X-Api-Key": null } }, secretFields],
    [
      "a header is added next to a stored one, in any case",
      { headers: { "x-api-key": null, "X-Team": "ops" } },
      {
        bearerToken: canary,
        "basicAuth.password": canary,
        "headers.x-api-key": canary,
        "headers.X-Team": "ops",
      },
    ],
    [
      "an absent header is removed with its value",
      { headers: {} },
      { bearerToken: canary, "basicAuth.password": canary },
    ],
    [
      "a header's new value replaces the old one",
      { headers: { "X-Api-Key": "new" } },
      { ...secretFields, "headers.X-Api-Key": "new" },
    ],
  ];
  for (const [does, patch, left] of changes)
    test(`in a patch, ${does}`, async () => {
      const { changeMonitor, id, readMonitor, readSecrets } = await createWithSecrets();
      const { status, json } = await changeMonitor(id, patch);
      const [headers, others] = [Object.keys(left).filter(isHeader), Object.keys(left)];
      expect([status, json.data.secretsSet, Object.keys(json.data.headers)]).toEqual([
        200,
        others.filter((path) => !isHeader(path)),
        headers.map((path) => path.replace("headers.", "")),
      ]);
      expect(readSecrets("monitor", id)).toEqual(left);
      expect(await readMonitor(id)).toEqual(json.data);
    });
});

describe("a header without a value", () => {
  const needs = "needs its value: null leaves a stored value unchanged, but none is stored";
  test("is rejected, even if it would reuse the value of another header", async () => {
    const dashboard = await createDashboard();
    const { api, monitor, changeMonitor } = dashboard;
    const http = { type: "http", ...newMonitors.http };
    const { id } = await monitor({ ...http, headers: { "X-Api-Key": canary } });
    const { id: bot } = await dashboard.channel({
      type: "webhook",
      url: "http://bot.lan",
      headers: { "X-Api-Key": canary },
    });
    const before = dumpTables(dashboard);
    const refused = [
      await api("POST", path, { body: { ...http, name: "A", headers: { "X-Other": null } } }),
      await changeMonitor(id, { headers: { "X-Other": null } }),
      await api("PATCH", `/api/v1/alert-channels/${bot}`, {
        body: { headers: { "X-Other": null } },
      }),
    ];
    for (const { status, json } of refused)
      expect([status, json.error.details]).toEqual([
        422,
        [{ path: "headers.X-Other", message: needs }],
      ]);
    expect(dumpTables(dashboard)).toBe(before);
  });
});

describe("a push monitor's URL", () => {
  test("is unique, survives changes of the monitor and can't be chosen", async () => {
    const { monitor, readMonitor, changeMonitor } = await createDashboard();
    const pushUrl = "http://localhost/push/chosen";
    const [a, b] = [await monitor({ type: "push", pushUrl }), await monitor({ type: "push" })];
    expect(new Set([a.pushUrl, b.pushUrl, pushUrl]).size).toBe(3);
    const { json } = await changeMonitor(a.id, { grace: 5, pushUrl });
    expect(json.data).toMatchObject({ grace: 5, pushUrl: a.pushUrl, secretsSet: [] });
    expect((await readMonitor(a.id)).pushUrl).toBe(a.pushUrl);
  });

  test("starts with the origin of the reader's request", async () => {
    const { api, monitor } = await createDashboard();
    const { id, pushUrl } = await monitor({ type: "push" });
    const headers = { Host: "signalbox.lan:3210" };
    const { json } = await api("GET", `${path}/${id}`, { headers });
    expect(json.data.pushUrl).toBe(pushUrl.replace("localhost", headers.Host));
  });

  test("is not stored in the database", async () => {
    const dashboard = await createDashboard();
    const { pushUrl } = await dashboard.monitor({ type: "push" });
    expect(dumpTables(dashboard)).not.toContain(pushUrl.split("/").at(-1));
  });
});

describe("changing", () => {
  test("the type is fixed; a patch accepts only the same type and its fields", async () => {
    const appliance = await createDashboard();
    const { monitor, changeMonitor } = appliance;
    const { id } = await monitor();
    const before = dumpTables(appliance);
    for (const [field, patch] of [
      ["type", { type: "tcp", port: 80 }],
      ["type", { type: "ftp" }],
      ["url", { url: "http://intranet.lan" }],
      ["hots", { hots: "10.0.0.1" }],
    ] as const) {
      const { status, json } = await changeMonitor(id, patch);
      expect([patch, status, json.error.details[0].path]).toEqual([patch, 422, field]);
    }
    expect(dumpTables(appliance)).toBe(before);
    expect((await changeMonitor(id, { type: "ping", packets: 3 })).json.data.packets).toBe(3);
  });

  test("an unknown or foreign group or channel returns 404 with the field and writes nothing", async () => {
    const appliance = await createDashboard();
    const { api, monitor, changeMonitor, group, theirs } = appliance;
    const { id } = await monitor({ groupId: (await group()).id });
    const foreign = await theirs.api("POST", "/api/v1/monitor-groups", {
      body: { name: "Theirs" },
    });
    const before = dumpTables(appliance);
    for (const [field, change] of [
      ["groupId", { groupId: unknownId, muted: true }],
      ["groupId", { groupId: foreign.json.data.id, muted: true }],
      ["alertChannelIds", { alertChannelIds: [unknownId], groupId: null }],
    ] as const) {
      const body = { type: "ping", name: "Router", host: "10.0.0.1", ...change };
      for (const response of [await api("POST", path, { body }), await changeMonitor(id, change)])
        expect([response.status, response.json.error.details[0].path]).toEqual([404, field]);
    }
    const stale = { headers: { "If-Match": '"9-x"' } };
    const change = { body: { groupId: null }, ...stale };
    expect((await api("PATCH", `${path}/${id}`, change)).status).toBe(412);
    expect((await api("DELETE", `${path}/${id}`, stale)).status).toBe(412);
    expect((await theirs.api("DELETE", `${path}/${id}`)).status).toBe(404);
    expect(dumpTables(appliance)).toBe(before);
  });

  test("pausing and resuming discard the last result; a paused group pauses its monitors", async () => {
    const { monitor, readMonitor, changeMonitor, group, pauseGroup, database, time } =
      await createDashboard();
    const { id } = await monitor();
    database.run("UPDATE monitor_states SET status = 'down'");
    expect((await readMonitor(id)).status).toBe("down");
    time.now += 1_000;
    expect((await changeMonitor(id, { paused: true })).json.data).toMatchObject({
      status: "paused",
      statusSince: "2026-11-20T10:00:01.000Z",
    });
    time.now += 1_000;
    expect((await changeMonitor(id, { paused: false })).json.data).toMatchObject({
      status: "pending",
      statusSince: "2026-11-20T10:00:02.000Z",
    });
    const { id: groupId } = await group();
    await pauseGroup(groupId, true);
    const { json } = await changeMonitor(id, { groupId });
    expect(json.data).toMatchObject({ status: "paused", paused: false });
    expect(await readMonitor(id)).toEqual(json.data);
  });

  test("50 concurrent changes of one monitor all succeed", async () => {
    const { monitor, readMonitor, changeMonitor, channel } = await createDashboard();
    const { id } = await monitor({ alertChannelIds: [(await channel()).id] });
    const fields = { muted: true, interval: 30, retries: 5, tags: ["eu"], description: "Core" };
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const [name, value] = Object.entries(fields)[index % 5] ?? [];
        return changeMonitor(id, { [String(name)]: value });
      }),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await readMonitor(id)).toMatchObject(fields);
  });
});

describe("listing", () => {
  test("newest first; a page past the end has the correct total", async () => {
    const { api, monitor, time } = await createDashboard();
    for (const name of ["a", "b", "c"]) {
      await monitor({ name });
      time.now += 1;
    }
    const { json } = await api("GET", `${path}?per_page=2`);
    expect(json.data.map(({ name }: { name: string }) => name)).toEqual(["c", "b"]);
    expect(json.meta).toEqual({ page: 1, per_page: 2, total: 3 });
    expect((await api("GET", `${path}?page=3&per_page=2`)).json).toEqual({
      data: [],
      meta: { page: 3, per_page: 2, total: 3 },
    });
  });

  test("every filter, alone and combined, matches a reference filter", async () => {
    const { api, monitor, group, pauseGroup, database, changeMonitor } = await createDashboard();
    const { id: groupId } = await group();
    const { id: pausedGroup } = await group();
    await monitor({ name: "100% Core_1", tags: ["eu", "core"], groupId });
    await monitor({ name: "CORE 2", tags: ["core"], paused: true });
    await monitor({ name: "Job", type: "push", tags: ["eur"], groupId });
    const { id } = await monitor({ name: "Quiet", type: "push" });
    await changeMonitor(id, { groupId: pausedGroup });
    await pauseGroup(pausedGroup, true);
    database.run("UPDATE monitor_states SET status = 'down'");
    const totals: Record<string, number> = {
      "": 4,
      "status=down": 2,
      "status=paused": 2,
      "status=pending": 0,
      "type=push": 2,
      "type=http": 0,
      [`groupId=${groupId}`]: 2,
      [`groupId=${unknownId}`]: 0,
      "tag=eu": 1,
      "tag=core": 2,
      "tag=EU": 0,
      "q=core": 2,
      "q=%25%20core_": 1,
      "q=_": 1,
      "paused=true": 1,
      "paused=false": 3,
      "tag=core&paused=false": 1,
      [`groupId=${groupId}&type=push&status=down&q=job`]: 1,
      [`groupId=${groupId}&status=paused`]: 0,
    };
    for (const [query, total] of Object.entries(totals)) {
      const { json } = await api("GET", `${path}?${query}`);
      expect([query, json.meta?.total, json.data?.length]).toEqual([query, total, total]);
    }
  });

  test("an invalid filter value is rejected with its parameter", async () => {
    const { ours } = await testAppliance();
    for (const query of ["status=gone", "type=ftp", "groupId=1", "tag=", "q=", "paused=1", "x=1"]) {
      const { status, json } = await ours.api("GET", `${path}?${query}`);
      const [name] = query.split("=");
      expect([query, status, json.error?.details[0].path]).toEqual([query, 422, name]);
    }
  });
});

test("deleting a monitor deletes its state and its channel links", async () => {
  const { api, monitor, channel, database } = await createDashboard();
  const { id } = await monitor({ alertChannelIds: [(await channel()).id] });
  const { status, json } = await api("DELETE", `${path}/${id}`);
  expect([status, json]).toEqual([200, { data: { deleted: true } }]);
  expect((await api("GET", `${path}/${id}`)).status).toBe(404);
  for (const table of ["monitors", "monitor_states", "monitor_channels"])
    expect(database.query(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
});

test("every write adds an audit row and an event; a rejected write adds neither", async () => {
  const { api, monitor, changeMonitor, database } = await createDashboard();
  const { id } = await monitor();
  await changeMonitor(id, { host: "10.0.0.2", muted: true });
  await changeMonitor(id, { host: "-f" });
  await api("DELETE", `${path}/${id}`);
  const expected = ["monitor.created", "monitor.updated", "monitor.deleted"];
  const readColumn = (sql: string) => database.query(sql).values().flat();
  expect(readColumn("SELECT type FROM events WHERE type LIKE 'monitor.%'")).toEqual([
    ...expected.slice(0, 2),
    "monitor.paused",
    "monitor.deleted",
  ]);
  expect(readColumn("SELECT action FROM audit_entries WHERE action LIKE 'monitor.%'")).toEqual(
    expected,
  );
  expect(readColumn("SELECT fields FROM audit_entries WHERE action = 'monitor.updated'")).toEqual([
    '["host","muted"]',
  ]);
});
