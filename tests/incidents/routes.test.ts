import { describe, expect, test } from "bun:test";
import { dumpTables, testAppliance, unknownId } from "../support/appliance.ts";

const statuses = ["investigating", "identified", "monitoring", "resolved"] as const;
const defaults = {
  investigating: "Investigating.",
  identified: "Identified.",
  monitoring: "Monitoring.",
  resolved: "Incident resolved.",
};

async function openIncident(fields: object = {}) {
  const appliance = await testAppliance();
  const { api } = appliance.ours;
  const answer = await api("POST", "/api/v1/incidents", { body: { title: "Slow", ...fields } });
  const path = `/api/v1/incidents/${answer.json.data.id}`;
  return { ...appliance, api, answer, incident: answer.json.data, path };
}

describe("opening", () => {
  test("an incident opens as minor, public and investigating, with its first update", async () => {
    const { answer, incident } = await openIncident();
    expect(answer.status).toBe(201);
    expect(answer.headers.get("location")).toBe(`/api/v1/incidents/${incident.id}`);
    expect(incident).toMatchObject({
      title: "Slow",
      status: "investigating",
      severity: "minor",
      monitorId: null,
      origin: "manual",
      public: true,
      resolvedAt: null,
      createdAt: "2026-11-20T10:00:00.000Z",
      updatedAt: "2026-11-20T10:00:00.000Z",
    });
    expect(incident.updates).toHaveLength(1);
    expect(incident.updates[0]).toMatchObject({
      status: "investigating",
      message: "Incident opened.",
    });
  });

  test("a title has at most 500 code points", async () => {
    const { api } = await openIncident({ title: "😀".repeat(500) });
    const { status, json } = await api("POST", "/api/v1/incidents", {
      body: { title: "😀".repeat(501) },
    });
    expect(status).toBe(422);
    expect(json.error.details).toEqual([
      { path: "title", message: "must have at most 500 characters" },
    ]);
  });

  test("an unknown monitor is 404, names the field, and nothing is written", async () => {
    const appliance = await testAppliance();
    const before = dumpTables(appliance);
    const { status, json } = await appliance.ours.api("POST", "/api/v1/incidents", {
      body: { title: "Slow", monitorId: unknownId },
    });
    expect(status).toBe(404);
    expect(json.error.details[0].path).toBe("monitorId");
    expect(dumpTables(appliance)).toBe(before);
  });

  test("an unknown field is rejected by name", async () => {
    const { api } = await openIncident();
    const { status, json } = await api("POST", "/api/v1/incidents", {
      body: { title: "Slow", severty: "major" },
    });
    expect(status).toBe(422);
    expect(json.error.details[0].path).toBe("severty");
  });
});

