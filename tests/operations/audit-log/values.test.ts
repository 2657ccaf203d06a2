/** The audit log has the values of changed fields before and after, and never a secret. */
import { describe, expect, test } from "bun:test";
import { channelKinds } from "../../../src/alerting/channels/kinds-schema.ts";
import type { Kinds } from "../../../src/core/kinds.ts";
import { listChangedFields } from "../../../src/core/field-changes.ts";
import { auditBounds } from "../../../src/core/limits.ts";
import { monitorKinds } from "../../../src/monitoring/monitors/kinds-schema.ts";
import { testAppliance } from "../../support/appliance.ts";
import { createSampleRecord, sampleBodies } from "../../support/records.ts";
import { canary } from "../../support/samples.ts";
import { listChannelHomes, listMonitorHomes } from "../../support/secret-homes.ts";
import { signInMember } from "../../support/people.ts";
import type { AuditEntry } from "../../../src/operations/audit-log/schema.ts";

async function startLog() {
  const appliance = await testAppliance();
  const { page, id: personId } = await signInMember(appliance, "admin", { name: "Ada" });
  const { api } = appliance.ours;
  const read = async (query = ""): Promise<AuditEntry[]> =>
    (await page("GET", `/dashboard/audit-log?per_page=100${query}`)).json.data;
  return { appliance, page, personId, api, read };
}

type Api = Awaited<ReturnType<typeof startLog>>["api"];

/** Sends a whole record back with one change, as forms of other programs do. */
async function putBack(api: Api, path: string, change: object) {
  const { data } = (await api("GET", path)).json;
  const response = await api("PATCH", path, { body: { ...data, ...change } });
  expect([path, response.status, response.text]).toEqual([path, 200, expect.anything()]);
}

describe("a record that is sent back whole is logged with its only change", () => {
  test.each(Object.entries(sampleBodies))("%s", async (noun, { patch }) => {
    const { api, read } = await startLog();
    const id = await createSampleRecord(api, noun);
    const path = `/api/v1/${noun}/${id}`;
    const { data: before } = (await api("GET", path)).json;
    await putBack(api, path, patch);
    const [entry] = await read();
    const [[field, after] = ["", ""]] = Object.entries(patch);
    // A status in a request always posts an update.
    const fields = noun === "incidents" ? [field, "status"] : [field];
    expect([entry?.subjectId, entry?.fields, entry?.changes]).toEqual([
      id,
      fields,
      [{ field, before: before[field], after, truncated: [] }],
    ]);
  });
});

test("a change of the interval is one field, with the value before", async () => {
  const { api, read } = await startLog();
  const id = await createSampleRecord(api, "monitors");
  await putBack(api, `/api/v1/monitors/${id}`, { interval: 300 });
  const [entry] = await read();
  expect(entry?.changes).toEqual([{ field: "interval", before: 60, after: 300, truncated: [] }]);
});

test("a bulk change is logged per monitor, with the values before", async () => {
  const { page, api, read } = await startLog();
  const channelId = await createSampleRecord(api, "alert-channels", { name: "Pager" });
  const groupId = await createSampleRecord(api, "monitor-groups", { alertChannelIds: [channelId] });
  const tagged = await createSampleRecord(api, "monitors", { tags: ["eu", "old"], paused: true });
  const plain = await createSampleRecord(api, "monitors");
  const done = await createSampleRecord(api, "monitors", { tags: ["eu"], paused: true, groupId });
  const change = { paused: true, addTags: ["eu"], removeTags: ["old"], groupId };
  const monitorIds = [tagged, plain, done];
  const body = { monitorIds, change };
  expect((await page("POST", "/dashboard/api/v1/monitors/bulk", { body })).status).toBe(200);
  const entries = await read("&noun=monitor&action=monitor.updated");
  const changesOf = (id: string) =>
    entries
      .find(({ subjectId }) => subjectId === id)
      ?.changes.map(({ field, before, after }) => [field, before, after]);
  const joined = [
    ["groupId", null, groupId],
    ["tags", ["eu", "old"], ["eu"]],
    ["alertChannelIds", [], [channelId]],
  ];
  expect(changesOf(tagged)).toEqual(joined);
  expect(changesOf(plain)).toEqual([
    ["paused", false, true],
    joined[0] ?? [],
    ["tags", [], ["eu"]],
    joined[2] ?? [],
  ]);
  expect(changesOf(done)).toBeUndefined();
  const { tags, paused, alertChannelIds } = (await api("GET", `/api/v1/monitors/${plain}`)).json
    .data;
  expect({ tags, paused, alertChannelIds }).toEqual({
    tags: ["eu"],
    paused: true,
    alertChannelIds: [channelId],
  });
});

