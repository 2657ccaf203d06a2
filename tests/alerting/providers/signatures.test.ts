import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { webhook } from "../../../src/alerting/providers/webhook.ts";
import { SigningSecret } from "../../../src/core/fields.ts";
import { sealAll } from "../../../src/core/security/secrets.ts";
import {
  createAlert,
  deliveryId,
  startReceiver,
  createAlertStorm,
  createMessage,
  plainBody,
} from "../../support/alert-receiver.ts";
import { createPager } from "../../support/pager.ts";
import type { RecordedRequest } from "../../support/target.ts";

const base64Of = (length: number) => Buffer.alloc(length, "key of ours").toString("base64");

/** Delivers alerts signed with this secret at this time, and returns the received request. */
async function sendSigned(secret: string, now = Date.now(), alerts = createAlertStorm(3)) {
  await using to = await startReceiver();
  const settings = { url: "https://bot.lan/alerts", secret, headers: {}, ...plainBody };
  await to.deliver(webhook, settings, createMessage(alerts), { now });
  const { headers, body } = to.lastRequest();
  return { headers: headers as Record<string, string>, body };
}

describe("the reference library accepts our signature", () => {
  test.each([24, 25, 31, 32, 33, 63, 64])("with a secret of %d bytes", async (length) => {
    for (const sent of [`whsec_${base64Of(length)}`, base64Of(length)]) {
      const { headers, body } = await sendSigned(SigningSecret.parse(sent));
      expect(new Webhook(sent).verify(body, headers)).toEqual(JSON.parse(body));
    }
  });

  test("with any secret that we accept, for any body", async () => {
    // Secrets of 24 to 64 bytes are accepted.
    const bytes = fc.uint8Array({ minLength: 20, maxLength: 70 });
    let count = 0;
    const like = fc.oneof(
      fc.string({ maxLength: 100 }),
      bytes.map((some) => Buffer.from(some).toString("base64")),
      bytes.map((some) => Buffer.from(some).toString("base64url")),
    );
    const secrets = fc.tuple(fc.constantFrom("", "whsec_", "WHSEC_"), like);
    await fc.assert(
      fc.asyncProperty(secrets, async ([prefix, rest]) => {
        const parsed = SigningSecret.safeParse(prefix + rest);
        if (!parsed.success) return;
        count++;
        const { headers, body } = await sendSigned(parsed.data, Date.now(), [createAlert("test")]);
        expect(new Webhook(prefix + rest).verify(body, headers)).toEqual(JSON.parse(body));
      }),
      { numRuns: 100 },
    );
    expect(count).toBeGreaterThan(0);
  });
});

test.each([
  "s3cret",
  "",
  "whsec_",
  `whsec_${base64Of(23)}`,
  `whsec_${base64Of(65)}`,
  `whsec_${base64Of(25).replaceAll("=", "")}`,
  `whsec_${base64Of(32)} `,
  `whsec_whsec_${base64Of(32)}`,
  "x".repeat(32) + "-_",
])("%p is not a usable secret", (secret) => {
  expect(SigningSecret.safeParse(secret).success).toBe(false);
});

test("a secret from an older version works until another one is set", async () => {
  const pager = await createPager();
  await using hook = await pager.inbox();
  const path = `/api/v1/alert-channels/${hook.id}`;
  for (const old of ["open sesame", base64Of(32), "whsec_c2hvcnQ="]) {
    const location = `${pager.ours.id}/alert-channel/${hook.id}`;
    pager.database.run("update alert_channels set secrets = ? where id = ?", [
      sealAll(pager.appliance.vault, location, { secret: old }),
      hook.id,
    ]);
    const channel = (await pager.api("GET", path)).json.data;
    expect((await pager.api("PATCH", path, { body: channel })).status).toBe(200);
    expect((await pager.api("PATCH", path, { body: { name: "Bot" } })).status).toBe(200);
    expect(pager.readSecrets("alert-channel", hook.id)).toEqual({ secret: old });
    await pager.api("POST", `${path}/test`);
    const { headers, body } = hook.asked.at(-1) as RecordedRequest;
    const key = old.startsWith("whsec_") ? Buffer.from("short") : Buffer.from(old);
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    expect(headers["webhook-signature"]).toBe(
      `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
    );
  }
  const refused = await pager.api("PATCH", path, { body: { secret: "open sesame" } });
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, "secret"]);
  await pager.api("PATCH", path, { body: { secret: base64Of(32) } });
  expect(pager.readSecrets("alert-channel", hook.id)).toEqual({ secret: `whsec_${base64Of(32)}` });
});

describe("the sample of docs/alerts.md", async () => {
  const text = await Bun.file(new URL("../../../docs/alerts.md", import.meta.url)).text();
  const [, sample = ""] = /```js\n(import \{ createHmac[^]*?)```/.exec(text) ?? [];
  const module = new Bun.Transpiler({ loader: "js" }).transformSync(sample);
  const url = `data:text/javascript;base64,${Buffer.from(module).toString("base64")}`;
  const { isOurs } = (await import(url)) as {
    isOurs: (secret: string, headers: Record<string, string>, rawBody: string | Buffer) => boolean;
  };
  const secret = `whsec_${base64Of(32)}`;

  test("accepts our signature, for text and bytes, among several signatures", async () => {
    const { headers, body } = await sendSigned(secret);
    expect(headers["webhook-id"]).toBe(deliveryId);
    expect(isOurs(secret, headers, body)).toBe(true);
    expect(isOurs(secret, headers, Buffer.from(body))).toBe(true);
    const other = (await sendSigned(`whsec_${base64Of(40)}`)).headers["webhook-signature"];
    const signatures = `v1a,AAAA ${other} ${headers["webhook-signature"]}`;
    expect(isOurs(secret, { ...headers, "webhook-signature": signatures }, body)).toBe(true);
  });

  test("rejects requests that are older than five minutes, or from the future", async () => {
    for (const [age, expected] of [
      [290, true],
      [310, false],
      [-290, true],
      [-310, false],
    ] as const) {
      const { headers, body } = await sendSigned(secret, Date.now() - age * 1_000);
      expect([age, isOurs(secret, headers, body)]).toEqual([age, expected]);
    }
  });

  test("rejects forged, changed and unsigned requests", async () => {
    const { headers, body } = await sendSigned(secret);
    const { "webhook-signature": signature = "", ...unsigned } = headers;
    const forged = [
      { ...headers, "webhook-signature": `v1,${"A".repeat(43)}=` },
      { ...headers, "webhook-signature": "v1," },
      { ...headers, "webhook-signature": "v1,short" },
      { ...headers, "webhook-signature": signature.replace("v1,", "v2,") },
      { ...headers, "webhook-signature": signature.replace("v1,", "") },
      { ...headers, "webhook-id": "another" },
      { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) },
      { ...headers, "webhook-timestamp": "NaN" },
      unsigned,
      {},
    ];
    for (const changed of forged) expect(isOurs(secret, changed, body)).toBe(false);
    expect(isOurs(secret, headers, body.replace("down", "up"))).toBe(false);
    expect(isOurs(`whsec_${base64Of(40)}`, headers, body)).toBe(false);
  });
});
