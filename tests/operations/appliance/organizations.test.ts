import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { organizationTables, sweepOrganizations } from "../../../src/operations/appliance/store.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import {
  alertAcknowledgments,
  alertNotifications,
  alertRecords,
  alerts as alertTable,
  alertTimeline,
  openCases,
} from "../../../src/database/tables/alerting.ts";
import { notices } from "../../../src/database/tables/status-pages.ts";
import { recordProblem } from "../../../src/events/problems.ts";
import { sweepRemovedMonitors, sweepResults } from "../../../src/monitoring/uptime/retention.ts";
import { dumpTables, type TestAppliance, unknownId } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { openStream } from "../../support/live.ts";
import {
  addToOrganization,
  signInMember,
  createBrowser,
  createPerson,
  sortStatuses,
  signInVisitor,
} from "../../support/people.ts";

const organizations = "/dashboard/organizations";

describe("creating an organization", () => {
  test("is for administrators, who become its owners", async () => {
    const dashboard = await createDashboard();
    const owner = await signInMember(dashboard, "owner");
    const body = { name: "Side job", timeZone: "Europe/Berlin" };
    const before = dumpTables(dashboard);
    expect((await owner.page("POST", organizations, { body })).status).toBe(403);
    expect(dumpTables(dashboard)).toBe(before);
    const { page } = await signInMember(dashboard, "viewer", { administrator: true });
    const founded = await page("POST", organizations, { body });
    const { id } = founded.json.data;
    expect([founded.status, founded.json.data]).toEqual([
      201,
      {
        id,
        slug: "side-job",
        name: "Side job",
        timeZone: "Europe/Berlin",
        role: "owner",
        groupIds: null,
      },
    ]);
    const headers = { "X-Organization": id };
    const incident = { body: { title: "Slow" }, headers };
    expect((await page("POST", "/dashboard/api/v1/incidents", incident)).status).toBe(201);
    expect((await dashboard.api("GET", "/api/v1/incidents")).json.meta.total).toBe(0);
    const log = await page("GET", "/dashboard/audit-log", { headers });
    expect(log.json.data.at(-1)).toMatchObject({
      action: "organization.created",
      actor: { type: "person" },
      subjectName: "Side job",
    });
  });

  test("fails for a person who loses the administrator flag at that moment", async () => {
    const dashboard = await createDashboard();
    const one = await signInMember(dashboard, "viewer", { administrator: true });
    const other = await signInMember(dashboard, "viewer", { administrator: true });
    const [founded, taken] = await Promise.all([
      one.page("POST", organizations, { body: { name: "Side job" } }),
      other.page("DELETE", `/dashboard/administrators/${one.id}`),
    ]);
    expect(taken.status).toBe(200);
    expect([201, 403]).toContain(founded.status);
    const { json } = await other.page("GET", organizations);
    expect(json.data).toHaveLength(founded.status === 201 ? 3 : 2);
  });
});

