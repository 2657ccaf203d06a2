/** How each SMS gateway is addressed, and what its responses mean, as its documentation defines them. */
import { describe, expect, test } from "bun:test";
import type { ChannelSettings } from "../../../src/alerting/channels/kinds-schema.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import { type SmsPreset, smsPresets } from "../../../src/alerting/channels/gateway-rules.ts";
import type { Alert } from "../../../src/alerting/alert.ts";
import type { Provider, Verdict } from "../../../src/alerting/provider.ts";
import { sms } from "../../../src/alerting/providers/sms.ts";
import { measureSms } from "../../../src/core/text/sms.ts";
import {
  createAlert,
  createAlertStorm,
  createLinkedMessage,
  createMessage,
  deliveryId,
  createDoubtfulVerdict,
  expectUsualVerdicts,
  createFinalVerdict,
  judgeReply,
  monitor,
  origin,
  parseFields,
  retryVerdict,
  startReceiver,
} from "../../support/alert-receiver.ts";
import { hang, replyWith } from "../../support/target.ts";

type Settings = ChannelSettings<"sms">;

const createSettings = (fields: object): Settings =>
  NewAlertChannel.parse({
    type: "sms",
    name: "Phone",
    to: "+491701234567",
    ...fields,
  }) as unknown as Settings;

type Response = [status: number, body: string | object, verdict: Verdict | "delivered"];
type Case = {
  fields: object;
  url: string;
  headers: Record<string, string>;
  /** The body, a form as an object; null for none. `text` is that of the message. */
  body: (text: string) => object | null;
  /** Body of an accepted message. Absent if the HTTP status suffices. */
  accepted?: string;
  responses: Response[];
};

const text = `Shop is down since 23:02 UTC: The connection was refused.\nAck: ${origin}/a/token`;
const authorization = `Basic ${Buffer.from("AC1:s3cret").toString("base64")}`;
const account = { account: "AC1", secret: "s3cret" };
const from = "+4915112345678";
const retryTooMany = (seconds?: number) =>
  retryVerdict("The receiver responded with HTTP 429 (Too Many Requests).", seconds);
const badRequest = retryVerdict("The receiver responded with HTTP 400 (Bad Request).");
const unauthorized = createDoubtfulVerdict("The receiver responded with HTTP 401 (Unauthorized).");
const rejectNumber = (name: string) =>
  createFinalVerdict(`${name} reports that the number of the recipient is not valid.`);
const doubtAccount = (name: string) =>
  createDoubtfulVerdict(`${name} reports that the account or its secret is not valid.`);
const doubtCredit = (name: string) =>
  createDoubtfulVerdict(`${name} reports that the account has too little credit.`);
const retryBusy = (name: string) =>
  retryVerdict(`${name} reports that it can't accept the message at present.`);

const twilioError = (code: number, status: number) => ({
  code,
  message: "internal gossip",
  more_info: `https://www.twilio.com/docs/errors/${code}`,
  status,
});
const buildVonageStatus = (status: string) => ({
  "message-count": "1",
  messages: [{ status, "error-text": "internal gossip" }],
});
const telnyxError = (code: string) => ({ errors: [{ code, title: "internal gossip" }] });
const messagebirdError = (code: number) => ({
  errors: [{ code, description: "internal gossip", parameter: null }],
});