test("a change that changes nothing is not logged", async () => {
  const { api, read } = await startLog();
  const id = await createSampleRecord(api, "monitors");
  const before = await read();
  await putBack(api, `/api/v1/monitors/${id}`, {});
  await api("PATCH", `/api/v1/monitors/${id}`, { body: { alertChannelIds: [] } });
  expect(await read()).toEqual(before);
});

describe("no secret enters the audit log, and each changed one is named", () => {
  const monitors = Object.keys(monitorKinds).flatMap((type) =>
    listMonitorHomes(type, "127.0.0.1", 1).map((home) => ({
      noun: "monitors",
      type,
      home: Object.fromEntries(
        Object.entries(home).filter(([name]) => name in (monitorKinds as Kinds)[type]!.fields),
      ),
    })),
  );
  const channels = Object.keys(channelKinds).flatMap((type) =>
    listChannelHomes(type).map((home) => ({ noun: "alert-channels", type, home })),
  );
  const withSecrets = [...monitors, ...channels].filter(({ home }) =>
    JSON.stringify(home).includes(canary),
  );

  test.each(withSecrets)("$noun: $type", async ({ noun, type, home }) => {
    const { appliance, api, read } = await startLog();
    const created = await api("POST", `/api/v1/${noun}`, { body: { type, name: "One", ...home } });
    expect([created.text, created.status]).toEqual([expect.anything(), 201]);
    const path = `/api/v1/${noun}/${created.json.data.id}`;
    const renew = (value: unknown) =>
      JSON.parse(JSON.stringify(value).replaceAll(canary, `${canary}-2`)) as unknown;
    const renewed = Object.fromEntries(
      Object.entries(home)
        .filter(([, value]) => JSON.stringify(value).includes(canary))
        .map(([name, value]) => [name, renew(value)]),
    );
    const changed = await api("PATCH", path, { body: { ...renewed, name: "Two" } });
    expect([changed.text, changed.status]).toEqual([expect.anything(), 200]);
    const [entry] = await read();
    expect(entry?.fields.toSorted()).toEqual(["name", ...Object.keys(renewed)].toSorted());
    expect(entry?.changes.map(({ field }) => field)).toEqual(["name"]);
    const rows = appliance.database.query("SELECT * FROM audit_entries").all();
    expect(JSON.stringify(rows)).not.toContain(canary);
  });

  test("settings and status pages", async () => {
    const { appliance, api, read } = await startLog();
    const smtp = { host: "mail.lan", from: "a@team.example", user: "a", password: canary };
    await api("PATCH", "/api/v1/settings", { body: { smtp } });
    await api("PATCH", "/api/v1/settings", {
      body: { smtp: { ...smtp, password: `${canary}-2` } },
    });
    expect((await read())[0]).toMatchObject({ fields: ["smtp"], changes: [] });
    await api("PATCH", "/api/v1/settings", {
      body: { smtp: { ...smtp, from: "b@team.example", password: `${canary}-2` } },
    });
    expect((await read())[0]?.changes).toMatchObject([
      { field: "smtp", before: { from: "a@team.example" }, after: { from: "b@team.example" } },
    ]);
    const [page] = (await api("GET", "/api/v1/status-pages")).json.data;
    const path = `/api/v1/status-pages/${page.id}`;
    await putBack(api, path, { visibility: "password", password: `${canary}${canary}` });
    const [entry] = await read();
    expect(entry?.fields).toEqual(["visibility", "password"]);
    expect(entry?.changes.map(({ field }) => field)).toEqual(["visibility"]);
    const rows = JSON.stringify(appliance.database.query("SELECT * FROM audit_entries").all());
    expect(rows).not.toContain(canary);
    expect(rows).not.toContain("argon2");
  });

  test("a configuration", async () => {
    const { appliance, api, read } = await startLog();
    const shop = { type: "http", name: "Shop", url: "http://192.168.1.1/", bearerToken: canary };
    const team = {
      title: "Team",
      slug: "team",
      visibility: "password",
      password: canary.repeat(2),
    };
    const apply = (change: object, page: object) =>
      api("PUT", "/api/v1/config?yes", {
        body: {
          source: "team",
          monitors: { shop: { ...shop, ...change } },
          statusPages: { team: { ...team, ...page } },
        },
      });
    expect((await apply({}, {})).status).toBe(200);
    const changed = await apply(
      { interval: 300, bearerToken: `${canary}-2` },
      { title: "Teams", password: `${canary}-2-and-longer` },
    );
    expect(changed.status).toBe(200);
    const entries = (await read()).filter(({ action }) => action.endsWith(".updated"));
    const found = Object.fromEntries(
      entries.map(({ action, fields, changes }) => [
        action,
        [fields.toSorted(), changes.map(({ before }) => before)],
      ]),
    );
    expect(found).toEqual({
      "monitor.updated": [["bearerToken", "interval"], [60]],
      "status-page.updated": [["password", "title"], ["Team"]],
    });
    const rows = JSON.stringify(appliance.database.query("SELECT * FROM audit_entries").all());
    expect(rows).not.toContain(canary);
  });
});

