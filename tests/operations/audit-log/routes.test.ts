import { deletableNouns } from "../../../src/core/deletable-nouns.ts";
import { expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { createSampleRecord, sampleBodies } from "../../support/records.ts";
import { signInMember } from "../../support/people.ts";

const log = "/dashboard/audit-log";

test("the audit log has who did what to which record, newest first", async () => {
  const appliance = await testAppliance();
  const { page, id } = await signInMember(appliance, "admin", { name: "Ada" });
  const { data } = (
    await page("POST", "/dashboard/api/v1/monitor-groups", { body: { name: "Payments" } })
  ).json;
  const at = `/dashboard/api/v1/monitor-groups/${data.id}`;
  await page("PATCH", at, { body: { name: "Billing", color: "red" } });
  const [newest, before] = (await page("GET", log)).json.data;
  expect(newest).toEqual({
    id: expect.stringMatching(/^\d+$/),
    at: "2026-11-20T10:00:00.000Z",
    actor: { type: "person", id, name: "Ada" },
    action: "group.updated",
    subjectId: data.id,
    subjectName: "Billing",
    subjectOrigin: null,
    tool: null,
    subjectExists: true,
    restorable: false,
    fields: ["name", "color"],
    changes: [
      { field: "name", before: "Payments", after: "Billing", truncated: [] },
      { field: "color", before: "gray", after: "red", truncated: [] },
    ],
    names: {},
    repeated: null,
  });
  expect(before).toMatchObject({ action: "group.created", subjectId: data.id });
});

test("the entry of a deletion shows whether the record can be restored", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const { api } = appliance.ours;
  const path = `/api/v1/monitors/${await createSampleRecord(api, "monitors")}`;
  const isRestorable = async () => {
    const { json } = await page("GET", `${log}?action=monitor.deleted`);
    return json.data.map(({ restorable }: { restorable: boolean }) => restorable);
  };
  await api("DELETE", path);
  expect(await isRestorable()).toEqual([true]);
  await api("POST", `${path}/restore`);
  expect(await isRestorable()).toEqual([false]);
  await api("DELETE", path);
  expect(await isRestorable()).toEqual([true, true]);
  await page("DELETE", `/dashboard${path.replace("monitors", "deleted-records")}`);
  expect(await isRestorable()).toEqual([false, false]);
});

test("records of every kind are named, also in the entry of their deletion", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const { api } = appliance.ours;
  for (const [noun, { create }] of Object.entries(sampleBodies)) {
    const field = "title" in create ? "title" : "name";
    const name = `A name of ${noun}`;
    const id = await createSampleRecord(api, noun, { [field]: name });
    const [entry] = (await page("GET", log)).json.data;
    expect([entry.subjectId, entry.subjectName]).toEqual([id, name]);
    expect((await api("DELETE", `/api/v1/${noun}/${id}`)).status).toBe(200);
    const [gone, before] = (await page("GET", log)).json.data;
    expect([gone.subjectId, gone.subjectName]).toEqual([id, name]);
    expect(gone.restorable).toBe(deletableNouns.includes(gone.action.split(".")[0]));
    expect([before.subjectId, before.subjectName, before.subjectExists]).toEqual([id, name, false]);
    const found = (await page("GET", `${log}?q=${encodeURIComponent(name)}`)).json.data;
    expect(found.map(({ subjectId }: { subjectId: string }) => subjectId)).toEqual([id]);
  }
  const invited = { email: "grace@acme.example", role: "viewer" };
  const invitation = (await page("POST", "/dashboard/invitations", { body: invited })).json.data;
  await page("DELETE", `/dashboard/invitations/${invitation.id}`);
  const viewer = await signInMember(appliance, "viewer", { name: "Linus" });
  await page("DELETE", `/dashboard/people/${viewer.id}`);
  const entries: { action: string; subjectName: string }[] = (await page("GET", log)).json.data;
  const findSubjectName = (wanted: string) =>
    entries.find(({ action }) => action === wanted)?.subjectName;
  expect(findSubjectName("person.removed")).toBe("Linus");
  expect(findSubjectName("invitation.revoked")).toBe(invited.email);
});

test("bulk deletions and records pruned by a configuration are named", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const { api } = appliance.ours;
  const buildConfig = (monitors: object, groups: object) =>
    api("PUT", "/api/v1/config?prune&yes", { body: { source: "team", groups, monitors } });
  const shop = { type: "ping", host: "192.168.1.1", name: "Shop", group: "edge" };
  expect((await buildConfig({ shop }, { edge: { name: "Edge" } })).status).toBe(200);
  const monitorIds = [
    await createSampleRecord(api, "monitors", { name: "One" }),
    await createSampleRecord(api, "monitors", { name: "Two" }),
  ];
  await page("POST", "/dashboard/api/v1/monitors/bulk", { body: { monitorIds, delete: true } });
  expect((await buildConfig({}, {})).status).toBe(200);
  const entries: { action: string; subjectName: string }[] = (await page("GET", log)).json.data;
  const gone = entries.filter(({ action }) => action.endsWith(".deleted"));
  expect(gone.map(({ subjectName }) => subjectName).toSorted()).toEqual([
    "Edge",
    "One",
    "Shop",
    "Two",
  ]);
});