/** Our organization with a row in every table, and an administrator of theirs. */
async function createFull() {
  const dashboard = await createDashboard();
  const { api, ours, theirs, time, engine, alerts } = dashboard;
  const ada = await signInVisitor(
    dashboard,
    (await createPerson(dashboard, theirs.id, "viewer", { administrator: true })).id,
  );
  const provider = { name: "SSO", issuer: "https://sso.lan", clientId: "signalbox" };
  const offered = await ada.page("POST", "/dashboard/identity-providers", {
    body: { ...provider, organizations: [{ organizationId: ours.id }] },
  });
  expect([offered.status, offered.text]).toEqual([201, offered.text]);
  const hook = await dashboard.channel({ type: "webhook", url: "http://127.0.0.1:9/hook" });
  const dependsOn = [(await dashboard.monitor({ name: "Router" })).id];
  const group = await dashboard.group({ alertChannelIds: [hook.id], dependsOn });
  const monitor = await dashboard.monitor({
    type: "push",
    groupId: group.id,
    dependsOn,
    alertChannelIds: [hook.id],
    retries: 0,
    autoIncidentSeverity: "major",
    reminderInterval: 60,
  });
  await api("POST", "/api/v1/maintenance-windows", {
    body: {
      title: "Firmware",
      startsAt: "2026-11-20T10:00:00.000Z",
      endsAt: "2026-11-20T12:00:00.000Z",
      monitorIds: [(await dashboard.monitor()).id],
      groupIds: [(await dashboard.group({ name: "Empty" })).id],
    },
  });
  await api("DELETE", `/api/v1/monitors/${(await dashboard.monitor({ name: "Old" })).id}`);
  const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
  const put = await api("PATCH", `/api/v1/status-pages/${page.id}`, {
    body: {
      hosts: ["status.ours.example"],
      sections: [{ groupId: group.id, monitors: [{ id: monitor.id, name: "Job" }] }],
    },
  });
  expect([put.status, put.text]).toEqual([200, put.text]);
  await api("POST", `/api/v1/status-pages/${page.id}/access-tokens`, { body: { name: "Reader" } });
  const s3 = { endpoint: "http://127.0.0.1:9", bucket: "status", accessKeyId: "a" };
  const published = await api("PATCH", `/api/v1/status-pages/${page.id}/publishing`, {
    body: { enabled: true, to: "s3", s3: { ...s3, secretAccessKey: "a-secret-access-key" } },
  });
  expect([published.status, published.text]).toEqual([200, published.text]);
  await api("POST", `/api/v1/status-pages/${page.id}/subscribers`, {
    body: { type: "webhook", url: "https://hooks.team.example/status" },
  });
  const slow = await api("POST", "/api/v1/incidents", {
    body: { title: "Slow", message: "We look." },
    headers: { "Idempotency-Key": "1" },
  });
  const { id: slowId, updates } = slow.json.data;
  await api("PATCH", `/api/v1/incidents/${slowId}/updates/${updates[0].id}`, {
    body: { message: "We look into it." },
  });
  await api("PATCH", `/api/v1/incidents/${slowId}/postmortem`, {
    body: { message: "A full disk." },
  });
  const held = await api("POST", "/api/v1/incidents?hold=60", { body: { title: "Held" } });
  expect(held.status).toBe(202);
  await api("POST", "/api/v1/incident-templates", { body: { name: "Slow", message: "We look." } });
  const owner = await signInMember(dashboard, "owner", { name: "Olga" });
  const bea = await signInMember(dashboard, "admin", { name: "Bea" });
  await addToOrganization(dashboard, theirs.id, bea.id, "viewer");
  const layers = [{ personIds: [bea.id], start: "2026-11-20T09:00" }];
  const platform = await api("POST", "/api/v1/schedules", { body: { name: "Platform", layers } });
  const targets = [{ type: "schedule", id: platform.json.data.id }];
  await api("POST", "/api/v1/escalation-policies", {
    body: { name: "Shop", steps: [{ afterMinutes: 0, targets }] },
  });
  await api("POST", `/api/v1/schedules/${platform.json.data.id}/overrides`, {
    body: {
      personId: owner.id,
      startsAt: "2026-12-01T00:00:00Z",
      endsAt: "2026-12-02T00:00:00Z",
    },
  });
  dashboard.database.run("insert into schedule_notices values (?, ?, ?, 0)", [
    dashboard.ours.id,
    platform.json.data.id,
    bea.id,
  ]);
  const source = await api("POST", "/api/v1/alert-sources", {
    body: { name: "Prometheus", type: "alertmanager", alertChannelIds: [hook.id] },
  });
  const firing = { alerts: [{ status: "firing", fingerprint: "a", labels: {} }] };
  await dashboard.stranger("POST", new URL(source.json.data.address).pathname, { body: firing });
  await owner.page("POST", "/dashboard/invitations", {
    body: { email: "cleo@team.example", role: "viewer" },
  });
  const path = new URL(monitor.pushUrl).pathname;
  await engine.runOnce();
  await dashboard.maintenance.runOnce();
  await dashboard.maintenance.runOnce();
  await dashboard.stranger("POST", `${path}?status=up`);
  time.now += 1_000;
  await dashboard.stranger("POST", `${path}?status=down`);
  await alerts.runOnce();
  time.now += 10_000;
  await alerts.runOnce();
  dashboard.database.run(
    `insert into imports values ('${ours.id}', 'i', 'there', 'done', null, 1, 0, 0, 'Ada', '')`,
  );
  dashboard.database.run(
    `insert into external_records values ('${ours.id}', 'there', 'group', '1', 'r', 'i', 0, '{}')`,
  );
  dashboard.database.run(
    `insert into alert_receipts select organization_id, id, 'r', 0, 0 from deliveries
     where organization_id = '${ours.id}' limit 1`,
  );
  dashboard.database.run(`insert into screenshots values ('${ours.id}', '${monitor.id}', 1, '')`);
  const [record] = await dashboard.store.db
    .select()
    .from(alertRecords)
    .where(eq(alertRecords.organizationId, ours.id));
  const recordMatch = { organizationId: ours.id, recordId: record?.id ?? "" };
  await dashboard.store.atomic([
    dashboard.store.db.insert(alertTimeline).values({ ...recordMatch, at: "", type: "noted" }),
    dashboard.store.db
      .insert(alertAcknowledgments)
      .values({ ...recordMatch, actorType: "person", actorId: "1", actorName: "Ada", at: "" }),
    dashboard.store.db
      .insert(alertNotifications)
      .values({ ...recordMatch, channelId: hook.id, step: 0, round: 0, dueAt: 2 ** 50 }),
  ]);
  const notice = { pageId: page.id, type: "incident.opened", at: "2026-11-20T10:00:00.000Z" };
  const [told] = await dashboard.store.db
    .select()
    .from(alertTable)
    .where(eq(alertTable.organizationId, ours.id));
  const opened = { channelId: hook.id, subjectId: monitor.id, problem: "down", key: "1" };
  const about = { stage: "", severity: "error", message: "It is full.", until: null } as const;
  const problem = { name: "disk", ...about } as const;
  const { db } = dashboard.store;
  await dashboard.store.atomic([
    db.insert(notices).values({ organizationId: ours.id, id: unknownId, ...notice, data: "{}" }),
    db.insert(openCases).values({ organizationId: ours.id, ...opened, alertId: told?.id ?? "" }),
    ...recordProblem([ours.id], problem, time.now),
  ]);
  return { ...dashboard, ada, owner, both: bea, path, oursId: ours.id };
}

