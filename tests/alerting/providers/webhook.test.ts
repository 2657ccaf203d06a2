import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Alert } from "../../../src/alerting/alert.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import { webhook, buildAlertPayload } from "../../../src/alerting/providers/webhook.ts";
import {
  createAlert,
  alertTypes,
  deliveryId,
  details,
  expectUsualVerdicts,
  monitor,
  now,
  startReceiver,
  createAlertStorm,
  createMessage,
  plainBody,
} from "../../support/alert-receiver.ts";
import type { RecordedRequest } from "../../support/target.ts";

const settings = {
  url: "https://bot.lan/alerts?team=ops",
  secret: null,
  headers: {},
  ...plainBody,
};

/** The signature as receivers compute it according to the specification. */
function signatureOf(
  key: Buffer,
  { headers, body }: Pick<RecordedRequest, "headers" | "body">,
): `v1,${string}` {
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  return `v1,${createHmac("sha256", key).update(Buffer.from(signed)).digest("base64")}`;
}

const shopDown = {
  type: "monitor.down",
  timestamp: "2026-11-20T23:02:00.000Z",
  data: {
    alertId: "01a1fb98-0000-7000-8000-000000000001",
    monitor: {
      id: "01a1fb90-0000-7000-8000-000000000001",
      name: "Shop",
      type: "http",
      groupId: "01a1fb90-0000-7000-8000-0000000000aa",
      groupName: "Front of house",
      target: "https://shop.lan/health",
      tags: ["production", "eu"],
      description: "Where customers pay.",
    },
    since: "2026-11-20T23:02:00.000Z",
    message: "The connection was refused.",
    latencyMs: null,
    url: "https://signalbox.lan/monitors/01a1fb90-0000-7000-8000-000000000001",
  },
};