test("the log has pages, and contains only the own organization's entries", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  await createSampleRecord(appliance.theirs.api, "incidents", { title: "Their secret" });
  for (let i = 0; i < 3; i++)
    await createSampleRecord(appliance.ours.api, "incidents", { title: `No ${i}` });
  const { json, text } = await page("GET", `${log}?per_page=2&page=1`);
  expect(json.data.map((one: { subjectName: string }) => one.subjectName)).toEqual([
    "No 2",
    "No 1",
  ]);
  const { total } = json.meta;
  expect(json.meta).toEqual({ page: 1, per_page: 2, total });
  expect(text).not.toContain("Their secret");
  const all = (await page("GET", `${log}?per_page=100`)).json.data;
  expect(all).toHaveLength(total);
  expect((await page("GET", `${log}?page=0`)).status).toBe(422);
});

test("the log is for admins", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "member");
  expect((await page("GET", log)).status).toBe(403);
});

test("it can be searched by person, action and time, and the export has the same filter", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin", { name: "Ada" });
  const { api } = appliance.ours;
  await createSampleRecord(api, "monitor-groups", { name: "Payments 100%" });
  appliance.time.now += 3_600_000;
  const incident = await createSampleRecord(api, "incidents", { title: "Slow payments" });
  await page("PATCH", `/dashboard/api/v1/incidents/${incident}`, { body: { severity: "major" } });
  const findOutcome = async (query: string) => {
    const { status, json } = await page("GET", `${log}?${query}`);
    expect([status, json.meta.total]).toEqual([200, json.data.length]);
    return json.data.map(({ action }: { action: string }) => action);
  };
  expect(await findOutcome("noun=incident")).toEqual(["incident.updated", "incident.opened"]);
  expect(await findOutcome("noun=incident&actor=person")).toEqual(["incident.updated"]);
  expect(await findOutcome("q=PAYMENTS")).toEqual([
    "incident.updated",
    "incident.opened",
    "group.created",
  ]);
  expect(await findOutcome("q=100%25")).toEqual(["group.created"]);
  expect(await findOutcome("q=group.cr")).toEqual(["group.created"]);
  expect(await findOutcome("q=ada&noun=incident")).toEqual(["incident.updated"]);
  // As in the displayed sentences, and by the changed fields.
  expect(await findOutcome("q=ada%20edited%20the%20incident")).toEqual(["incident.updated"]);
  expect(await findOutcome("q=severity")).toEqual(["incident.updated"]);
  expect(await findOutcome("q=opened%20the")).toEqual(["incident.opened"]);
  expect(await findOutcome("noun=group&to=2026-11-20T10:30:00Z")).toEqual(["group.created"]);
  expect(await findOutcome("noun=group&from=2026-11-20T10:30:00Z")).toEqual([]);
  for (const query of ["noun=planet", "actor=nobody", "q=", "from=yesterday", "colour=red"])
    expect([query, (await page("GET", `${log}?${query}`)).status]).toEqual([query, 422]);
  const lines = (await page("GET", `${log}/export.csv?noun=incident`)).text.trim().split("\r\n");
  expect(lines.map((line) => line.split(",")[5])).toEqual([
    "action",
    "incident.opened",
    "incident.updated",
  ]);
});

test("an entry is found at any age, and counted once", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const id = await createSampleRecord(appliance.ours.api, "incidents", {
    title: "Payments are rejected",
  });
  appliance.database.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
     INSERT INTO audit_entries (organization_id, at, actor_type, actor_id, actor_name, action, subject_id, fields, request_id)
     SELECT organization_id, at, actor_type, actor_id, iif(i % 2000, actor_name, 'Grace Hopper'), 'monitor.updated',
       printf('00000000-0000-7000-8000-%012d', i), fields, request_id
     FROM n CROSS JOIN audit_entries WHERE subject_id = ?`,
    [id],
  );
  const findOutcome = async (query: string) => {
    const { data, meta } = (await page("GET", `${log}?${query}`)).json;
    const subjects = data.map((one: { subjectId: string }) => Number(one.subjectId.slice(-12)));
    return [subjects, meta.total];
  };
  expect(await findOutcome("q=hopper")).toEqual([[6_000, 4_000, 2_000], 3]);
  expect(await findOutcome("q=hopper&page=2&per_page=2")).toEqual([[2_000], 3]);
  expect((await findOutcome("q=rejected"))[1]).toBe(1);
  expect(await findOutcome("noun=monitor&per_page=2&page=2500")).toEqual([[1_002, 1_001], 6_000]);
  const lines = (await page("GET", `${log}/export.csv?q=hopper`)).text.trim().split("\r\n");
  expect(lines.length).toBe(4);
});