const cases: Record<SmsPreset, Case> = {
  twilio: {
    fields: { ...account, from },
    url: "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json",
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: (text) => ({ To: "+491701234567", From: from, Body: text }),
    responses: [
      [201, { sid: "SM1", status: "queued", error_code: null }, "delivered"],
      [400, twilioError(21211, 400), rejectNumber("Twilio")],
      [400, twilioError(21614, 400), rejectNumber("Twilio")],
      [
        400,
        twilioError(21606, 400),
        createDoubtfulVerdict("Twilio reports that the account must not send from this sender."),
      ],
      [401, twilioError(20003, 401), doubtAccount("Twilio")],
      [400, twilioError(99999, 400), badRequest],
    ],
  },
  vonage: {
    fields: { ...account, from },
    url: "https://rest.nexmo.com/sms/json",
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: (text) => ({ to: "491701234567", from: from.slice(1), text, type: "text" }),
    accepted: JSON.stringify(buildVonageStatus("0")),
    responses: [
      [200, buildVonageStatus("0"), "delivered"],
      [200, buildVonageStatus("1"), retryBusy("Vonage")],
      [200, buildVonageStatus("4"), doubtAccount("Vonage")],
      [200, buildVonageStatus("6"), rejectNumber("Vonage")],
      [200, buildVonageStatus("9"), doubtCredit("Vonage")],
      [
        200,
        buildVonageStatus("29"),
        createDoubtfulVerdict("Vonage reports that the account must not send to this number."),
      ],
      [200, buildVonageStatus("99"), retryVerdict("Vonage rejected the message with code 99.")],
      [200, buildVonageStatus("internal gossip"), retryVerdict("Vonage rejected the message.")],
    ],
  },
  plivo: {
    fields: { ...account, from },
    url: "https://api.plivo.com/v1/Account/AC1/Message/",
    headers: { authorization, "content-type": "application/json" },
    body: (text) => ({ src: from.slice(1), dst: "491701234567", text }),
    responses: [
      [202, { message: "message(s) queued", message_uuid: ["db3ce55a"] }, "delivered"],
      [400, { error: "internal gossip" }, badRequest],
      [401, "internal gossip", unauthorized],
    ],
  },
  telnyx: {
    fields: { secret: "KEY1", from },
    url: "https://api.telnyx.com/v2/messages",
    headers: { authorization: "Bearer KEY1", "content-type": "application/json" },
    body: (text) => ({ from, to: "+491701234567", text }),
    responses: [
      [200, { data: { id: "1", to: [{ status: "queued" }] } }, "delivered"],
      [400, telnyxError("10016"), rejectNumber("Telnyx")],
      [401, telnyxError("10009"), doubtAccount("Telnyx")],
      [422, telnyxError("10002"), rejectNumber("Telnyx")],
      [400, telnyxError("40300"), badRequest],
    ],
  },
  seven: {
    fields: { secret: "KEY1", from },
    url: "https://gateway.seven.io/api/sms",
    headers: { "x-api-key": "KEY1", "content-type": "application/x-www-form-urlencoded" },
    body: (text) => ({ to: "+491701234567", from, text }),
    accepted: '{"success":"100"}',
    responses: [
      [200, { success: "100", messages: [{ id: "1", success: true }] }, "delivered"],
      [200, "100", "delivered"],
      [200, { success: "202" }, rejectNumber("seven.io")],
      [200, "900", doubtAccount("seven.io")],
      [200, { success: "500" }, doubtCredit("seven.io")],
      [200, "600", retryVerdict("seven.io rejected the message with code 600.")],
    ],
  },
  "46elks": {
    fields: { ...account, from },
    url: "https://api.46elks.com/a1/sms",
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: (text) => ({ from, to: "+491701234567", message: text }),
    responses: [
      [200, { id: "s1", status: "created", parts: 1 }, "delivered"],
      [400, "internal gossip", badRequest],
      [401, "internal gossip", unauthorized],
    ],
  },
  messagebird: {
    fields: { secret: "KEY1", from },
    url: "https://rest.messagebird.com/messages",
    headers: { authorization: "AccessKey KEY1", "content-type": "application/json" },
    body: (text) => ({
      originator: from,
      recipients: ["491701234567"],
      body: text,
      datacoding: "auto",
    }),
    responses: [
      [201, { id: "1", recipients: { totalSentCount: 1 } }, "delivered"],
      [401, messagebirdError(2), doubtAccount("MessageBird")],
      [402, messagebirdError(25), doubtCredit("MessageBird")],
      [
        422,
        messagebirdError(10),
        retryVerdict("The receiver responded with HTTP 422 (Unprocessable Entity)."),
      ],
    ],
  },
  smseagle: {
    fields: { secret: "TOKEN1", url: "https://eagle.lan/" },
    url: "https://eagle.lan/api/v2/messages/sms",
    headers: { "access-token": "TOKEN1", "content-type": "application/json" },
    body: (text) => ({ to: ["+491701234567"], text, encoding: "standard" }),
    accepted: '[{"status":"queued","number":"+491701234567","id":1}]',
    responses: [
      [200, [{ status: "queued", number: "+491701234567", id: 1 }], "delivered"],
      [200, [{ status: "error" }], retryVerdict("SMSEagle rejected the message.")],
      [401, { message: "internal gossip" }, unauthorized],
    ],
  },
  teltonika: {
    fields: { ...account, url: "http://192.168.1.1" },
    url: `http://192.168.1.1/cgi-bin/sms_send?username=AC1&password=s3cret&number=00491701234567&text=${encodeURIComponent(text)}`,
    headers: {},
    body: () => null,
    accepted: "OK\n",
    responses: [
      [200, "OK\n", "delivered"],
      [200, "WRONG_NUMBER\n", rejectNumber("Teltonika router")],
      [200, "TIMEOUT", retryBusy("Teltonika router")],
      [200, "<html>", retryVerdict("Teltonika router rejected the message.")],
    ],
  },
  "sms-gate": {
    fields: { ...account, url: "http://192.168.1.20:8080" },
    url: "http://192.168.1.20:8080/messages",
    headers: { authorization, "content-type": "application/json" },
    body: (text) => ({
      textMessage: { text },
      phoneNumbers: ["+491701234567"],
      priority: 100,
    }),
    responses: [
      [202, { id: "1", state: "Pending" }, "delivered"],
      [401, { message: "internal gossip" }, unauthorized],
    ],
  },
};