describe("a webhook receives", () => {
  test("an outage: a POST of JSON with the delivery's id and the time of the attempt", async () => {
    await using to = await startReceiver();
    const down = createAlert("monitor.down", { monitor: { ...monitor, ...details } });
    await to.deliver(webhook, settings, createMessage(down));
    expect(to.urls).toEqual(["https://bot.lan/alerts?team=ops"]);
    const { method, path, headers } = to.lastRequest();
    expect({ method, path }).toEqual({ method: "POST", path: "/alerts?team=ops" });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": deliveryId,
      "webhook-timestamp": "1795215727",
    });
    expect(Number(headers["webhook-timestamp"])).toBe(Math.floor(now / 1000));
    expect(headers).not.toHaveProperty("webhook-signature");
    expect(to.parseLastBody()).toEqual(shopDown);
  });

  test("a recovery: also with the duration of the outage", async () => {
    await using to = await startReceiver();
    await to.deliver(webhook, settings, createMessage(createAlert("monitor.up")));
    expect(to.parseLastBody()).toEqual({
      ...shopDown,
      type: "monitor.up",
      data: {
        ...shopDown.data,
        // As stored by an older version.
        monitor: { ...shopDown.data.monitor, target: null, tags: [], description: "" },
        message: "HTTP 200 (OK).",
        latencyMs: 42,
        downSeconds: 754,
      },
    });
  });

  test("a digest: a list of payloads, each the same as for a single alert", async () => {
    await using to = await startReceiver();
    const alerts = [
      createAlert("monitor.down"),
      createAlert("incident.opened"),
      createAlert("test"),
    ];
    await to.deliver(webhook, settings, createMessage(alerts));
    const digest = to.parseLastBody();
    expect(digest).toEqual({
      type: "digest",
      timestamp: "2026-11-20T23:02:00.000Z",
      data: { alerts: expect.any(Array) },
    });
    for (const [index, alert] of alerts.entries()) {
      await to.deliver(webhook, settings, createMessage(alert));
      expect(digest.data.alerts[index]).toEqual(to.parseLastBody());
    }
  });

  test("a digest of a thousand alerts in full", async () => {
    await using to = await startReceiver();
    await to.deliver(webhook, settings, createMessage(createAlertStorm(1_000)));
    const { alerts } = to.parseLastBody().data;
    expect(alerts).toHaveLength(1_000);
    expect(
      new Set(alerts.map(({ data }: { data: { alertId: string } }) => data.alertId)).size,
    ).toBe(1_000);
    expect(alerts[999].data.monitor.name).toBe("Shop 1000");
  });

  test("every type of alert: its subject and the URL of its page", () => {
    const summarize = (type: Alert["type"]) => {
      const { data, ...rest } = buildAlertPayload(createAlert(type), "https://signalbox.lan/page");
      return { ...rest, data: Object.keys(data).join(" ") };
    };
    const monitorFields = "alertId monitor since message latencyMs url";
    const incidentFields = "alertId incident message url";
    const fields: Record<Alert["type"], string> = {
      "monitor.down": monitorFields,
      "monitor.degraded": monitorFields,
      "monitor.up": "alertId monitor since message latencyMs downSeconds url",
      "monitor.reminder": "alertId monitor since message latencyMs downSeconds url",
      "monitor.flapping": "alertId monitor since message latencyMs changes url",
      "certificate.expiring": "alertId monitor since message latencyMs expiresAt daysLeft url",
      "incident.opened": incidentFields,
      "incident.updated": incidentFields,
      "incident.resolved": incidentFields,
      "channel.failed": "alertId channel message url",
      "appliance.troubled": "alertId problem severity message url",
      "appliance.recovered": "alertId problem message url",
      "source.opened": "alertId source report since message url",
      "source.changed": "alertId source report since message url",
      "source.resolved": "alertId source report since message openSeconds url",
      drill: "alertId drill message url",
      "shift.starting": "alertId shift message url",
      test: "alertId channel message url",
    };
    for (const type of alertTypes)
      expect(summarize(type)).toEqual({
        type,
        timestamp: "2026-11-20T23:02:00.000Z",
        data: fields[type],
      });
  });

  test("a test alert and an incident with their subject", () => {
    expect<object>(buildAlertPayload(createAlert("test"), "https://signalbox.lan/x").data).toEqual({
      alertId: "01a1fb98-0000-7000-8000-000000000001",
      channel: { id: "01a1fb90-0000-7000-8000-0000000000cc", name: "On-call", type: "slack" },
      message: "Alerts of this channel arrive here.",
      url: "https://signalbox.lan/x",
    });
    expect<object>(
      buildAlertPayload(createAlert("incident.updated"), "https://signalbox.lan/x").data,
    ).toEqual({
      alertId: "01a1fb98-0000-7000-8000-000000000001",
      incident: {
        id: "01a1fb90-0000-7000-8000-0000000000dd",
        title: "Checkout fails",
        status: "identified",
        severity: "major",
        monitorId: null,
      },
      message: "The cause is known.",
      url: "https://signalbox.lan/x",
    });
  });

  test("text as it was written", async () => {
    await using to = await startReceiver();
    const message = 'Line 1\nLine 2 "quoted" \\ <b> ☃ 🚨';
    const named = { ...monitor, name: "Läden & Söhne", groupName: "Süd" };
    await to.deliver(
      webhook,
      settings,
      createMessage(createAlert("monitor.down", { monitor: named, message })),
    );
    expect(to.parseLastBody().data).toMatchObject({
      message,
      monitor: { name: "Läden & Söhne", groupName: "Süd" },
    });
  });
});

