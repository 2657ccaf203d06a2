/** A browser as contact method: stored, verified by its notification, acknowledged from it, and unsubscribed. */
import { createECDH } from "node:crypto";
import { expect, test } from "bun:test";
import { dumpTables } from "../../support/appliance.ts";
import { createPager } from "../../support/pager.ts";
import { signInMember } from "../../support/people.ts";
import { createPushService } from "../../support/push-service.ts";
import { personalKinds } from "../../../src/alerting/channels/kinds/push-schema.ts";

const path = "/dashboard/api/v1/contact-methods";

async function createWorld() {
  const service = createPushService();
  const world = await createPager({ exchange: service.exchange });
  const ada = await signInMember(world, "member", { name: "Ada" });
  const add = (fields: object = {}) =>
    ada.page("POST", path, {
      body: { type: "webpush", name: "Firefox", ...service.subscription, ...fields },
    });
  const addVerified = async () => {
    const { id } = (await add()).json.data;
    await ada.page("POST", `${path}/${id}/code`);
    const { code } = service.last().message.verification ?? {};
    await ada.page("POST", `${path}/${id}/verify`, { body: { code } });
    return id as string;
  };
  return { ...world, service, ada, add, addVerified };
}

test("a browser subscribes with the key of the appliance; what it keeps secret is write-only", async () => {
  const { ada, add, service, api, database } = await createWorld();
  const { status, json, text } = await add();
  expect(status).toBe(201);
  expect(json.data).toMatchObject({
    publicKey: service.subscription.publicKey,
    secretsSet: ["endpoint", "auth"],
    verifiedAt: null,
  });
  const { endpoint, auth } = service.subscription;
  const stored = dumpTables({ database });
  for (const secret of [endpoint, auth]) expect(text + stored).not.toContain(secret);
  await ada.page("POST", `${path}/${json.data.id}/test`);
  const key = await ada.page("GET", "/dashboard/web-push");
  expect(key.json.data).toEqual({ publicKey: service.last().from.publicKey });
  const channel = { type: "webpush", name: "Browser", ...service.subscription };
  expect((await api("POST", "/api/v1/alert-channels", { body: channel })).status).toBe(422);
});

test("wrong keys and a plain address are rejected by name", async () => {
  const { add } = await createWorld();
  const findPath = async (fields: object) => (await add(fields)).json.error.details[0].path;
  expect(await findPath({ endpoint: "http://push.example/x" })).toBe("endpoint");
  expect(await findPath({ publicKey: "BAAA" })).toBe("publicKey");
  expect(await findPath({ auth: "short" })).toBe("auth");
});

test("a key is accepted only if it is a point on P-256", async () => {
  const { add, service } = await createWorld();
  const flipBit = (key: string, bit: number) => {
    const bytes = Buffer.from(key, "base64url");
    bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    return bytes.toString("base64url");
  };
  const isAccepted = (key: string) => personalKinds.webpush.fields.publicKey.safeParse(key).success;
  for (let round = 0; round < 20; round++) {
    const key = createECDH("prime256v1").generateKeys("base64url");
    expect([key, isAccepted(key)]).toEqual([key, true]);
    for (let bit = 0; bit < 520; bit += 13)
      expect([key, bit, isAccepted(flipBit(key, bit))]).toEqual([key, bit, false]);
  }
  const { status, json } = await add({ publicKey: flipBit(service.subscription.publicKey, 519) });
  expect([status, json.error.details[0].path]).toEqual([422, "publicKey"]);
});

test("the notification contains the code with which the browser verifies itself", async () => {
  const { ada, add, ours, service } = await createWorld();
  const { id } = (await add()).json.data;
  const sent = await ada.page("POST", `${path}/${id}/code`);
  expect(sent.json.data).toEqual({ delivered: true, message: "Delivered." });
  const { message, headers } = service.last();
  const code = message.verification?.code ?? "";
  expect(message.verification).toEqual({ organizationId: ours.id, contactMethodId: id, code });
  expect(message.text).toContain(code);
  expect(headers["urgency"]).toBe("high");
  const verified = await ada.page("POST", `${path}/${id}/verify`, { body: { code } });
  expect(verified.json.data.verifiedAt).not.toBeNull();
});

test("a page is acknowledged from the notification without a session", async () => {
  const { ada, addVerified, service, later, stranger, api } = await createWorld();
  await addVerified();
  const drill = (await ada.page("POST", `/dashboard/api/v1/people/${ada.id}/drill`)).json.data;
  await later();
  const { acknowledgePath } = service.last().message;
  expect(acknowledgePath).toMatch(/^\/a\/[\w-]+$/);
  expect((await stranger("POST", acknowledgePath ?? "")).status).toBe(200);
  const { json } = await api("GET", `/api/v1/alerts/${drill.id}`);
  expect(json.data.acknowledgments.map(({ name }: { name: string }) => name)).toEqual(["Ada"]);
});

test("a browser that has unsubscribed fails at once, with a reason and a remedy", async () => {
  const { ada, addVerified, service, later, api } = await createWorld();
  const id = await addVerified();
  const steps = [{ afterMinutes: 0, targets: [{ type: "person", id: ada.id }] }];
  await api("POST", "/api/v1/escalation-policies", { body: { name: "Ada", steps } });
  service.respond(410);
  await ada.page("POST", `/dashboard/api/v1/people/${ada.id}/drill`);
  await later();
  const attempts = service.received.length;
  await later(3_600);
  expect(service.received.length).toBe(attempts);
  const { problems } = (await api("GET", "/api/v1/on-call/readiness")).json.data;
  expect(problems).toContainEqual(
    expect.objectContaining({
      type: "failing",
      message: expect.stringContaining("The browser has unsubscribed."),
    }),
  );
  const { lastError } = (await ada.page("GET", `${path}/${id}`)).json.data;
  expect(lastError).toBe(
    "The browser has unsubscribed. In that browser, open Settings, Contact methods, and choose “This browser”.",
  );
});

test("a renewed subscription needs its secret, and is verified again", async () => {
  const { ada, addVerified, service } = await createWorld();
  const id = await addVerified();
  const patch = async (body: object) => ada.page("PATCH", `${path}/${id}`, { body });
  const { subscription } = createPushService("https://push.example/send/new");
  const partial = await patch({ endpoint: subscription.endpoint });
  expect([partial.status, partial.json.error.details[0].path]).toEqual([422, "auth"]);
  expect((await patch({ name: "Laptop" })).json.data.verifiedAt).not.toBeNull();
  expect((await patch(subscription)).json.data).toMatchObject({
    publicKey: subscription.publicKey,
    verifiedAt: null,
  });
  await ada.page("DELETE", `${path}/${id}`);
  await ada.page("POST", `${path}/${id}/test`);
  expect(service.received).toHaveLength(1);
});