const tablesOf = ({ database }: TestAppliance) =>
  database
    .query<{ name: string }, []>(
      "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'organization_id' ORDER BY m.name",
    )
    .all()
    .map(({ name }) => name);

const countRows = ({ database }: TestAppliance, table: string, id: string) =>
  Number(
    database.query(`SELECT count(*) FROM "${table}" WHERE organization_id = ?`).values(id)[0]?.[0],
  );

test("deleting an organization sweeps every table that refers to organizations", async () => {
  const { database } = await createDashboard();
  const direct = database
    .query<{ name: string }, []>(
      "SELECT m.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND f.\"table\" = 'organizations' ORDER BY m.name",
    )
    .all()
    .map(({ name }) => name);
  const swept: string[] = organizationTables.map(([table]) => table);
  expect(direct.length).toBeGreaterThan(10);
  expect(direct.filter((name) => !swept.includes(name))).toEqual([]);
});

describe("deleting", () => {
  test("is for administrators, and removes all of the organization's rows and no others", async () => {
    const world = await createFull();
    const { ada, owner, theirs, oursId, time, store, database } = world;
    const tables = tablesOf(world);
    expect(tables.filter((table) => countRows(world, table, oursId) === 0)).toEqual([]);
    const readTheirRows = () =>
      JSON.stringify(
        tables
          .filter((table) => !["audit_entries", "events"].includes(table))
          .map((table) => [
            table,
            database.query(`SELECT * FROM "${table}" WHERE organization_id = ?`).values(theirs.id),
          ]),
      );
    const before = readTheirRows();
    expect((await owner.page("DELETE", `${organizations}/${oursId}`)).status).toBe(403);
    expect((await ada.page("DELETE", `${organizations}/${unknownId}`)).status).toBe(404);
    const { status, json } = await ada.page("DELETE", `${organizations}/${oursId}`);
    expect([status, json]).toEqual([200, { data: { deleted: true } }]);
    expect((await ada.page("DELETE", `${organizations}/${oursId}`)).status).toBe(404);
    time.now += 60_000;
    await sweepOrganizations(createSweeping(store, time.now));
    await sweepRemovedMonitors(createSweeping(store, time.now));
    await sweepResults(createSweeping(store, time.now), { heartbeatDays: 90, hourDays: 365 });
    // The publisher removes the files first, which needs the place and its key.
    expect(tables.filter((table) => countRows(world, table, oursId) > 0)).toEqual([
      "published_places",
    ]);
    const rest = [
      "heartbeats",
      "uptime_hours",
      "uptime_days",
      "monitor_states",
      "removed_monitors",
    ];
    for (const table of rest)
      expect([table, database.query(`SELECT count(*) FROM ${table}`).values()]).toEqual([
        table,
        [[0]],
      ]);
    // The appliance's log names it once, in the administrator's organization.
    const logs = ["audit_entries", "events"].map((table) =>
      database.query(`SELECT count(*) FROM ${table} WHERE subject_id = ?`).values(oursId),
    );
    expect(logs).toEqual([[[1]], [[1]]]);
    expect(database.query("PRAGMA foreign_key_check").values()).toEqual([]);
    expect(readTheirRows()).toBe(before);
  });

  test("ends it at once for everyone: people, keys, pages, push addresses; its slug is free", async () => {
    const world = await createFull();
    const { ada, owner, both, api, path, ours, theirs, time } = world;
    await ada.page("DELETE", `${organizations}/${ours.id}`);
    time.now += 500;
    expect((await api("GET", "/api/v1/monitors")).status).toBe(401);
    expect((await world.stranger("POST", `${path}?status=up`)).status).toBe(404);
    expect((await owner.page("GET", "/dashboard/session")).json.data.state).toBe("signed-out");
    expect((await createBrowser(world).signIn(owner.email)).status).toBe(401);
    const { data } = (await both.page("GET", "/dashboard/session")).json;
    expect(data.organizations.map((one: { id: string }) => one.id)).toEqual([theirs.id]);
    const headers = { "X-Organization": ours.id };
    expect((await both.page("GET", "/dashboard/people", { headers })).status).toBe(404);
    expect((await ada.page("GET", organizations)).json.data).toHaveLength(1);
    const again = await ada.page("POST", organizations, { body: { name: "Ours" } });
    expect(again.json.data.slug).toBe("ours");
  });

  test("prevents writes of keys and people that were authenticated a moment before", async () => {
    const world = await createFull();
    const { ada, api, owner, ours, database } = world;
    await api("GET", "/api/v1/monitors");
    const body = { type: "ping", name: "Late", host: "192.168.1.1" };
    const [deleted, ...late] = await Promise.all([
      ada.page("DELETE", `${organizations}/${ours.id}`),
      ...Array.from({ length: 5 }, () => api("POST", "/api/v1/monitors", { body })),
      owner.page("POST", "/dashboard/api/v1/monitors", { body }),
    ]);
    expect(deleted?.status).toBe(200);
    for (const { status } of late) expect([201, 401, 404]).toContain(status);
    expect((await api("POST", "/api/v1/monitors", { body })).status).toBe(401);
    // Rows written before were deleted with it.
    const checked = "SELECT count(*) FROM monitor_states WHERE organization_id = ? AND NOT paused";
    expect(database.query(checked).values(ours.id)).toEqual([[0]]);
  });

  test("stops its checks and alerts", async () => {
    const world = await createFull();
    const { ada, engine, maintenance, alerts, ours, time, database } = world;
    await ada.page("DELETE", `${organizations}/${ours.id}`);
    await engine.runOnce();
    await maintenance.runOnce();
    await alerts.runOnce();
    // A waiting delivery finds no receiver when it is due.
    time.now += 3_600_000;
    await alerts.runOnce();
    const before = dumpTables(world);
    for (let i = 0; i < 5; i++) {
      time.now += 3_600_000;
      await engine.runOnce();
      await maintenance.runOnce();
      await alerts.runOnce();
    }
    expect(dumpTables(world)).toBe(before);
    const waiting = "SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL";
    expect(database.query(waiting).values()).toEqual([[0]]);
    expect(world.logged.filter((line) => line.includes("failed"))).toEqual([]);
  });

  test("closes the open pages that show it, and no others", async () => {
    const world = await createFull();
    const { ada, both, ours, theirs, live } = world;
    await live.start();
    const ownStream = await openStream(world, both.cookie, { query: `?organization=${ours.id}` });
    const other = await openStream(world, both.cookie, { query: `?organization=${theirs.id}` });
    await ownStream.next();
    await other.next();
    expect((await ada.page("DELETE", `${organizations}/${ours.id}`)).status).toBe(200);
    for (;;) if ((await ownStream.next()) === null) break;
    await other.readUntil(({ data }) => data.type === "organization.deleted");
    await other.leave();
    await live.stop();
  });

  test("is rejected if an administrator would be left without an organization", async () => {
    const dashboard = await createDashboard();
    const { page } = await signInMember(dashboard, "owner", { administrator: true });
    const before = dumpTables(dashboard);
    const { status, json } = await page("DELETE", `${organizations}/${dashboard.ours.id}`);
    expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
    expect(dumpTables(dashboard)).toBe(before);
    // An organization without members can be deleted by an administrator of another one.
    expect((await page("DELETE", `${organizations}/${dashboard.theirs.id}`)).status).toBe(200);
  });

  test("by two requests at once happens once", async () => {
    const world = await createFull();
    const remove = () => world.ada.page("DELETE", `${organizations}/${world.ours.id}`);
    expect(sortStatuses(await Promise.all([remove(), remove()]))).toEqual([200, 404]);
  });
});