describe("the signature", () => {
  test("the verification here agrees with the example of Standard Webhooks", () => {
    const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
    };
    expect(signatureOf(key, { headers, body: '{"test": 2432232314}' })).toBe(
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    );
  });

  test("a secret with the prefix whsec_ is Base64", async () => {
    await using to = await startReceiver();
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const message = createMessage(createAlertStorm(3, (number) => `Läden ${number} ☃`));
    await to.deliver(webhook, { ...settings, secret }, message);
    const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
    expect(to.lastRequest().headers["webhook-signature"]).toBe(signatureOf(key, to.lastRequest()));
  });

  test("any other secret is used unchanged", async () => {
    await using to = await startReceiver();
    const secret = "pässword";
    await to.deliver(webhook, { ...settings, secret }, createMessage(createAlert("monitor.down")));
    const key = Buffer.from("pässword", "utf8");
    expect(to.lastRequest().headers["webhook-signature"]).toBe(signatureOf(key, to.lastRequest()));
    expect(JSON.stringify(to.lastRequest())).not.toContain("ssword");
  });

  test("each attempt has the same body and id, and its own time and signature", async () => {
    await using to = await startReceiver();
    const signed = { ...settings, secret: "secret" };
    const message = createMessage(createAlertStorm(5));
    await to.deliver(webhook, signed, message);
    await to.deliver(webhook, signed, message, { now: now + 60_000 });
    const [first, second] = to.asked;
    expect(second?.body).toBe(first?.body ?? "");
    expect(second?.headers["webhook-id"]).toBe(deliveryId);
    expect(second?.headers["webhook-timestamp"]).toBe("1795215787");
    expect(second?.headers["webhook-signature"]).not.toBe(first?.headers["webhook-signature"]);
    expect(second?.headers["webhook-signature"]).toBe(
      signatureOf(Buffer.from("secret"), to.lastRequest()),
    );
  });
});

test("custom headers are sent, but can't replace the media type or the webhook's headers", async () => {
  await using to = await startReceiver();
  const headers = {
    Authorization: "Bearer abc",
    "X-Team": "ops",
    "Content-type": "text/plain",
    "Webhook-Id": "mine",
    "WEBHOOK-TIMESTAMP": "1",
    "webhook-signature": "v1,mine",
  };
  await to.deliver(webhook, { ...settings, headers }, createMessage(createAlert("monitor.down")));
  expect(to.lastRequest().headers).toMatchObject({
    authorization: "Bearer abc",
    "x-team": "ops",
    "content-type": "application/json",
    "webhook-id": deliveryId,
    "webhook-timestamp": "1795215727",
  });
  expect(to.lastRequest().headers).not.toHaveProperty("webhook-signature");
});

test("a 2xx response is a success; 401, 403, 404 and 410 end it; everything else is retried", () =>
  expectUsualVerdicts(webhook, settings));