describe("updating", () => {
  for (const from of statuses)
    for (const to of statuses)
      test(`${from} can become ${to}, with one update and its default message`, async () => {
        const { api, path } = await openIncident();
        await api("PATCH", path, { body: { status: from } });
        const { status, json } = await api("PATCH", path, { body: { status: to } });
        expect(status).toBe(200);
        expect(json.data.status).toBe(to);
        expect(json.data.updates).toHaveLength(3);
        expect(json.data.updates[2]).toMatchObject({ status: to, message: defaults[to] });
      });

  test("a message alone repeats the current status", async () => {
    const { api, path } = await openIncident();
    await api("PATCH", path, { body: { status: "identified" } });
    const { json } = await api("PATCH", path, { body: { message: "Still at it." } });
    expect(json.data.updates[2]).toMatchObject({ status: "identified", message: "Still at it." });
  });

  test("resolvedAt is stamped once, stays when resolved again, and is cleared by reopening", async () => {
    const { api, path, time } = await openIncident();
    const resolve = async () => (await api("PATCH", path, { body: { status: "resolved" } })).json;
    time.now += 60_000;
    expect((await resolve()).data.resolvedAt).toBe("2026-11-20T10:01:00.000Z");
    time.now += 60_000;
    expect((await resolve()).data.resolvedAt).toBe("2026-11-20T10:01:00.000Z");
    const reopened = await api("PATCH", path, { body: { status: "monitoring" } });
    expect(reopened.json.data.resolvedAt).toBeNull();
  });

  test("title, severity and public are corrected without an update", async () => {
    const { api, path } = await openIncident();
    const body = { title: "Down", severity: "critical", public: false };
    const { json } = await api("PATCH", path, { body });
    expect(json.data).toMatchObject(body);
    expect(json.data.updates).toHaveLength(1);
  });

  test("an empty patch is rejected", async () => {
    const { api, path } = await openIncident();
    expect((await api("PATCH", path, { body: {} })).status).toBe(422);
  });

  test("a GET response can be sent back; it repeats the status", async () => {
    const { api, path } = await openIncident();
    const { json } = await api("GET", path);
    const { status, json: after } = await api("PATCH", path, { body: json.data });
    expect(status).toBe(200);
    expect(after.data.updates).toHaveLength(2);
  });

  test("resolve is a patch to resolved with the default message", async () => {
    const { api, path } = await openIncident();
    const { status, json } = await api("POST", `${path}/resolve`);
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      status: "resolved",
      resolvedAt: "2026-11-20T10:00:00.000Z",
    });
    expect(json.data.updates[1]).toMatchObject({
      status: "resolved",
      message: "Incident resolved.",
    });
  });

  test("50 concurrent updates are stored exactly once and in one order", async () => {
    const { api, path } = await openIncident();
    const messages = Array.from({ length: 50 }, (_, index) => `Update ${index}`);
    const answers = await Promise.all(
      messages.map((message) => api("PATCH", path, { body: { message } })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { json } = await api("GET", path);
    const told = json.data.updates.slice(1).map(({ message }: { message: string }) => message);
    expect(told.toSorted()).toEqual(messages.toSorted());
    for (const answer of answers) {
      const seen = answer.json.data.updates;
      expect(json.data.updates.slice(0, seen.length)).toEqual(seen);
    }
  });

  test("the order of the timeline is stable when the clock goes back", async () => {
    const { api, path, time } = await openIncident();
    time.now -= 3_600_000;
    await api("PATCH", path, { body: { message: "Second" } });
    const { json } = await api("GET", path);
    expect(json.data.updates.map(({ message }: { message: string }) => message)).toEqual([
      "Incident opened.",
      "Second",
    ]);
  });
});

