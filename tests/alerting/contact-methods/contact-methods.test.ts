/** Contact methods: how a person is reached, verified by a code, and hidden from lists of channels. */
import { describe, expect, test } from "bun:test";
import { checkCode, planContactMethods } from "../../../src/alerting/contact-methods/rules.ts";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import { createPager } from "../../support/pager.ts";
import { addToOrganization, signInMember } from "../../support/people.ts";
import { startTarget } from "../../support/target.ts";

const rest = "/api/v1/contact-methods";
const path = `/dashboard${rest}`;

async function setUp() {
  const world = await createPager();
  const ada = await signInMember(world, "viewer", { name: "Ada" });
  const server = await startTarget();
  const body = {
    type: "webhook",
    name: "Phone",
    url: server.at("/ada"),
    headers: { "X-Key": "s3cret" },
  };
  const create = async (fields: object = {}, page = ada.page) => {
    const { status, json, text } = await page("POST", path, { body: { ...body, ...fields } });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data;
  };
  const send = (id: string) => ada.page("POST", `${path}/${id}/code`);
  const readLastCode = () => {
    const { data } = JSON.parse(server.asked.at(-1)?.body ?? "{}") as { data: { message: string } };
    return /\b\d{6}\b/.exec(data.message)?.[0] ?? "";
  };
  const verify = (id: string, code: string) =>
    ada.page("POST", `${path}/${id}/verify`, { body: { code } });
  const createVerified = async (fields: object = {}) => {
    const { id } = await create(fields);
    expect((await send(id)).json.data).toEqual({ delivered: true, message: "Delivered." });
    expect((await verify(id, readLastCode())).status).toBe(200);
    return id as string;
  };
  return {
    ...world,
    ada,
    server,
    create,
    send,
    readLastCode,
    verify,
    createVerified,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test("a viewer creates their own contact method, whose secrets are write-only", async () => {
  await using world = await setUp();
  const { ada, create } = world;
  const result = await create({ criticalAfterMinutes: 3, afterMinutes: null });
  expect(result).toMatchObject({
    personId: ada.id,
    name: "Phone",
    afterMinutes: null,
    criticalAfterMinutes: 3,
    verifiedAt: null,
    headers: { "X-Key": null },
    secretsSet: [],
  });
  expect(Object.keys(result)).not.toContain("incidents");
  const list = await ada.page("GET", path);
  expect(list.json.data).toEqual([result]);
  expect(list.text).not.toContain("s3cret");
  const changed = await ada.page("PATCH", `${path}/${result.id}`, { body: { name: "Mobile" } });
  expect(changed.json.data.name).toBe("Mobile");
  expect((await ada.page("DELETE", `${path}/${result.id}`)).status).toBe(200);
  expect((await ada.page("GET", path)).json.data).toEqual([]);
});

test("a contact method has types for one person, minutes up to 60, and one mail address", async () => {
  await using world = await setUp();
  const { ada } = world;
  const refuse = async (body: object) => {
    const { status, json } = await ada.page("POST", path, { body: { name: "X", ...body } });
    return [status, json.error.details[0].path];
  };
  const mail = { type: "email", to: ["ada@team.example"] };
  expect(await refuse({ ...mail, afterMinutes: 61 })).toEqual([422, "afterMinutes"]);
  expect(await refuse({ ...mail, to: ["a@team.example", "b@team.example"] })).toEqual([422, "to"]);
  expect((await refuse({ type: "pagerduty", routingKey: "k" }))[0]).toBe(422);
  expect((await refuse({ ...mail, default: true }))[0]).toBe(422);
  const { id } = (await ada.page("POST", path, { body: { name: "X", ...mail } })).json.data;
  const both = { to: ["a@team.example", "b@team.example"] };
  const { json } = await ada.page("PATCH", `${path}/${id}`, { body: both });
  expect(json.error.details[0].path).toBe("to");
});

describe("a verification", () => {
  test("needs the code of the message, which no response and no log contains", async () => {
    await using world = await setUp();
    const { create, send, verify, readLastCode, database } = world;
    const { id } = await create();
    const { text } = await send(id);
    const code = readLastCode();
    expect(code).toMatch(/^\d{6}$/);
    expect(text + dumpTables(world)).not.toContain(code);
    const { status, json } = await verify(id, code);
    expect([status, json.data.verifiedAt]).toEqual([200, "2026-11-20T10:00:00.000Z"]);
    expect((await verify(id, code)).status).toBe(422);
    const audit = database
      .query("SELECT action FROM audit_entries WHERE action LIKE 'contact%' ORDER BY seq")
      .values()
      .flat();
    expect(audit).toEqual(["contact-method.created", "contact-method.verified"]);
  });

  test("ends after five wrong codes, also with concurrent attempts", async () => {
    await using world = await setUp();
    const { create, send, verify, readLastCode, database } = world;
    const { id } = await create();
    await send(id);
    const wrong = readLastCode() === "000000" ? "000001" : "000000";
    const responses = await Promise.all(Array.from({ length: 9 }, () => verify(id, wrong)));
    expect(responses.every(({ status }) => status === 422)).toBe(true);
    expect(database.query("SELECT code_attempts FROM alert_channels").values()).toEqual([[5]]);
    const { status, json } = await verify(id, readLastCode());
    expect([status, json.error.details[0].message]).toEqual([
      422,
      "is no longer valid: request a new one",
    ]);
    await send(id);
    expect((await verify(id, readLastCode())).status).toBe(200);
  });

  test("expires after 15 minutes, and a new code replaces the old one", async () => {
    await using world = await setUp();
    const { create, send, verify, readLastCode, time } = world;
    const { id } = await create();
    await send(id);
    const first = readLastCode();
    await send(id);
    const second = readLastCode();
    if (first !== second) expect((await verify(id, first)).status).toBe(422);
    time.now += 15 * 60_000;
    expect((await verify(id, second)).status).toBe(422);
    const stored = { id, codeHash: "x", codeExpiresAt: 3_600_000, codeAttempts: 0 };
    // The clock was ahead when the code was sent.
    expect(checkCode(stored, "123456", 0)).toBe("expired");
  });

  test("is limited to three codes in 15 minutes", async () => {
    await using world = await setUp();
    const { create, send, server, time } = world;
    const { id } = await create();
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) statuses.push((await send(id)).status);
    expect([statuses, server.asked.length]).toEqual([[200, 200, 200, 429], 3]);
    time.now += 15 * 60_000;
    expect((await send(id)).status).toBe(200);
  });

  test("is needed again for another address or secret, but not for another name or other minutes", async () => {
    await using world = await setUp();
    const { ada, createVerified, server } = world;
    const id = await createVerified();
    const patchAndReadVerified = async (body: object) =>
      (await ada.page("PATCH", `${path}/${id}`, { body })).json.data.verifiedAt;
    expect(await patchAndReadVerified({ name: "Mobile", afterMinutes: 5, enabled: true })).not.toBe(
      null,
    );
    expect(await patchAndReadVerified({ headers: { "X-Key": "other" } })).toBe(null);
    const other = await createVerified();
    const { json } = await ada.page("PATCH", `${path}/${other}`, {
      body: { url: server.at("/other"), headers: {} },
    });
    expect(json.data.verifiedAt).toBe(null);
  });

  test("fails visibly if the message can't be delivered", async () => {
    await using world = await setUp();
    const { create, send, server } = world;
    const { id } = await create({ url: server.at("/ada").replace(/:\d+/, ":1") });
    expect((await send(id)).json.data).toMatchObject({ delivered: false });
  });
});

test("a test is sent at once, and its delivery is stored", async () => {
  await using world = await setUp();
  const { ada, create, server } = world;
  const { id } = await create();
  const { status, json } = await ada.page("POST", `${path}/${id}/test`);
  expect([status, json.data.status]).toEqual([200, "delivered"]);
  expect(server.asked).toHaveLength(1);
  expect(server.asked[0]?.body).toContain("/settings/contact-methods");
  expect((await ada.page("GET", `${path}/${id}`)).json.data.lastDeliveryAt).not.toBe(null);
});

test("people manage their own, admins and keys those of everyone", async () => {
  await using world = await setUp();
  const { ada, create, ours, theirs, ...rests } = world;
  const appliance = { ...rests, ours, theirs };
  const { id } = await create();
  const other = await signInMember(appliance, "member", { name: "Ben" });
  const admin = await signInMember(appliance, "admin", { name: "Cleo" });
  const adaQuery = `?personId=${ada.id}`;
  expect((await other.page("GET", path)).json.data).toEqual([]);
  expect((await other.page("GET", path + adaQuery)).status).toBe(403);
  for (const [method, tail, body] of [
    ["GET", "", undefined],
    ["PATCH", "", { name: "Mine" }],
    ["DELETE", "", undefined],
    ["POST", "/code", undefined],
    ["POST", "/test", undefined],
    ["POST", "/verify", { code: "123456" }],
  ] as const) {
    const by = await other.page(method, `${path}/${id}${tail}`, body && { body });
    expect([method, tail, by.status]).toEqual([method, tail, 404]);
  }
  const mail = { type: "email", name: "Mail", to: ["ada@team.example"], personId: ada.id };
  expect((await other.page("POST", path, { body: mail })).status).toBe(403);
  expect((await admin.page("GET", path + adaQuery)).json.data).toHaveLength(1);
  expect((await admin.page("POST", path, { body: mail })).status).toBe(201);
  expect((await ours.api("GET", rest + adaQuery)).json.data).toHaveLength(2);
  expect((await ours.api("GET", rest)).json.error.details[0].path).toBe("personId");
  expect((await ours.reader("POST", rest, { body: mail })).status).toBe(403);
  // Another organization has its own, also of the same person.
  await addToOrganization(appliance, theirs.id, ada.id, "viewer");
  expect((await theirs.api("GET", rest + adaQuery)).json.data).toEqual([]);
  expect((await theirs.api("GET", `${rest}/${id}`)).status).toBe(404);
  expect((await ours.api("GET", `${rest}?personId=${unknownId}`)).status).toBe(404);
});

test("a person has at most 20, which are deleted with the person", async () => {
  await using world = await setUp();
  const { ada, create, ours, database } = world;
  await addToOrganization(world, world.theirs.id, ada.id, "viewer");
  for (let count = 0; count < 20; count++) await create({ name: `${count}` });
  const body = { type: "email", name: "One more", to: ["ada@team.example"] };
  expect((await ada.page("POST", path, { body })).status).toBe(409);
  const names = (await ada.page("GET", path)).json.data.map((one: { name: string }) => one.name);
  expect(names).toEqual(Array.from({ length: 20 }, (_, count) => `${count}`));
  const owner = await signInMember(world, "owner");
  expect((await owner.page("DELETE", `/dashboard/people/${ada.id}`)).status).toBe(200);
  const left = database.query("SELECT count(*) FROM alert_channels WHERE organization_id = ?");
  expect(left.values(ours.id)).toEqual([[0]]);
});

test("a page uses verified methods only, by their minutes for the priority", () => {
  const buildMethod = (id: string, more: object = {}) => ({
    id,
    enabled: true,
    verifiedAt: "2026-11-20T10:00:00.000Z",
    afterMinutes: 0,
    criticalAfterMinutes: 0,
    ...more,
  });
  const all = [
    buildMethod("call", { afterMinutes: null, criticalAfterMinutes: 3 }),
    buildMethod("mail", { afterMinutes: 10, criticalAfterMinutes: 5 }),
    buildMethod("push"),
    buildMethod("new", { verifiedAt: null }),
    buildMethod("off", { enabled: false }),
  ];
  const plan = (priority: "low" | "normal" | "critical") =>
    planContactMethods(all, priority).map(({ method: { id }, afterMinutes }) => [id, afterMinutes]);
  expect(plan("normal")).toEqual([
    ["push", 0],
    ["mail", 10],
  ]);
  expect(plan("low")).toEqual(plan("normal"));
  expect(plan("critical")).toEqual([
    ["push", 0],
    ["call", 3],
    ["mail", 5],
  ]);
});
