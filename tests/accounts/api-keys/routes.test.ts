import { expect, test } from "bun:test";
import { dumpTables, testAppliance, unknownId } from "../../support/appliance.ts";
import { signInMember, createPerson, signInVisitor } from "../../support/people.ts";

const keys = "/dashboard/api-keys";
const deploy = { name: "Deploy", scope: "read", expiresInDays: 30 };

test("an admin creates a key, which works at once and is shown only once", async () => {
  const appliance = await testAppliance();
  const { id, page } = await signInMember(appliance, "admin");
  const { status, json } = await page("POST", keys, { body: deploy });
  const { key, ...shown } = json.data;
  expect([status, shown]).toEqual([
    201,
    {
      id: expect.any(String),
      name: "Deploy",
      scope: "read",
      mcp: false,
      groupIds: null,
      createdById: id,
      createdAt: "2026-11-20T10:00:00.000Z",
      expiresAt: "2026-12-20T10:00:00.000Z",
      revokedAt: null,
      lastUsedAt: null,
    },
  ]);
  expect((await appliance.client(key)("GET", "/api/v1/incidents")).status).toBe(200);
  const listed = (await page("GET", keys)).json.data;
  expect(listed.at(-1)).toEqual(shown);
  expect(JSON.stringify(listed)).not.toContain("sbx_");
  expect(dumpTables(appliance)).not.toContain(key);
});

test("a repeated request returns the same key, which is still not stored in plain text", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const send = () => page("POST", keys, { body: deploy, headers: { "Idempotency-Key": "once" } });
  const [first, again] = [await send(), await send()];
  expect(again.json.data.key).toBe(first.json.data.key);
  expect(dumpTables(appliance)).not.toContain(first.json.data.key);
});

test("an admin limits a key to groups, which takes effect at once, and lifts the limit", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const { id, key } = (await page("POST", keys, { body: { name: "Deploy" } })).json.data;
  const script = appliance.client(key);
  const createGroup = async (name: string): Promise<string> =>
    (await script("POST", "/api/v1/monitor-groups", { body: { name } })).json.data.id;
  const [shop, office] = [await createGroup("Shop"), await createGroup("Office")];
  const change = (groupIds: unknown, of = id) =>
    page("PATCH", `${keys}/${of}`, { body: { groupIds } });
  const readGroup = async (group: string) =>
    (await script("GET", `/api/v1/monitor-groups/${group}`)).status;
  expect((await change([shop])).json.data).toMatchObject({ id, groupIds: [shop] });
  expect([await readGroup(shop), await readGroup(office)]).toEqual([200, 404]);
  expect((await change([])).json.error.message).toContain("groupIds");
  expect((await change([unknownId])).status).toBe(404);
  expect((await change(null)).json.data.groupIds).toBe(null);
  expect(await readGroup(office)).toBe(200);
  expect((await change([shop], unknownId)).status).toBe(404);
  const body = { name: "Jobs", scope: "ping" };
  const pings = (await page("POST", keys, { body })).json.data;
  expect((await change([shop], pings.id)).status).toBe(422);
  await page("POST", `${keys}/${id}/revoke`);
  expect((await change([shop])).status).toBe(409);
  const log = await page("GET", `/dashboard/audit-log?subjectId=${id}`);
  expect(log.json.data.map(({ action }: { action: string }) => action)).toEqual([
    "api-key.revoked",
    "api-key.groups-changed",
    "api-key.groups-changed",
    "api-key.created",
  ]);
});

test("a revoked key stops, and can't be revoked again", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin");
  const { id, key } = (await page("POST", keys, { body: { name: "Deploy" } })).json.data;
  const revoke = (one: string) => page("POST", `${keys}/${one}/revoke`);
  const { status, json } = await revoke(id);
  expect([status, json.data.revokedAt]).toEqual([200, "2026-11-20T10:00:00.000Z"]);
  appliance.time.now += 1_000;
  expect((await appliance.client(key)("GET", "/api/v1/incidents")).status).toBe(401);
  expect((await revoke(id)).status).toBe(409);
  expect((await revoke(unknownId)).status).toBe(404);
});

test("another organization's key gets the same 404 as an unknown one", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "owner");
  const before = dumpTables(appliance);
  const summarize = async (id: string) => {
    const { status, json } = await page("POST", `${keys}/${id}/revoke`);
    return [status, json.error.message];
  };
  expect(await summarize(appliance.theirs.writeKey.id)).toEqual(await summarize(unknownId));
  expect(dumpTables(appliance)).toBe(before);
  const theirs = await createPerson(appliance, appliance.theirs.id, "admin");
  const listed = (await (await signInVisitor(appliance, theirs.id)).page("GET", keys)).json.data;
  expect(listed.map((one: { id: string }) => one.id)).not.toContain(appliance.ours.writeKey.id);
});

test("only admins manage keys, and invalid keys are rejected", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "member");
  expect((await page("GET", keys)).status).toBe(403);
  expect((await page("POST", keys, { body: deploy })).status).toBe(403);
  const admin = await signInMember(appliance, "admin");
  for (const body of [
    {},
    { ...deploy, name: " " },
    { ...deploy, scope: "admin" },
    { ...deploy, expiresInDays: 0 },
    { ...deploy, expiresInDays: "30" },
    { ...deploy, expiresInDays: 1e9 },
    { ...deploy, key: "sbx_mine" },
  ])
    expect([body, (await admin.page("POST", keys, { body })).status]).toEqual([body, 422]);
});

test("last uses are written later, for all keys in one batch", async () => {
  const { appliance, store, ours, database, time } = await testAppliance();
  time.now += 5_000;
  await ours.reader("GET", "/api/v1/incidents");
  await store.atomic(appliance.keys.collectLastUses());
  expect(appliance.keys.collectLastUses()).toEqual([]);
  const rows = database.query("SELECT name, last_used_at FROM api_keys WHERE organization_id = ?");
  expect(rows.values(ours.id)).toEqual([
    ["write", null],
    ["read", "2026-11-20T10:00:05.000Z"],
  ]);
});
