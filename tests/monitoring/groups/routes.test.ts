import { describe, expect, test } from "bun:test";
import {
  type TestResponse,
  dumpTables,
  testAppliance,
  unknownId,
} from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";

const path = "/api/v1/monitor-groups";
const palette =
  "gray, red, orange, amber, yellow, lime, green, teal, cyan, blue, indigo, violet, purple, pink";

describe("creating", () => {
  test("only a name is required; the other fields default to empty and gray", async () => {
    const { api } = await createDashboard();
    const { status, headers, json } = await api("POST", path, { body: { name: "Payments" } });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`${path}/${json.data.id}`);
    expect(json.data).toEqual({
      id: expect.any(String),
      name: "Payments",
      description: "",
      color: "gray",
      tags: [],
      alertChannelIds: [],
      escalationPolicyId: null,
      dependsOn: [],
      slaTarget: null,
      monitorIds: [],
      paused: false,
      muted: false,
      createdAt: "2026-11-20T10:00:00.000Z",
      updatedAt: "2026-11-20T10:00:00.000Z",
    });
    expect((await api("GET", `${path}/${json.data.id}`)).json).toEqual(json);
  });

  test("tags, channels and monitors are ordered sets without duplicates", async () => {
    const { group, readGroupById, monitor, channel } = await createDashboard();
    const [a, b] = [(await monitor()).id, (await monitor()).id];
    const [c, d] = [(await channel()).id, (await channel()).id];
    const sets = { tags: ["eu", "b", "a"], alertChannelIds: [d, c], monitorIds: [b, a] };
    const doubledSets = Object.entries(sets).map(([name, list]) => [name, [...list, ...list]]);
    const result = await group(Object.fromEntries(doubledSets));
    expect(result).toMatchObject(sets);
    expect(await readGroupById(result.id)).toEqual(result);
  });

  test("every color of the palette is accepted; any other is rejected with the list of colors", async () => {
    const { api, group } = await createDashboard();
    for (const color of palette.split(", ")) expect((await group({ color })).color).toBe(color);
    const { status, json } = await api("POST", path, { body: { name: "Payments", color: "Red" } });
    expect(status).toBe(422);
    expect(json.error.details).toEqual([{ path: "color", message: `must be one of: ${palette}` }]);
  });

  const buildIds = (count: number) =>
    Array.from({ length: count }, (_, index) => unknownId.replace(/.{4}$/, `${1000 + index}`));
  const wrong: [path: string, value: object][] = [
    ["name", { name: "" }],
    ["name", { name: " \u200b" }],
    ["name", { name: "x".repeat(256) }],
    ["name", { name: "two\nlines" }],
    ["name", { name: null }],
    ["description", { description: "x".repeat(2001) }],
    ["description", { description: null }],
    ["color", { color: null }],
    ["tags", { tags: buildIds(11) }],
    ["tags", { tags: null }],
    ["tags[1]", { tags: ["eu", "x".repeat(51)] }],
    ["tags[0]", { tags: [""] }],
    ["alertChannelIds", { alertChannelIds: buildIds(51) }],
    ["alertChannelIds", { alertChannelIds: null }],
    ["alertChannelIds[0]", { alertChannelIds: ["mail"] }],
    ["monitorIds", { monitorIds: null }],
    ["monitorIds", { monitorIds: "all" }],
    ["monitorIds[1]", { monitorIds: [unknownId, 7] }],
    ["colour", { colour: "red" }],
  ];
  test("invalid values are rejected with their field, on creation and in a patch, and change nothing", async () => {
    const appliance = await createDashboard();
    const { api, group, changeGroup } = appliance;
    const { id } = await group();
    const before = dumpTables(appliance);
    for (const [field, value] of wrong) {
      const created = await api("POST", path, { body: { name: "Payments", ...value } });
      const patched = await changeGroup(id, value);
      for (const { status, json } of [created, patched])
        expect([value, status, json.error?.details[0].path]).toEqual([value, 422, field]);
    }
    expect((await api("POST", path, { body: {} })).json.error.details).toEqual([
      { path: "name", message: "is required" },
    ]);
    expect(dumpTables(appliance)).toBe(before);
  });

  test("a group can have at most 5,000 monitors", async () => {
    const { api, monitor, group, readGroupById, database } = await createDashboard();
    await monitor();
    // Creating 5,000 monitors by request would take longer than all other tests of this file.
    const row = database.query<Record<string, string>, []>("SELECT * FROM monitors").get();
    const columns = Object.keys(row ?? {});
    const insert = database.query(
      `INSERT INTO monitors (${columns.join()}) VALUES (${columns.map(() => "?").join()})`,
    );
    const all = buildIds(5_001);
    database.transaction(() => {
      for (const id of all) insert.run(...Object.values({ ...row, id }));
    })();
    const { id } = await group({ monitorIds: all.slice(1) });
    expect((await readGroupById(id)).monitorIds).toEqual(all.slice(1));
    const { status, json } = await api("POST", path, { body: { name: "All", monitorIds: all } });
    expect(status).toBe(422);
    expect(json.error.details).toEqual([
      { path: "monitorIds", message: "must have at most 5000 entries" },
    ]);
  });
});