describe("several monitors", () => {
  async function openWithMonitors(...names: string[]) {
    const { api, ...made } = await openIncident();
    const { api: theirs } = made.theirs;
    const createMonitor = async (name: string, of = api) => {
      const body = { type: "ping", name, host: "192.168.1.1" };
      return (await of("POST", "/api/v1/monitors", { body })).json.data.id as string;
    };
    const ids: string[] = [];
    for (const name of names) ids.push(await createMonitor(name));
    const open = (fields: object) =>
      api("POST", "/api/v1/incidents", { body: { title: "Down", ...fields } });
    return { ...made, api, theirs, createMonitor, ids, open };
  }

  test("are listed in their order, once each, and the first one also as monitorId", async () => {
    const { open, ids, api } = await openWithMonitors("A", "B");
    const [a, b] = ids;
    const { json } = await open({ monitorIds: [b, a, b] });
    expect(json.data).toMatchObject({ monitorId: b, monitorIds: [b, a] });
    const { json: alone } = await open({ monitorId: a });
    expect(alone.data).toMatchObject({ monitorId: a, monitorIds: [a] });
    const { json: list } = await api("GET", "/api/v1/incidents?open=true");
    const named = list.data.map(
      ({ monitorId, monitorIds }: { monitorId: string; monitorIds: unknown }) => [
        monitorId,
        monitorIds,
      ],
    );
    expect(named).toContainAllValues([
      [a, [a]],
      [b, [b, a]],
      [null, []],
    ]);
    for (const [monitorId, total] of [[a, 2] as const, [b, 1] as const])
      for (const query of ["", "&severity=minor", "&q=dow"]) {
        const found = await api("GET", `/api/v1/incidents?monitorId=${monitorId}${query}`);
        expect([query, found.json.meta.total, found.json.data.length]).toEqual([
          query,
          total,
          total,
        ]);
      }
  });

  test("and a monitorId next to them must agree", async () => {
    const { open, ids } = await openWithMonitors("A", "B");
    const [a, b] = ids;
    for (const fields of [
      { monitorId: b, monitorIds: [a, b] },
      { monitorId: null, monitorIds: [a] },
      { monitorId: a, monitorIds: [] },
    ]) {
      const { status, json } = await open(fields);
      expect([status, json.error.details]).toEqual([
        422,
        [{ path: "monitorId", message: "must be the first of monitorIds if both are given" }],
      ]);
    }
    expect((await open({ monitorId: a, monitorIds: [a, b] })).status).toBe(201);
    expect((await open({ monitorId: null, monitorIds: [] })).status).toBe(201);
  });

  test("are at most 100 of this organization; otherwise nothing is written", async () => {
    const { open, ids, api, theirs, createMonitor, ...made } = await openWithMonitors("A");
    const foreign = await createMonitor("Theirs", theirs);
    const { json } = await open({ monitorIds: ids });
    const before = dumpTables(made);
    for (const [monitorIds, status] of [
      [[...ids, foreign], 404],
      [[unknownId], 404],
      [Array.from({ length: 101 }, () => Bun.randomUUIDv7()), 422],
    ] as const) {
      const created = await open({ monitorIds });
      const patched = await api("PATCH", `/api/v1/incidents/${json.data.id}`, {
        body: { monitorIds, message: "More." },
      });
      for (const { status: answered, json } of [created, patched])
        expect([answered, json.error.details[0].path]).toEqual([status, "monitorIds"]);
    }
    expect(dumpTables(made)).toBe(before);
  });

  test("are corrected without an update, regardless of `monitorId`", async () => {
    const { open, ids, api } = await openWithMonitors("A", "B", "C");
    const [a, b, c] = ids;
    const { id } = (await open({ monitorIds: [a, b] })).json.data;
    const patch = async (body: object) =>
      (await api("PATCH", `/api/v1/incidents/${id}`, { body })).json.data;
    expect(await patch({ monitorId: a, monitorIds: [c, b] })).toMatchObject({
      monitorId: c,
      monitorIds: [c, b],
      updates: [{ message: "Incident opened." }],
    });
    expect(await patch({ monitorIds: [] })).toMatchObject({ monitorId: null, monitorIds: [] });
    expect((await api("GET", `/api/v1/incidents/${id}`)).json.data.monitorIds).toEqual([]);
  });

  test("that are deleted disappear; the next one becomes the first", async () => {
    const { open, ids, api } = await openWithMonitors("A", "B", "C");
    const [a, b, c] = ids;
    const { id } = (await open({ monitorIds: [a, b, c] })).json.data;
    const other = (await open({ monitorIds: [c] })).json.data;
    for (const [gone, left] of [
      [b, [a, c]],
      [a, [c]],
      [c, []],
    ] as const) {
      await api("DELETE", `/api/v1/monitors/${gone}`);
      const { data } = (await api("GET", `/api/v1/incidents/${id}`)).json;
      expect(data).toMatchObject({ monitorId: left[0] ?? null, monitorIds: left });
    }
    const { data } = (await api("GET", `/api/v1/incidents/${other.id}`)).json;
    expect(data).toMatchObject({ monitorId: null, monitorIds: [] });
  });
});