async function send(
  settings: Settings,
  message = createLinkedMessage(createAlert("monitor.down")),
) {
  await using to = await startReceiver();
  await to.deliver(sms, settings, message);
  const request = to.lastRequest();
  return { url: to.urls.at(-1), request, body: request.body === "" ? null : parseFields(request) };
}

describe.each(Object.keys(cases) as SmsPreset[])("the gateway %s", (preset) => {
  const { fields, url, headers, body, accepted, responses } = cases[preset];
  const settings = createSettings({ preset, ...fields });

  test("gets the request that its documentation defines", async () => {
    const { request, ...sent } = await send(settings);
    expect(sent).toEqual({ url, body: body(text) });
    expect(request.headers).toMatchObject(headers);
    expect(request.method).toBe(preset === "teltonika" ? "GET" : "POST");
  });

  test("gets hostile values as text", async () => {
    const name = 'Größe & 100% "x"\\ {{secret}} $& ?a=b#c +1';
    const { request: _request, ...sent } = await send(
      settings,
      createLinkedMessage(createAlert("monitor.down", { monitor: { ...monitor, name } })),
    );
    const expectedText = `${name} is down since 23:02 UTC: The connection was refused.\nAck: ${origin}/a/token`;
    expect(sent.body).toEqual(body(expectedText));
    if (preset === "teltonika")
      expect(sent.url).toBe(
        url.replace(encodeURIComponent(text), encodeURIComponent(expectedText)),
      );
  });

  test.each(responses)(
    "%d with %j has its documented meaning",
    async (status, response, verdict) => {
      const received = typeof response === "string" ? response : JSON.stringify(response);
      const expected =
        verdict === "delivered"
          ? { outcome: "delivered", detail: expect.stringContaining("1 part, ") as string }
          : verdict;
      const { receipt: _receipt, ...judged } = {
        receipt: null,
        ...(await judgeReply(replyWith(status, received), sms, settings)),
      };
      expect(judged as Verdict).toEqual(expected as Verdict);
    },
  );

  test("is retried after a rate limit with its Retry-After, and after other failures", async () => {
    const reply = replyWith(429, "internal gossip", { "retry-after": "17" });
    expect(await judgeReply(reply, sms, settings)).toEqual(retryTooMany(17));
    expect(await judgeReply(replyWith(500, "internal gossip"), sms, settings)).toEqual(
      retryVerdict("The receiver responded with HTTP 500 (Internal Server Error)."),
    );
    if (accepted !== undefined)
      expect(await judgeReply(replyWith(200, ""), sms, settings)).toEqual(
        retryVerdict("The receiver responded with HTTP 200 (OK), but did not confirm the message."),
      );
  });
});