test("long texts are cut, long lists are counted, and the rest has no values", async () => {
  const { api, read } = await startLog();
  const id = await createSampleRecord(api, "monitor-groups");
  const monitorIds = [];
  for (let i = 0; i < 30; i++)
    monitorIds.push(await createSampleRecord(api, "monitors", { name: `${i}` }));
  const description = "é".repeat(2_000);
  await api("PATCH", `/api/v1/monitor-groups/${id}`, { body: { description, monitorIds } });
  const [entry] = await read();
  const long = auditBounds.value.value;
  expect(entry?.changes).toMatchObject([
    { field: "description", after: `${"é".repeat(long)}…`, truncated: ["after"] },
    { field: "monitorIds", before: [], after: "30 entries", truncated: ["after"] },
  ]);
  // No entry is larger than its bound, however many long fields it has.
  const fields = Array.from({ length: 40 }, (_, index) => [`Header-${index}`, "x".repeat(900)]);
  const names = fields.map(([name = ""]) => name);
  const many = listChangedFields({}, Object.fromEntries(fields), names);
  expect(many).toHaveLength(40);
  expect(JSON.stringify(many).length).toBeLessThan(auditBounds.values.value + 40 * 20);
});

test("records in values are named, even after they were deleted", async () => {
  const { api, read, appliance } = await startLog();
  const channelId = await createSampleRecord(api, "alert-channels", { name: "Pager" });
  const id = await createSampleRecord(api, "monitors");
  await api("PATCH", `/api/v1/monitors/${id}`, { body: { alertChannelIds: [channelId] } });
  const findByName = async () =>
    (await read("&noun=monitor")).find(({ fields }) => fields.includes("alertChannelIds"))?.names;
  expect(await findByName()).toEqual({ [channelId]: "Pager" });
  await api("DELETE", `/api/v1/alert-channels/${channelId}`);
  expect(await findByName()).toEqual({ [channelId]: "Pager" });
  // Another organization can't learn a name by its ID.
  const { theirs } = appliance;
  const foreign = await createSampleRecord(theirs.api, "alert-channels", { name: "Theirs" });
  appliance.database.run("UPDATE audit_entries SET changes = replace(changes, ?, ?)", [
    channelId,
    foreign,
  ]);
  expect(await findByName()).toEqual({});
});

test("the log is filtered by record, person and action", async () => {
  const { page, personId, api, read } = await startLog();
  const id = await createSampleRecord(api, "monitors");
  await createSampleRecord(api, "monitors", { name: "Other" });
  await page("PATCH", `/dashboard/api/v1/monitors/${id}`, { body: { interval: 300 } });
  await api("DELETE", `/api/v1/monitors/${id}`);
  const readActions = async (query: string) => (await read(query)).map(({ action }) => action);
  const all = ["monitor.deleted", "monitor.updated", "monitor.created"];
  expect(await readActions(`&subjectId=${id}`)).toEqual(all);
  expect(await readActions(`&subjectId=${id}&actorId=${personId}`)).toEqual(["monitor.updated"]);
  expect(await readActions(`&subjectId=${id}&action=monitor.deleted`)).toEqual(["monitor.deleted"]);
  expect(await readActions(`&subjectId=${id}&q=300`)).toEqual(["monitor.updated"]);
  for (const query of ["action=monitor.eaten", "subjectId=1", "actorId=ada", "fold=maybe"])
    expect([query, (await page("GET", `/dashboard/audit-log?${query}`)).status]).toEqual([
      query,
      422,
    ]);
  const exported = await page("GET", `/dashboard/audit-log/export.csv?subjectId=${id}`);
  expect(exported.text.trim().split("\r\n")).toHaveLength(4);
  expect(exported.text).toContain("interval: 60 → 300");
});

