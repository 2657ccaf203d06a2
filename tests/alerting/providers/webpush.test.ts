/** Messages to a browser: their encryption, the identification of the sender, and responses of push services. */
import { createECDH } from "node:crypto";
import { expect, test } from "bun:test";
import { webpush } from "../../../src/alerting/providers/webpush.ts";
import { deriveVapidKeys } from "../../../src/alerting/vapid.ts";
import { createVault } from "../../../src/core/security/secrets.ts";
import type { Alert } from "../../../src/alerting/alert.ts";
import {
  createAlert,
  createAlertStorm,
  createLinkedMessage,
  createMessage,
  createDoubtfulVerdict,
  createFinalVerdict,
  monitor,
  retryVerdict,
  startReceiver,
} from "../../support/alert-receiver.ts";
import { createPushService, decrypt } from "../../support/push-service.ts";

async function push(message = createMessage(createAlert("monitor.down"))) {
  const service = createPushService();
  await using to = await startReceiver();
  const { exchange } = service;
  const verdict = await to.deliver(webpush, service.subscription, message, { exchange });
  return { verdict, ...service.last() };
}

const pushAlert = (alert: Alert) => push(createMessage(alert));

test("the example of RFC 8291 is decrypted", () => {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94", "base64url");
  const auth = Buffer.from("BTBZMqHH6r4Tts7J_aSIgg", "base64url");
  const body = Buffer.from(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    "base64url",
  );
  expect(decrypt(body, { pair, auth })).toBe("When I grow up, I want to be a watermelon");
});

test("an outage is encrypted for the browser, urgent, and stays until the person reacts", async () => {
  const down = createAlert("monitor.down");
  const { verdict, url, headers, size, from, message } = await push(createLinkedMessage(down));
  expect(verdict).toEqual({ outcome: "delivered" });
  expect(url).toBe("https://push.example/send/4f2c9e");
  expect(headers).toMatchObject({
    ttl: "86400",
    urgency: "high",
    topic: expect.stringMatching(/^[\w-]{32}$/),
    "content-encoding": "aes128gcm",
    "content-type": "application/octet-stream",
  });
  // All messages have the same size, so that the push service learns nothing from it.
  expect(size).toBe(4_096);
  const keys = deriveVapidKeys(createVault(new Uint8Array(32)));
  expect(from).toMatchObject({
    aud: "https://push.example",
    sub: "https://signalbox.lan",
    publicKey: keys.publicKey,
  });
  expect(from.exp * 1_000 - Date.now()).toBeLessThan(86_400_000);
  expect(message).toEqual({
    title: "Shop is down",
    text: expect.stringContaining("The connection was refused."),
    path: `/monitors/${monitor.id}`,
    tag: `signalbox-${monitor.id}`,
    isOver: false,
    isUrgent: true,
    acknowledgePath: "/a/token",
    verification: null,
  });
});

test("a recovery replaces the outage, in the browser and at the push service", async () => {
  const [down, up] = [
    await pushAlert(createAlert("monitor.down")),
    await pushAlert(createAlert("monitor.up")),
  ];
  expect(up.message).toMatchObject({
    title: "Shop is up again",
    tag: down.message.tag,
    isOver: true,
    isUrgent: false,
    acknowledgePath: null,
  });
  expect([up.headers["topic"], up.headers["urgency"]]).toEqual([
    down.headers["topic"] ?? "",
    "normal",
  ]);
});

test("only what has to wake someone is urgent", async () => {
  const urgencyOf = async (alert: Alert) => (await pushAlert(alert)).headers["urgency"];
  expect(await urgencyOf(createAlert("monitor.degraded"))).toBe("normal");
  expect(await urgencyOf(createAlert("certificate.expiring", { daysLeft: -1 }))).toBe("high");
  expect(await urgencyOf(createAlert("drill"))).toBe("high");
  expect(await urgencyOf(createAlert("test"))).toBe("high");
});

test("long messages and digests are shortened to what every push service accepts", async () => {
  const long = await pushAlert(createAlert("monitor.down", { message: "Größe 🚨 ".repeat(900) }));
  expect([long.size, long.message.text.length > 1_000]).toEqual([4_096, true]);
  const many = await push(createMessage(createAlertStorm(200, (number) => `メール ${number}`)));
  expect(many.message).toMatchObject({ title: "200 monitors are down", path: "/" });
  expect(many.size).toBe(4_096);
});

const remedy = "In that browser, open Settings, Contact methods, and choose “This browser”.";

test.each([
  [404, {}, createFinalVerdict(`The browser has unsubscribed. ${remedy}`)],
  [410, {}, createFinalVerdict(`The browser has unsubscribed. ${remedy}`)],
  [413, {}, createFinalVerdict("The push service rejected the message as too long.")],
  [
    403,
    {},
    createDoubtfulVerdict(
      `The push service rejected the subscription with HTTP 403 (Forbidden). ${remedy}`,
    ),
  ],
  [
    429,
    { "retry-after": "17" },
    retryVerdict("The receiver responded with HTTP 429 (Too Many Requests).", 17),
  ],
  [503, {}, retryVerdict("The receiver responded with HTTP 503 (Service Unavailable).")],
])("status %i of the push service", async (status, headers: Record<string, string>, verdict) => {
  const service = createPushService();
  service.respond(status, headers);
  await using to = await startReceiver();
  const { exchange, subscription } = service;
  const message = createMessage(createAlert("monitor.down"));
  expect(await to.deliver(webpush, subscription, message, { exchange })).toEqual(verdict);
});

test("keys that no browser creates are a final failure, and nothing is sent", async () => {
  const service = createPushService();
  await using to = await startReceiver();
  const settings = { ...service.subscription, publicKey: `B${"A".repeat(86)}` };
  const message = createMessage(createAlert("monitor.down"));
  const { exchange } = service;
  expect(await to.deliver(webpush, settings, message, { exchange })).toEqual(
    createFinalVerdict(`The keys of this browser's subscription are not valid. ${remedy}`),
  );
  expect(service.received).toEqual([]);
});

test("the keys of an appliance never change, because browsers are bound to them", () => {
  const keysOf = (byte: number) => deriveVapidKeys(createVault(new Uint8Array(32).fill(byte)));
  expect(keysOf(0)).toEqual({
    publicKey:
      "BGt1dInw_YTOf5_d6FKvWebMGzpDGdk9zG7IPcNiV_81Kh76qsnBujD9OBnLpz0l0hdMAQJfuGjzs3pGqU6m8C8",
    privateKey: "gpUv0_zsi172ouhkChwWDW6W0Z_gaA9fH4_YXWLpLno",
  });
  expect(keysOf(1)).not.toEqual(keysOf(0));
});