describe("the text", () => {
  const settings = createSettings({ preset: "seven", secret: "KEY1", from: "Signalbox" });
  const textOf = async (message: Parameters<typeof send>[1]) =>
    (await send(settings, message)).body.text as string;

  test.each([
    [
      "monitor.up",
      `Shop is up again since 23:02 UTC: HTTP 200 (OK).\n${origin}/monitors/${monitor.id}`,
    ],
    [
      "monitor.reminder",
      `Shop is still down since 21:02 UTC: The connection was refused.\n${origin}/monitors/${monitor.id}`,
    ],
    [
      "certificate.expiring",
      `The certificate of Shop expires in 6 days: The certificate has to be renewed.\n${origin}/monitors/${monitor.id}`,
    ],
    [
      "test",
      `Test alert from Signalbox: Alerts of this channel arrive here.\n${origin}/alert-channels/01a1fb90-0000-7000-8000-0000000000cc`,
    ],
  ] as const)("of %s says what, since when, and why", async (type, expected) => {
    expect(await textOf(createMessage(createAlert(type)))).toBe(expected);
  });

  test("has a date if the state began on another day, and names who acknowledged", async () => {
    const since = "2026-11-19T21:02:00.000Z";
    const alert = createAlert("monitor.reminder", { since });
    const owned = { ...alert, data: { ...alert.data, acknowledgedBy: ["Ada"] } } as Alert;
    expect(await textOf(createMessage(owned))).toStartWith(
      "Shop is still down since 2026-11-19 21:02 UTC: The connection was refused. Acknowledged by Ada.\n",
    );
  });

  test("is the custom one, if there is one", async () => {
    const message = createMessage(createAlert("monitor.down"), "{{monitor}}: {{message}}");
    expect(await textOf(message)).toStartWith("Shop: The connection was refused.\nhttps://");
    const empty = createMessage(createAlert("monitor.down"), "{{latency}}");
    expect(await textOf(empty)).toStartWith("Shop is down\nhttps://");
  });

  test("of a digest names the number and the first ones, within its parts", async () => {
    const message = createMessage(createAlertStorm(200));
    const sent = await textOf(message);
    expect(sent).toStartWith(
      "200 monitors are down:\nShop 1 is down. The connection was refused.\n",
    );
    expect(sent).toEndWith(`...\n${origin}`);
    expect(measureSms(sent).parts).toBe(2);
  });

  test("is cut to the parts of the channel, and the log counts them", async () => {
    const message = "The connection was refused. ".repeat(40);
    const alert = createAlert("monitor.down", { message });
    const verdicts = [1, 3, 10].map(async (maxParts) => {
      await using to = await startReceiver(replyWith(200, "100"));
      const verdict = await to.deliver(sms, { ...settings, maxParts }, createLinkedMessage(alert));
      const { text: sent } = parseFields(to.lastRequest());
      expect(sent).toEndWith(`\nAck: ${origin}/a/token`);
      return [measureSms(sent).parts, verdict];
    });
    expect(await Promise.all(verdicts)).toMatchObject([
      [1, { detail: "Accepted by the gateway: 1 part, 160 characters in GSM-7." }],
      [3, { detail: "Accepted by the gateway: 3 parts, 459 characters in GSM-7." }],
      [8, { outcome: "delivered" }],
    ]);
  });

  test("has one part for a router that can't split it", async () => {
    const router = createSettings({ preset: "teltonika", ...cases.teltonika.fields, maxParts: 3 });
    const message = createMessage(createAlertStorm(200));
    const { url } = await send(router, message);
    expect(measureSms(new URL(url ?? "").searchParams.get("text") ?? "").parts).toBe(1);
  });

  test.each(["vonage", "smseagle"] as const)("outside GSM-7 is announced to %s", async (preset) => {
    const name = "Магазин";
    const alert = createAlert("monitor.down", { monitor: { ...monitor, name } });
    const { body } = await send(
      createSettings({ preset, ...cases[preset].fields, maxParts: 3 }),
      createMessage(alert),
    );
    expect(preset === "vonage" ? body.type : body.encoding).toBe("unicode");
  });
});

