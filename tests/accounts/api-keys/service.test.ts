import { expect, test } from "bun:test";
import { createApiKey, listApiKeys, revokeApiKey } from "../../../src/accounts/api-keys/service.ts";
import { sha256 } from "../../../src/core/ids.ts";
import { dumpTables, testAppliance, unknownId } from "../../support/appliance.ts";
import { findErrorCode } from "../../support/error-code.ts";

const deploy = { name: "Deploy", scope: "read" as const, expiresInMs: null };

test("a key has 43 random characters and is shown once: only its SHA-256 is stored", async () => {
  const appliance = await testAppliance();
  const { scope } = appliance.ours;
  const { id, key } = await createApiKey(scope, deploy);
  expect(key).toMatch(/^sbx_[0-9A-Za-z]{43}$/);
  const stored = dumpTables(appliance);
  expect(stored).not.toContain(key.slice(4));
  expect(stored).toContain(sha256(key));
  const listed = await listApiKeys(scope);
  expect(listed.at(-1)).toEqual({
    id,
    name: "Deploy",
    scope: "read",
    mcp: false,
    groupIds: null,
    createdById: null,
    createdAt: "2026-11-20T10:00:00.000Z",
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  });
  expect((await createApiKey(scope, deploy)).key).not.toBe(key);
});

test("an expiring key shows its expiry", async () => {
  const { ours } = await testAppliance();
  await createApiKey(ours.scope, { ...deploy, expiresInMs: 30 * 86_400_000 });
  expect((await listApiKeys(ours.scope)).at(-1)?.expiresAt).toBe("2026-12-20T10:00:00.000Z");
});

test("a blank or overlong name is rejected, and nothing is written", async () => {
  const appliance = await testAppliance();
  const before = dumpTables(appliance);
  for (const name of ["", "\u200b", "a\nb", "x".repeat(256)])
    expect(await findErrorCode(createApiKey(appliance.ours.scope, { ...deploy, name }))).toBe(
      "VALIDATION_ERROR",
    );
  expect(dumpTables(appliance)).toBe(before);
});

test("a key is revoked once and only by its own organization", async () => {
  const appliance = await testAppliance();
  const { ours, theirs, time } = appliance;
  const { id } = await createApiKey(ours.scope, deploy);
  const before = dumpTables(appliance);
  expect(await findErrorCode(revokeApiKey(theirs.scope, id))).toBe("NOT_FOUND");
  expect(await findErrorCode(revokeApiKey(ours.scope, unknownId))).toBe("NOT_FOUND");
  expect(dumpTables(appliance)).toBe(before);
  time.now += 1_000;
  await revokeApiKey(ours.scope, id);
  const after = dumpTables(appliance);
  time.now += 1_000;
  expect(await findErrorCode(revokeApiKey(ours.scope, id))).toBe("CONFLICT");
  expect(dumpTables(appliance)).toBe(after);
  expect((await listApiKeys(ours.scope)).at(-1)?.revokedAt).toBe("2026-11-20T10:00:01.000Z");
});

test("of two concurrent revocations one gets a conflict", async () => {
  const { ours } = await testAppliance();
  const { id } = await ours.keyOf("read");
  const both = await Promise.all([
    findErrorCode(revokeApiKey(ours.scope, id)),
    findErrorCode(revokeApiKey(ours.scope, id)),
  ]);
  expect(both).toContain("CONFLICT");
  expect(both.filter((code) => code === "CONFLICT")).toHaveLength(1);
});

test("revoking a key does not affect the organization's other keys", async () => {
  const { ours, client, time } = await testAppliance();
  const { id, key } = await createApiKey(ours.scope, deploy);
  const theKey = client(key);
  expect((await theKey("GET", "/api/v1/monitors")).status).toBe(200);
  await revokeApiKey(ours.scope, id);
  time.now += 1_000;
  expect((await theKey("GET", "/api/v1/monitors")).status).toBe(401);
  expect((await ours.reader("GET", "/api/v1/monitors")).status).toBe(200);
});

test("creating and revoking a key write audit rows without the key", async () => {
  const { ours, database } = await testAppliance();
  const { id } = await createApiKey(ours.scope, deploy);
  await revokeApiKey(ours.scope, id);
  const actions = database.query("SELECT action FROM audit_entries WHERE subject_id = ?");
  expect(actions.values(id).flat()).toEqual(["api-key.created", "api-key.revoked"]);
});

test("a recently used key stops at its revocation", async () => {
  const { ours, client } = await testAppliance();
  const { id, key } = await createApiKey(ours.scope, deploy);
  const requestStatus = async () => (await client(key)("GET", "/api/v1/incidents")).status;
  expect(await requestStatus()).toBe(200);
  await revokeApiKey(ours.scope, id);
  expect(await requestStatus()).toBe(401);
});

test("the last use of a key is right again after a use with a clock that was ahead", async () => {
  const { ours, appliance, store, time } = await testAppliance();
  const readLastUse = async () => {
    expect((await ours.api("GET", "/api/v1/monitors")).status).toBe(200);
    await store.atomic(appliance.keys.collectLastUses());
    const listed = await listApiKeys(ours.scope);
    return listed.find(({ id }) => id === ours.writeKey.id)?.lastUsedAt;
  };
  const right = time.now;
  for (const days of [1, 3_650]) {
    time.now = right + days * 86_400_000;
    expect(await readLastUse()).toBe(new Date(time.now).toISOString());
    time.now = right;
    expect(await readLastUse()).toBe(new Date(right).toISOString());
  }
  // Another process writes a moment later.
  time.now = right + 60_000;
  await readLastUse();
  time.now = right + 59_000;
  expect(await readLastUse()).toBe(new Date(right + 60_000).toISOString());
});