describe("reading and changing", () => {
  test("all groups are listed on one page in order of creation, even if the clock was set back", async () => {
    const { group, api, time } = await createDashboard();
    const names = Array.from({ length: 25 }, (_, index) => `Group ${index}`);
    for (const name of names) {
      time.now -= 60_000;
      await group({ name });
    }
    const { json } = await api("GET", path);
    expect(json.data.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(json).not.toHaveProperty("meta");
  });

  test("a new group is added at the end, and a deletion keeps the order of the others", async () => {
    const { group, api } = await createDashboard();
    const [first, second] = [await group(), await group(), await group({ name: "Third" })];
    await api("DELETE", `${path}/${second.id}`);
    await group({ name: "Fourth" });
    await api("PATCH", `${path}/${first.id}`, { body: { name: "First" } });
    const { json } = await api("GET", path);
    expect(json.data.map(({ name }: { name: string }) => name)).toEqual([
      "First",
      "Third",
      "Fourth",
    ]);
  });

  test("a group's monitors are listed in the last order that was sent", async () => {
    const { group, readGroupById, changeGroup, monitor } = await createDashboard();
    const [a, b, c] = [(await monitor()).id, (await monitor()).id, (await monitor()).id];
    const { id } = await group({ monitorIds: [c, a, b] });
    const orders = [
      [b, c, a],
      [a, b],
      [b, a, c],
    ];
    for (const monitorIds of orders) {
      expect((await changeGroup(id, { monitorIds })).json.data.monitorIds).toEqual(monitorIds);
      expect((await readGroupById(id)).monitorIds).toEqual(monitorIds);
    }
  });

  test("an empty list empties the group; an absent list changes nothing", async () => {
    const { group, changeGroup, monitor, channel } = await createDashboard();
    const filled = {
      tags: ["eu"],
      alertChannelIds: [(await channel()).id],
      monitorIds: [(await monitor()).id],
    };
    const { id } = await group(filled);
    expect((await changeGroup(id, { name: "Cards" })).json.data).toMatchObject(filled);
    const empty = { tags: [], alertChannelIds: [], monitorIds: [] };
    expect((await changeGroup(id, empty)).json.data).toMatchObject(empty);
  });

  test("paused and muted show the value set in the dashboard and accept no other value", async () => {
    const dashboard = await createDashboard();
    const { api, group, readGroupById, changeGroup, pauseGroup, muteGroup } = dashboard;
    const { id, paused, muted } = await group({ paused: false, muted: false });
    expect({ paused, muted }).toEqual({ paused: false, muted: false });
    const expectRejected = async (fields: object) => {
      const before = dumpTables(dashboard);
      const whole = { name: "Cards", color: "red", monitorIds: [] };
      const responses = [await changeGroup(id, { ...whole, ...fields })];
      if (!Object.values(fields).includes(false))
        responses.push(await api("POST", path, { body: { ...whole, ...fields } }));
      for (const { status, json } of responses)
        expect([status, json.error.details[0].path]).toEqual([422, Object.keys(fields)[0] ?? ""]);
      expect(dumpTables(dashboard)).toBe(before);
    };
    for (const name of ["paused", "muted"])
      for (const value of [true, null, "false", "true", 0, 1, []])
        await expectRejected({ [name]: value });
    await pauseGroup(id, true);
    await muteGroup(id, true);
    const groupRecord = await readGroupById(id);
    expect(groupRecord).toMatchObject({ paused: true, muted: true });
    for (const name of ["paused", "muted"]) await expectRejected({ [name]: false });
    const { status, json } = await changeGroup(id, groupRecord);
    expect([status, json.data]).toEqual([200, groupRecord]);
    const config = { groups: { cards: { name: "Cards", paused: true } } };
    const put = await api("PUT", "/api/v1/config", { body: config });
    expect([put.status, put.json.error.details[0].path]).toEqual([422, "groups.cards.paused"]);
  });

  test("deleting a group returns its monitors to the ungrouped list", async () => {
    const { api, group, monitor, readMonitor } = await createDashboard();
    const { id: monitorId } = await monitor();
    const { id } = await group({ monitorIds: [monitorId] });
    const { status, json } = await api("DELETE", `${path}/${id}`);
    expect([status, json]).toEqual([200, { data: { deleted: true } }]);
    expect((await api("GET", `${path}/${id}`)).status).toBe(404);
    expect((await readMonitor(monitorId)).groupId).toBeNull();
  });
});

describe("atomic writes", () => {
  test("a rejected request leaves every row unchanged", async () => {
    const appliance = await createDashboard();
    const { api, group, monitor, channel, theirs } = appliance;
    const member = (await monitor()).id;
    const other = (await monitor()).id;
    const { id } = await group({ monitorIds: [member], alertChannelIds: [(await channel()).id] });
    const foreign = await theirs.api("POST", "/api/v1/monitors", {
      body: { type: "push", name: "Job" },
    });
    const foreignChannel = await theirs.api("POST", "/api/v1/alert-channels", {
      body: { type: "email", name: "Mail", to: ["a@b.example"] },
    });
    const change = { name: "Changed", tags: ["new"], alertChannelIds: [] };
    const refused: [status: number, named: string, body: object][] = [
      [404, "monitorIds", { ...change, monitorIds: [other, unknownId] }],
      [404, "monitorIds", { ...change, monitorIds: [other, foreign.json.data.id] }],
      [404, "monitorIds", { ...change, monitorIds: [other, id] }],
      [404, "alertChannelIds", { ...change, alertChannelIds: [unknownId], monitorIds: [other] }],
      [404, "alertChannelIds", { ...change, alertChannelIds: [foreignChannel.json.data.id] }],
      [422, "color", { ...change, monitorIds: [other], color: "mauve" }],
      [422, "monitorIds[1]", { ...change, monitorIds: [other, "x"] }],
    ];
    const before = dumpTables(appliance);
    for (const [status, named, body] of refused)
      for (const [method, to] of [
        ["POST", path],
        ["PATCH", `${path}/${id}`],
      ] as const) {
        const response = await api(method, to, { body });
        const { details } = response.json.error;
        expect([method, body, response.status, details[0].path]).toEqual([
          method,
          body,
          status,
          named,
        ]);
      }
    const stale = { headers: { "If-Match": '"9-x"' } };
    const body = { ...change, monitorIds: [other] };
    expect((await api("PATCH", `${path}/${id}`, { body, ...stale })).status).toBe(412);
    expect((await api("DELETE", `${path}/${id}`, stale)).status).toBe(412);
    expect((await api("PATCH", `${path}/${unknownId}`, { body })).status).toBe(404);
    expect((await theirs.api("PATCH", `${path}/${id}`, { body: { name: "Ours" } })).status).toBe(
      404,
    );
    expect(dumpTables(appliance)).toBe(before);
  });

  test("every write adds an audit row and an event; a rejected write adds neither", async () => {
    const { api, group, changeGroup, database } = await createDashboard();
    const { id } = await group();
    await changeGroup(id, { name: "Cards", tags: ["eu"] });
    await changeGroup(id, { name: "" });
    await api("DELETE", `${path}/${id}`);
    const expected = ["group.created", "group.updated", "group.deleted"];
    const readColumn = (sql: string) => database.query(sql).values().flat();
    expect(readColumn("SELECT type FROM events WHERE type LIKE 'group.%'")).toEqual(expected);
    expect(readColumn("SELECT action FROM audit_entries WHERE action LIKE 'group.%'")).toEqual(
      expected,
    );
    expect(readColumn("SELECT fields FROM audit_entries WHERE action = 'group.updated'")).toEqual([
      '["name","tags"]',
    ]);
  });

  test("a group of another organization gets the same response as an unknown group", async () => {
    const { ours, theirs } = await testAppliance();
    const { json } = await theirs.api("POST", path, { body: { name: "Theirs" } });
    const removeRequestId = ({ json }: TestResponse) => ({ ...json.error, requestId: "" });
    for (const method of ["GET", "DELETE"]) {
      const foreign = await ours.api(method, `${path}/${json.data.id}`);
      expect(foreign.status).toBe(404);
      const unknown = await ours.api(method, `${path}/${unknownId}`);
      expect(removeRequestId(foreign)).toEqual(removeRequestId(unknown));
    }
    expect((await ours.api("GET", path)).json).toEqual({ data: [] });
  });
});
