import { describe, expect, test } from "bun:test";
import { type TestResponse, dumpTables, unknownId } from "../../support/appliance.ts";
import { createPlanner } from "../../support/planner.ts";

const path = "/api/v1/maintenance-windows";
const startsAt = "2026-11-22T02:00:00.000Z";
const endsAt = "2026-11-22T04:00:00.000Z";
const needed = { title: "Firmware", startsAt, endsAt };

const pathsOf = ({ status, json }: TestResponse) => [
  status,
  json.error?.details?.map(({ path }: { path: string }) => path),
];

describe("creating", () => {
  test("only title and times are required; defaults are once, UTC, public, no monitors", async () => {
    const { api } = await createPlanner();
    const { status, headers, json } = await api("POST", path, { body: needed });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`${path}/${json.data.id}`);
    expect(json.data).toEqual({
      id: expect.any(String),
      ...needed,
      description: "",
      timeZone: "UTC",
      rrule: null,
      monitorIds: [],
      groupIds: [],
      countsUptime: false,
      public: true,
      reminderHours: null,
      progressNotices: true,
      state: "scheduled",
      current: null,
      next: { startsAt, endsAt },
      createdAt: "2026-11-20T10:00:00.000Z",
      updatedAt: "2026-11-20T10:00:00.000Z",
    });
    expect((await api("GET", `${path}/${json.data.id}`)).json).toEqual(json);
  });

  test("times with an offset are stored in UTC", async () => {
    const { planWindow: plan } = await createPlanner();
    const local = { startsAt: "2026-11-22T03:00:00+01:00", endsAt: "2026-11-22T04:00:00Z" };
    expect(await plan(local)).toMatchObject({ startsAt, endsAt });
  });

  test("monitors and groups are sets in the order of the request", async () => {
    const { planWindow: plan, monitor, group, readWindow } = await createPlanner();
    const [a, b] = [(await monitor()).id, (await monitor()).id];
    const [c, d] = [(await group()).id, (await group()).id];
    const { id } = await plan({ monitorIds: [b, a, b], groupIds: [d, c, c] });
    expect(await readWindow(id)).toMatchObject({ monitorIds: [b, a], groupIds: [d, c] });
  });

  const refused: [name: string, body: object, path: string][] = [
    ["no title", { title: undefined }, "title"],
    ["a blank title", { title: " " }, "title"],
    ["a title of 256 characters", { title: "x".repeat(256) }, "title"],
    ["a description of 2,001", { description: "x".repeat(2_001) }, "description"],
    ["no start", { startsAt: undefined }, "startsAt"],
    ["a start without an offset", { startsAt: "2026-11-22T02:00:00" }, "startsAt"],
    ["an invalid date", { startsAt: "2026-02-30T02:00:00Z" }, "startsAt"],
    ["a start after the latest year", { startsAt: "9999-12-31T23:00:00Z" }, "startsAt"],
    ["an end before the start", { endsAt: "2026-11-22T01:00:00Z" }, "endsAt"],
    ["32 days", { endsAt: "2026-12-24T02:00:00Z" }, "endsAt"],
    ["an unknown time zone", { timeZone: "Europe/Bremen" }, "timeZone"],
    ["an offset as a time zone", { timeZone: "+01:00" }, "timeZone"],
    ["an empty rule", { rrule: "" }, "rrule"],
    ["a rule with its name", { rrule: "RRULE:FREQ=DAILY" }, "rrule"],
    ["a rule with DTSTART", { rrule: "DTSTART=20261122T020000Z;FREQ=DAILY" }, "rrule"],
    ["two lines", { rrule: "FREQ=DAILY\nEXDATE=20261123" }, "rrule"],
    ["every minute", { rrule: "FREQ=MINUTELY;INTERVAL=90" }, "rrule"],
    ["a part twice", { rrule: "FREQ=DAILY;FREQ=WEEKLY" }, "rrule"],
    ["COUNT with UNTIL", { rrule: "FREQ=DAILY;COUNT=3;UNTIL=20271122" }, "rrule"],
    ["an INTERVAL of centuries", { rrule: "FREQ=YEARLY;INTERVAL=400" }, "rrule"],
    ["a COUNT of millions", { rrule: "FREQ=HOURLY;INTERVAL=2;COUNT=1000000" }, "rrule"],
    ["30 February", { rrule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" }, "rrule"],
    ["a rule that ends before its start", { rrule: "FREQ=DAILY;UNTIL=20261121" }, "rrule"],
    ["hours that overlap", { rrule: "FREQ=HOURLY" }, "rrule"],
    ["an unknown field", { color: "red" }, "color"],
    ["too many monitors", { monitorIds: Array(5_001).fill(unknownId) }, "monitorIds"],
    ["too many groups", { groupIds: Array(501).fill(unknownId) }, "groupIds"],
  ];
  for (const [name, body, field] of refused)
    test(`${name} is rejected with ${field}`, async () => {
      const planner = await createPlanner();
      const before = dumpTables(planner);
      const response = await planner.api("POST", path, { body: { ...needed, ...body } });
      expect(pathsOf(response)).toEqual([422, [field]]);
      expect(dumpTables(planner)).toBe(before);
    });

  for (const [field, noun] of [
    ["monitorIds", "monitors"],
    ["groupIds", "monitor-groups"],
  ] as const)
    test(`an unknown id in ${field} is not found, and no window is created`, async () => {
      const planner = await createPlanner();
      const subject = noun === "monitors" ? await planner.monitor() : await planner.group();
      const before = dumpTables(planner);
      const body = { ...needed, [field]: [subject.id, unknownId] };
      expect(pathsOf(await planner.api("POST", path, { body }))).toEqual([404, [field]]);
      expect(dumpTables(planner)).toBe(before);
    });
});

describe("changing", () => {
  test("only fields in the patch change, and a GET response can be sent back", async () => {
    const { planWindow: plan, change, readWindow, monitor, time } = await createPlanner();
    const { id: monitorId } = await monitor();
    const { id } = await plan({ monitorIds: [monitorId], rrule: "FREQ=WEEKLY" }, 60);
    const before = await readWindow(id);
    time.now += 1_000;
    const updatedAt = new Date(time.now).toISOString();
    const { status, json } = await change(id, { ...before, title: "Cabling" });
    expect([status, json.data]).toEqual([200, { ...before, title: "Cabling", updatedAt }]);
    expect((await change(id, { monitorIds: [] })).json.data.monitorIds).toEqual([]);
    expect((await change(id, { rrule: null })).json.data).toMatchObject({ rrule: null });
  });

  test("new times are validated together with the stored times", async () => {
    const { planWindow: plan, change, inMinutes } = await createPlanner();
    const { id } = await plan({}, 60, 60);
    expect(pathsOf(await change(id, { startsAt: inMinutes(120) }))).toEqual([422, ["endsAt"]]);
    expect(pathsOf(await change(id, { rrule: "FREQ=HOURLY" }))[0]).toBe(200);
    expect(pathsOf(await change(id, { endsAt: inMinutes(121) }))).toEqual([422, ["rrule"]]);
  });

  test("deleting a window deletes its lists, and its monitors stay", async () => {
    const { planWindow: plan, remove, api, monitor, readMonitor, database } = await createPlanner();
    const { id: monitorId } = await monitor();
    const { id } = await plan({ monitorIds: [monitorId] });
    expect((await remove(id)).json).toEqual({ data: { deleted: true } });
    expect((await api("GET", `${path}/${id}`)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
    expect(database.query("SELECT * FROM maintenance_monitors").values()).toEqual([]);
    expect((await readMonitor(monitorId)).id).toBe(monitorId);
  });

  test("a deleted monitor or group is removed from its windows", async () => {
    const { planWindow: plan, api, monitor, group, readWindow } = await createPlanner();
    const [{ id: a }, { id: b }, { id: c }] = [await monitor(), await monitor(), await group()];
    const { id } = await plan({ monitorIds: [a, b], groupIds: [c] });
    await api("DELETE", `/api/v1/monitors/${a}`);
    await api("DELETE", `/api/v1/monitor-groups/${c}`);
    expect(await readWindow(id)).toMatchObject({ monitorIds: [b], groupIds: [] });
  });

  test("each write adds an audit row and an event", async () => {
    const { planWindow: plan, change, remove, database } = await createPlanner();
    const { id } = await plan({}, 60);
    await change(id, { title: "Cabling" });
    await remove(id);
    const actions = ["maintenance.created", "maintenance.updated", "maintenance.deleted"];
    for (const [table, column] of [
      ["audit_entries", "action"],
      ["events", "type"],
    ])
      expect(
        database
          .query(`SELECT ${column} FROM ${table} WHERE subject_id = ? ORDER BY seq`)
          .values(id)
          .flat(),
      ).toEqual(actions);
  });
});

describe("the list", () => {
  test("is newest first and filtered by the current state", async () => {
    const { planWindow: plan, api, time } = await createPlanner();
    const later = await plan({ title: "later" }, 60);
    const weekly = await plan({ title: "weekly", rrule: "FREQ=WEEKLY" }, 0);
    const currentWindow = await plan({ title: "now" });
    const readTitles = async (query: string) => {
      const { json } = await api("GET", `${path}?${query}`);
      return [json.meta.total, ...json.data.map(({ title }: { title: string }) => title)];
    };
    expect(await readTitles("")).toEqual([3, "now", "weekly", "later"]);
    expect(await readTitles("state=running")).toEqual([2, "now", "weekly"]);
    expect(await readTitles("state=running&per_page=1&page=2")).toEqual([2, "weekly"]);
    expect(await readTitles("state=scheduled")).toEqual([1, "later"]);
    time.now = Date.parse(currentWindow.endsAt);
    expect(await readTitles("state=over")).toEqual([1, "now"]);
    expect(await readTitles("state=running")).toEqual([1, "later"]);
    expect(await readTitles("state=scheduled")).toEqual([1, "weekly"]);
    expect([later.state, weekly.state, currentWindow.state]).toEqual([
      "scheduled",
      "running",
      "running",
    ]);
    expect(pathsOf(await api("GET", `${path}?state=planned`))).toEqual([422, ["state"]]);
  });

  test("for a monitor contains the windows of the monitor and of its group", async () => {
    const { planWindow: plan, api, monitor, group } = await createPlanner();
    const { id: groupId } = await group();
    const [{ id: a }, { id: b }] = [await monitor({ groupId }), await monitor()];
    await plan({ title: "group", groupIds: [groupId] });
    await plan({ title: "both", groupIds: [groupId], monitorIds: [a, b] });
    await plan({ title: "other", monitorIds: [b] });
    const readTitles = async (id: string) => {
      const { json } = await api("GET", `${path}?monitorId=${id}`);
      return [json.meta.total, ...json.data.map(({ title }: { title: string }) => title)];
    };
    expect(await readTitles(a)).toEqual([2, "both", "group"]);
    expect(await readTitles(b)).toEqual([2, "other", "both"]);
  });

  test("the ETag of a window changes when it starts, without a write", async () => {
    const { planWindow: plan, api, time } = await createPlanner();
    const { id } = await plan({}, 60);
    const etag = (await api("GET", `${path}/${id}`)).headers.get("etag") ?? "";
    time.now += 60 * 60_000;
    const headers = { "If-None-Match": etag };
    const { status, json } = await api("GET", `${path}/${id}`, { headers });
    expect([status, json.data.state]).toEqual([200, "running"]);
    const patch = { body: { title: "B" }, headers: { "If-Match": etag } };
    expect((await api("PATCH", `${path}/${id}`, patch)).status).toBe(200);
  });
});