describe("a webhook with a text of its own", () => {
  const typed = {
    monitor: { ...monitor, ...details, name: 'Shop "1" & <b>', groupName: null },
    message: "Line\n\u0007 {{title}} é",
  };
  const key = `signalbox-${monitor.id}`;

  /** Delivers an alert about an outage, and returns the request. */
  async function request(
    changes: object,
    alerts: Alert | Alert[] = createAlert("monitor.down", typed),
  ) {
    await using to = await startReceiver();
    const custom = { ...settings, ...changes } as typeof settings;
    const verdict = await to.deliver(webhook, custom, createMessage(alerts));
    expect(verdict).toEqual({ outcome: "delivered" });
    const { method, headers, body } = to.lastRequest();
    return { method, url: to.urls[0], headers, body };
  }

  test.each<[bodyType: string, template: string, body: string, contentType: string]>([
    [
      "json",
      '{ "t": "{{title}}", "up": {{up}}, "of": {{ group }}, "m": "{{message}}" }',
      '{ "t": "Shop \\"1\\" & <b> is down", "up": 0, "of": "", "m": "Line\\n\\u0007 {{title}} é" }',
      "application/json",
    ],
    [
      "form",
      "t={{title}}&state={{state}}&m={{message}}",
      "t=Shop%20%221%22%20%26%20%3Cb%3E%20is%20down&state=TRIGGERED&m=Line%0A%07%20%7B%7Btitle%7D%7D%20%C3%A9",
      "application/x-www-form-urlencoded",
    ],
    [
      "xml",
      '<a t="{{title}}">{{message}}</a>',
      '<a t="Shop &quot;1&quot; &amp; &lt;b&gt; is down">Line\n {{title}} é</a>',
      "application/xml; charset=utf-8",
    ],
    ["text", "{{key}} {{type}}", `${key} monitor.down`, "text/plain; charset=utf-8"],
  ])("escapes values for %s", async (bodyType, template, body, contentType) => {
    const sent = await request({ bodyType, body: template, method: "PUT" });
    expect(sent).toMatchObject({ method: "PUT", body, headers: { "content-type": contentType } });
  });

  test("fills the URL and headers, in which a value can't become another part", async () => {
    const { headers, ...sent } = await request({
      url: "https://bot.lan/{{monitor}}?q={{monitor}}",
      method: "GET",
      headers: { "X-Text": "{{monitor}} {{message}}", "Webhook-Id": "forged" },
    });
    const name = "Shop%20%221%22%20%26%20%3Cb%3E";
    expect(sent).toEqual({ method: "GET", url: `https://bot.lan/${name}?q=${name}`, body: "" });
    expect(headers).toMatchObject({ "webhook-id": deliveryId });
    expect(headers["x-text"]).toStartWith('Shop "1" & <b> Line  {{title}}');
    expect(headers).not.toHaveProperty("content-type");
  });

  test("has its own words for an outage and its end", async () => {
    const words = { body: '{ "endsAt": "{{state|2099|1970}}" }', bodyType: "json" };
    expect((await request(words)).body).toBe('{ "endsAt": "2099" }');
    const end = await request(words, createAlert("monitor.up"));
    expect(end.body).toBe('{ "endsAt": "1970" }');
    const issues = (body: string) =>
      NewAlertChannel.safeParse({
        type: "webhook",
        name: "a",
        url: "http://a.lan",
        body,
        bodyType: "text",
      }).success;
    expect(["{{state|a|}}", "{{state|a}}", "{{title|a|b}}"].map(issues)).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("has its own Content-Type and a signature of exactly its body", async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const body = "{{title}}";
    const headers = { "content-type": "application/vnd.bot+json" };
    const sent = await request({ body, bodyType: "text", secret, headers });
    expect(sent.headers["content-type"]).toBe("application/vnd.bot+json");
    expect(sent.headers["webhook-signature"]).toBe(signatureOf(Buffer.alloc(32, 7), sent));
  });

  test("names a recovery, an incident and a digest, whose monitor is empty", async () => {
    const body = "{{state}}|{{up}}|{{monitor}}|{{title}}|{{text}}";
    const readText = async (alerts: Alert | Alert[]) =>
      (await request({ body, bodyType: "text" }, alerts)).body;
    expect(await readText(createAlert("monitor.up"))).toStartWith(
      "RESOLVED|1|Shop|Shop is up again|",
    );
    expect(await readText(createAlert("incident.opened"))).toStartWith(
      "TRIGGERED|0||Incident: Checkout fails|",
    );
    expect(await readText(createAlertStorm(2))).toBe(
      "TRIGGERED|0||2 monitors are down|Shop 1 is down. The connection was refused.\nShop 2 is down. The connection was refused.",
    );
  });

  test("is not sent if a value leads to another folder, or the body is too large", async () => {
    await using to = await startReceiver();
    const up = createMessage(createAlert("monitor.down", { monitor: { ...monitor, name: ".." } }));
    const moved = { ...settings, url: "https://bot.lan/in/{{monitor}}/x" };
    expect(to.deliver(webhook, moved, up)).rejects.toThrow("leads to another folder");
    const long = createMessage(createAlert("monitor.down", { message: "x".repeat(9_000) }));
    const large = { ...settings, bodyType: "text" as never, body: "{{text}}".repeat(100) as never };
    const headers = Object.fromEntries(
      Array.from({ length: 9 }, (_, index) => [`X-${index}`, "{{text}}".repeat(10)]),
    );
    const url = `https://bot.lan/?${"{{text}}".repeat(100)}`;
    const tooLarge = [large, { ...settings, headers }, { ...settings, url }];
    for (const own of tooLarge)
      expect(to.deliver(webhook, own as never, long)).rejects.toThrow("larger than 256 kB");
    expect(to.asked).toEqual([]);
  });
});