describe("a custom gateway", () => {
  const createCustomSettings = (fields: object) =>
    createSettings({ preset: "custom", account: "AC1", secret: "s3cret", from, ...fields });

  test("gets JSON with escaped values, which keep their types", async () => {
    const { url, request, body } = await send(
      createCustomSettings({
        url: "http://sms.lan/send/{{account}}?id={{id}}",
        method: "PUT",
        headers: { Authorization: "Basic {{basic}}", "X-Key": "{{secret}}" },
        body: '{ "to": "{{toDigits}}", "text": "{{text}}", "unicode": {{unicode}}, "from": "{{from}}" }',
      }),
    );
    expect(url).toBe(`http://sms.lan/send/AC1?id=${deliveryId}`);
    expect(body).toEqual({ to: "491701234567", text, unicode: false, from });
    expect(request).toMatchObject({
      method: "PUT",
      headers: { authorization, "x-key": "s3cret", "content-type": "application/json" },
    });
  });

  test("gets a form or a text, with its own content type if it has one", async () => {
    const form = await send(
      createCustomSettings({
        url: "http://sms.lan",
        bodyType: "form",
        body: "n={{to}}&t={{text}}&p=1",
      }),
    );
    expect(form.body).toEqual({ n: "+491701234567", t: text, p: "1" });
    const plain = await startReceiver();
    await using to = plain;
    await to.deliver(
      sms,
      createCustomSettings({
        url: "http://sms.lan",
        bodyType: "text",
        headers: { "content-type": "text/csv" },
        body: "{{to}};{{text}}",
      }),
      createLinkedMessage(createAlert("monitor.down")),
    );
    expect(to.lastRequest()).toMatchObject({
      headers: { "content-type": "text/csv" },
      body: `+491701234567;${text}`,
    });
  });

  test("can be a URL alone", async () => {
    const { url, request } = await send(
      createCustomSettings({
        url: "http://sms.lan/send?to={{to}}&text={{text}}&key={{secret}}",
        method: "GET",
      }),
    );
    expect(url).toBe(
      `http://sms.lan/send?to=%2B491701234567&text=${encodeURIComponent(text)}&key=s3cret`,
    );
    expect(request).toMatchObject({ method: "GET", body: "" });
    expect(request.headers).not.toHaveProperty("content-type");
  });

  test("accepts by status, text and JSON value", async () => {
    const retryUnconfirmed = (status: string) =>
      retryVerdict(`The receiver responded with HTTP ${status}, but did not confirm the message.`);
    const url = "http://sms.lan";
    for (const [fields, status, body, verdict] of [
      [{ expectedStatus: ["202"] }, 202, "", "delivered"],
      [{ expectedStatus: ["202"] }, 200, "", retryUnconfirmed("200 (OK)")],
      [{ expectedStatus: ["202"] }, 500, "", "failed"],
      [{ keyword: "OK:" }, 200, "OK: 17", "delivered"],
      [{ keyword: "OK:" }, 200, "ERROR: 17", retryUnconfirmed("200 (OK)")],
      [
        { jsonPath: "$.messages[0].ok", jsonEquals: true },
        200,
        '{"messages":[{"ok":true}]}',
        "delivered",
      ],
      [{ jsonPath: "$.ok", jsonEquals: "1" }, 200, '{"ok":1}', retryUnconfirmed("200 (OK)")],
      [{ jsonPath: "$.id" }, 200, '{"id":null}', "delivered"],
      [{ jsonPath: "$.id" }, 200, "<html>", retryUnconfirmed("200 (OK)")],
    ] as const) {
      const found = await judgeReply(
        replyWith(status, body),
        sms,
        createCustomSettings({ url, ...fields }),
      );
      if (typeof verdict === "string") expect(found.outcome).toBe(verdict);
      else expect(found).toEqual(verdict);
    }
  });

  test("without conditions, statuses have their usual meaning", async () => {
    const provider: Provider<"sms"> = {
      ...sms,
      async deliver(settings, message, context) {
        const verdict = await sms.deliver(settings, message, context);
        return verdict.outcome === "delivered" ? { outcome: "delivered" } : verdict;
      },
    };
    await expectUsualVerdicts(provider, createCustomSettings({ url: "http://sms.lan" }));
  });
});

test("an account can't lead to another URL of the gateway", async () => {
  const settings = createSettings({ preset: "twilio", account: "..", secret: "s", from });
  expect(await judgeReply(hang, sms, settings)).toEqual(
    createFinalVerdict("The account leads to another URL of the gateway."),
  );
});

test("every preset has a case", () => {
  expect(Object.keys(cases)).toEqual(Object.keys(smsPresets));
});