test("repeated entries are one line, which counts them", async () => {
  const { appliance, page, api, read } = await startLog();
  const [statusPage] = (await api("GET", "/api/v1/status-pages")).json.data;
  for (let i = 0; i < 120; i++)
    appliance.database.run(
      `INSERT INTO audit_entries (organization_id, at, actor_type, actor_id, actor_name, action, subject_id)
       SELECT organization_id, '2026-11-20T10:00:00.000Z', 'person', 'p', 'Ada', 'subscriber.invited', ?
       FROM status_pages WHERE id = ?`,
      [`00000000-0000-7000-8000-${String(i).padStart(12, "0")}`, statusPage.id],
    );
  const monitorIds = [
    await createSampleRecord(api, "monitors", { name: "One" }),
    await createSampleRecord(api, "monitors", { name: "Two" }),
  ];
  await page("POST", "/dashboard/api/v1/monitors/bulk", { body: { monitorIds, delete: true } });
  const folded = await read("&fold=true");
  expect(folded.slice(0, 4).map(({ action, repeated }) => [action, repeated?.count])).toEqual([
    ["monitor.deleted", 2],
    ["monitor.created", undefined],
    ["monitor.created", undefined],
    ["subscriber.invited", 120],
  ]);
  expect(folded[3]?.repeated).toEqual({
    count: 120,
    subjects: 120,
    since: "2026-11-20T10:00:00.000Z",
  });
  const { meta, data } = (await page("GET", "/dashboard/audit-log?fold=true&per_page=1&page=4"))
    .json;
  expect([meta.total, data[0].action]).toEqual([folded.length, "subscriber.invited"]);
  // Without folding, programs still get every entry.
  expect((await read()).filter(({ action }) => action === "monitor.deleted")).toHaveLength(2);
});

test("the same change of several records is one line", async () => {
  const { api, read } = await startLog();
  for (const name of ["One", "Two"]) {
    const id = await createSampleRecord(api, "monitors", { name, interval: 60 });
    await api("PATCH", `/api/v1/monitors/${id}`, { body: { interval: 300 } });
  }
  const third = await createSampleRecord(api, "monitors", { name: "Three", interval: 60 });
  for (const { id } of (await api("GET", "/api/v1/monitors")).json.data)
    await api("PATCH", `/api/v1/monitors/${id}`, { body: { timeout: 7 } });
  await api("PATCH", `/api/v1/monitors/${third}`, { body: { timeout: 8 } });
  const folded = await read("&fold=true&noun=monitor");
  expect(folded.slice(0, 2).map(({ changes, repeated }) => [changes[0]?.after, repeated])).toEqual([
    [8, null],
    [7, expect.objectContaining({ count: 3, subjects: 3 })],
  ]);
});

test("a long log is counted without reading it all, and its first page is the same", async () => {
  const { appliance, api, read, page } = await startLog();
  const id = await createSampleRecord(api, "monitors");
  appliance.database.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 22600)
     INSERT INTO audit_entries (organization_id, at, actor_type, actor_id, actor_name, action, subject_id, request_id)
     SELECT organization_id, at, actor_type, actor_id, actor_name, 'monitor.updated',
       printf('00000000-0000-7000-8000-%012d', i), i
     FROM n CROSS JOIN audit_entries WHERE subject_id = ?`,
    [id],
  );
  const { meta, data } = (await page("GET", "/dashboard/audit-log?fold=true")).json;
  expect(data.map((one: AuditEntry) => one.id)).toEqual(
    (await read()).slice(0, 20).map((one) => one.id),
  );
  const all = (await page("GET", "/dashboard/audit-log")).json.meta.total;
  expect(meta.total).toBe(all);
  const narrow = (await page("GET", `/dashboard/audit-log?fold=true&noun=monitor`)).json.meta.total;
  expect(narrow).toBe(22_601);
});