describe("listing", () => {
  test("newest first, without timelines, with the true total on a page past the end", async () => {
    const { api, time } = await openIncident();
    time.now += 1;
    await api("POST", "/api/v1/incidents", { body: { title: "Second" } });
    const { json } = await api("GET", "/api/v1/incidents?per_page=1");
    expect(json.data.map(({ title }: { title: string }) => title)).toEqual(["Second"]);
    expect(json.data[0]).not.toHaveProperty("updates");
    expect(json.meta).toEqual({ page: 1, per_page: 1, total: 2 });
    const past = await api("GET", "/api/v1/incidents?page=9");
    expect(past.json).toEqual({ data: [], meta: { page: 9, per_page: 20, total: 2 } });
  });

  test("every filter and combination finds the same as a direct count", async () => {
    const { api } = await openIncident({ title: "100% down_now", severity: "critical" });
    const newIncidents = [{ title: "Über: DOWN again" }, { title: "Slow", severity: "major" }];
    for (const body of newIncidents) await api("POST", "/api/v1/incidents", { body });
    const { json } = await api("GET", "/api/v1/incidents");
    await api("POST", `/api/v1/incidents/${json.data[0].id}/resolve`);
    const totals: Record<string, number> = {
      "": 3,
      "status=resolved": 1,
      "status=identified": 0,
      "severity=minor": 1,
      "severity=major&status=resolved": 1,
      "open=true": 2,
      "open=false": 1,
      "open=true&status=resolved": 0,
      "open=true&severity=critical": 1,
      "q=down": 2,
      "q=%C3%BCber%3A%20d": 1,
      "q=%25%20down_": 1,
      "q=_": 1,
      "q=down&severity=critical": 1,
      "q=down&open=false": 0,
      [`monitorId=${unknownId}`]: 0,
    };
    for (const [query, total] of Object.entries(totals)) {
      const { json } = await api("GET", `/api/v1/incidents?${query}`);
      expect([query, json.meta?.total, json.data?.length]).toEqual([query, total, total]);
    }
  });

  test("totals follow deletion and changes of state", async () => {
    const { api, path } = await openIncident();
    await api("POST", `${path}/resolve`);
    await api("DELETE", path);
    for (const query of ["", "?status=resolved", "?status=investigating"])
      expect((await api("GET", `/api/v1/incidents${query}`)).json.meta.total).toBe(0);
  });
});

describe("deleting", () => {
  test("an incident is deleted with its timeline", async () => {
    const { api, path, database } = await openIncident();
    const { status, json } = await api("DELETE", path);
    expect([status, json]).toEqual([200, { data: { deleted: true } }]);
    expect((await api("GET", path)).status).toBe(404);
    expect(database.query("SELECT count(*) AS n FROM incident_updates").get()).toEqual({ n: 0 });
  });

  test("deleting its monitor leaves the incident without a monitor", async () => {
    const { api } = await openIncident();
    const monitor = await api("POST", "/api/v1/monitors", {
      body: { type: "ping", name: "Router", host: "192.168.1.1" },
    });
    const { json } = await api("POST", "/api/v1/incidents", {
      body: { title: "Down", monitorId: monitor.json.data.id },
    });
    await api("DELETE", `/api/v1/monitors/${monitor.json.data.id}`);
    const { json: after } = await api("GET", `/api/v1/incidents/${json.data.id}`);
    expect(after.data.monitorId).toBeNull();
  });
});

test("every write has its audit row and its event, a rejected one neither", async () => {
  const { api, path, database } = await openIncident();
  await api("PATCH", path, { body: { status: "resolved" } });
  await api("PATCH", path, { body: { status: "monitoring" } });
  await api("PATCH", path, { body: { message: "Watching." } });
  await api("PATCH", path, { body: { status: "gone" } });
  await api("DELETE", path);
  const expected = [
    "incident.opened",
    "incident.resolved",
    "incident.reopened",
    "incident.updated",
    "incident.deleted",
  ];
  const readColumn = (sql: string) => database.query(sql).values().flat();
  expect(readColumn("SELECT action FROM audit_entries WHERE action LIKE 'incident.%'")).toEqual(
    expected,
  );
  expect(readColumn("SELECT type FROM events WHERE type LIKE 'incident.%'")).toEqual(expected);
});

test("resolving has no precondition: If-Match belongs to PATCH and DELETE", async () => {
  const { api, path } = await openIncident();
  const { status } = await api("POST", `${path}/resolve`, { headers: { "If-Match": '"9-x"' } });
  expect(status).toBe(200);
});
