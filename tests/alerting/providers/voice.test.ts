/** How each voice gateway makes a call, and what its responses mean, as its documentation defines them. */
import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, verify } from "node:crypto";
import type { ChannelSettings } from "../../../src/alerting/channels/kinds-schema.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import { type VoicePreset, voicePresets } from "../../../src/alerting/channels/gateway-rules.ts";
import type { ReceiptState, Verdict } from "../../../src/alerting/provider.ts";
import { renderSpeech, voice } from "../../../src/alerting/providers/voice.ts";
import {
  createAlert,
  createAlertStorm,
  createLinkedMessage,
  createMessage,
  createDoubtfulVerdict,
  createFinalVerdict,
  judgeReply,
  origin,
  parseFields,
  retryVerdict,
  startReceiver,
} from "../../support/alert-receiver.ts";
import type { Json } from "../../support/json.ts";
import { replyWith } from "../../support/target.ts";

type Settings = ChannelSettings<"voice">;

const createSettings = (fields: object): Settings =>
  NewAlertChannel.parse({
    type: "voice",
    name: "Phone",
    to: "+491701234567",
    from: "+4915112345678",
    ...fields,
  }) as unknown as Settings;

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;

const account = { account: "AC1", secret: "s3cret" };
const authorization = `Basic ${Buffer.from("AC1:s3cret").toString("base64")}`;
const keyUrl = `${origin}/a/token/call`;
const scriptUrl = `${origin}/a/sealed/script`;
const plain = "Signalbox. Shop is down since 23 02 UTC.";
const text = `${plain} Press 4 to acknowledge.`;

const answered: ReceiptState = { arrived: "The call was answered." };
const buildUnansweredState = (lost: string): ReceiptState => ({ lost, isUnanswered: true });

type Case = {
  fields: object;
  url: string;
  headers: object;
  /** The body of a call with a key, and without. */
  body: (isKeyed: boolean) => object;
  accepted: [status: number, body: object];
  rejected: [status: number, body: object | string, verdict: Verdict][];
  receiptUrl: string | null;
  receipts: [body: object | string, state: ReceiptState][];
};

const twilioError = (code: number) => ({ code, message: "internal gossip", status: 400 });
const buildTwilio = (status: string) => ({ sid: "CA1", status, answered_by: null, duration: "12" });
const buildVonage = (status: string) => ({
  uuid: "63f61863-4a51-4f6b-86e1-46edebcf9356",
  status,
  direction: "outbound",
  conversation_uuid: "CON-f972836a-550f-45fa-956c-12a2ab5b7d22",
});
const buildPlivo = (hangup_cause_code: number) => ({
  answer_time: null,
  call_direction: "outbound",
  call_uuid: "9834029e-58b6-11e1-b8b7-a5bd0e4e126f",
  end_time: "2026-11-20 23:05:15+00:00",
  hangup_cause_code,
  hangup_cause_name: "internal gossip",
  hangup_source: "Carrier",
});
const buildElk = (state: string) => ({ id: "c595183c042b1e43d1c8e79b9fd5cbcab", state });

const cases: Record<VoicePreset, Case> = {
  twilio: {
    fields: account,
    url: "https://api.twilio.com/2010-04-01/Accounts/AC1/Calls.json",
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: (isKeyed) => {
      const say = `<Say language="en-US">${isKeyed ? text : plain}</Say>`;
      const repeatedSpeech = `${say}<Pause length="1"/>${say}`;
      const content = isKeyed
        ? `<Gather action="${keyUrl}" numDigits="1" timeout="10">${repeatedSpeech}</Gather>`
        : repeatedSpeech;
      return {
        To: "+491701234567",
        From: "+4915112345678",
        Timeout: "40",
        Twiml: `<Response>${content}</Response>`,
      };
    },
    accepted: [201, buildTwilio("queued")],
    rejected: [
      [
        400,
        twilioError(21211),
        createFinalVerdict("Twilio reports that the number of the recipient is not valid."),
      ],
      [
        400,
        twilioError(21215),
        createDoubtfulVerdict("Twilio reports that the account must not send to this number."),
      ],
      [
        429,
        twilioError(20429),
        retryVerdict("Twilio reports that it can't accept the message at present."),
      ],
      [
        503,
        "internal gossip",
        retryVerdict("The receiver responded with HTTP 503 (Service Unavailable)."),
      ],
    ],
    receiptUrl: "https://api.twilio.com/2010-04-01/Accounts/AC1/Calls/CA1.json",
    receipts: [
      [buildTwilio("ringing"), "waiting"],
      [buildTwilio("in-progress"), "waiting"],
      [buildTwilio("completed"), answered],
      [
        buildTwilio("no-answer"),
        buildUnansweredState("Twilio reports that nobody answered the call."),
      ],
      [buildTwilio("busy"), buildUnansweredState("Twilio reports that the line was busy.")],
      [buildTwilio("failed"), { lost: "Twilio reports that the call failed." }],
      ["<html>", "waiting"],
    ],
  },
  vonage: {
    fields: { account: "app-1", secret: pem.replaceAll("\n", "") },
    url: "https://api.nexmo.com/v1/calls",
    headers: {
      authorization: expect.stringMatching(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/),
      "content-type": "application/json",
    },
    body: (isKeyed) => {
      const talk = { action: "talk", text: isKeyed ? text : plain, language: "en-US", loop: 2 };
      const input = {
        action: "input",
        type: ["dtmf"],
        dtmf: { maxDigits: 1, timeOut: 10 },
        eventUrl: [keyUrl],
      };
      return {
        to: [{ type: "phone", number: "491701234567" }],
        from: { type: "phone", number: "4915112345678" },
        ringing_timer: 40,
        ncco: isKeyed ? [{ ...talk, bargeIn: true }, input] : [talk],
      };
    },
    accepted: [201, buildVonage("started")],
    rejected: [
      [
        401,
        { type: "UNAUTHORIZED", error_title: "internal gossip" },
        createDoubtfulVerdict("The receiver responded with HTTP 401 (Unauthorized)."),
      ],
      [
        429,
        "internal gossip",
        retryVerdict("The receiver responded with HTTP 429 (Too Many Requests)."),
      ],
    ],
    receiptUrl: "https://api.nexmo.com/v1/calls/63f61863-4a51-4f6b-86e1-46edebcf9356",
    receipts: [
      [buildVonage("ringing"), "waiting"],
      [buildVonage("completed"), answered],
      [
        buildVonage("unanswered"),
        buildUnansweredState("Vonage reports that nobody answered the call."),
      ],
      [
        buildVonage("timeout"),
        buildUnansweredState("Vonage reports that nobody answered the call."),
      ],
      [buildVonage("busy"), buildUnansweredState("Vonage reports that the line was busy.")],
      [buildVonage("rejected"), buildUnansweredState("Vonage reports that the call was declined.")],
    ],
  },
  plivo: {
    fields: account,
    url: "https://api.plivo.com/v1/Account/AC1/Call/",
    headers: { authorization, "content-type": "application/json" },
    body: () => ({
      from: "4915112345678",
      to: "491701234567",
      answer_url: scriptUrl,
      answer_method: "GET",
      hangup_method: "GET",
      hangup_on_ring: 40,
    }),
    accepted: [
      201,
      {
        api_id: "97ceeb52-58b6-11e1-86da-77300b68f8bb",
        message: "call fired",
        request_uuid: "9834029e-58b6-11e1-b8b7-a5bd0e4e126f",
      },
    ],
    rejected: [
      [
        401,
        "internal gossip",
        createDoubtfulVerdict("The receiver responded with HTTP 401 (Unauthorized)."),
      ],
    ],
    receiptUrl: "https://api.plivo.com/v1/Account/AC1/Call/9834029e-58b6-11e1-b8b7-a5bd0e4e126f/",
    receipts: [
      [{ error: "not found", api_id: "1" }, "waiting"],
      [buildPlivo(0), "waiting"],
      [buildPlivo(4000), answered],
      [buildPlivo(4010), answered],
      [
        buildPlivo(3010),
        buildUnansweredState("Plivo reports that the line was busy, with code 3010."),
      ],
      [
        buildPlivo(6010),
        buildUnansweredState("Plivo reports that nobody answered the call, with code 6010."),
      ],
      [buildPlivo(2000), { lost: "Plivo reports that the call failed, with code 2000." }],
    ],
  },
  seven: {
    fields: { secret: "KEY1" },
    url: "https://gateway.seven.io/api/voice",
    headers: { "x-api-key": "KEY1", "content-type": "application/x-www-form-urlencoded" },
    body: () => ({
      to: "+491701234567",
      from: "+4915112345678",
      ringtime: "40",
      text: `${plain} ${plain}`,
    }),
    accepted: [200, { success: "100", messages: [{ id: 1384013, success: true }] }],
    rejected: [
      [
        200,
        { success: "900" },
        createDoubtfulVerdict("seven.io reports that the account or its secret is not valid."),
      ],
    ],
    receiptUrl: null,
    receipts: [],
  },
  "46elks": {
    fields: account,
    url: "https://api.46elks.com/a1/calls",
    headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
    body: (isKeyed) => ({
      from: "+4915112345678",
      to: "+491701234567",
      timeout: "40",
      voice_start: JSON.stringify({
        ivr: `en_US/${isKeyed ? text : plain}`,
        digits: 1,
        repeat: 2,
        timeout: isKeyed ? 10 : 1,
        ...(isKeyed && { next: keyUrl }),
      }),
    }),
    accepted: [200, buildElk("ongoing")],
    rejected: [
      [
        403,
        "internal gossip",
        createDoubtfulVerdict("The receiver responded with HTTP 403 (Forbidden)."),
      ],
    ],
    receiptUrl: "https://api.46elks.com/a1/calls/c595183c042b1e43d1c8e79b9fd5cbcab",
    receipts: [
      [buildElk("ongoing"), "waiting"],
      [buildElk("success"), answered],
      [buildElk("busy"), buildUnansweredState("46elks reports that the line was busy.")],
      [buildElk("failed"), buildUnansweredState("46elks reports that nobody answered the call.")],
    ],
  },
};

const toText = (body: unknown) => (typeof body === "string" ? body : JSON.stringify(body));
const down = createAlert("monitor.down");

describe.each(Object.entries(cases))("the gateway %s", (preset, one) => {
  const settings = createSettings({ preset, ...one.fields });

  test("reads the alert twice, and takes a key if it can report one", async () => {
    for (const receivesCalls of [true, false]) {
      await using to = await startReceiver(replyWith(one.accepted[0], toText(one.accepted[1])));
      const changes = { receivesCalls };
      const verdict = await to.deliver(voice, settings, createLinkedMessage(down), changes);
      const request = to.lastRequest();
      expect(verdict.outcome).toBe("delivered");
      expect(to.urls).toEqual([one.url]);
      expect(request).toMatchObject({
        method: "POST",
        headers: one.headers as Record<string, string>,
      });
      expect(parseFields(request)).toEqual(one.body(receivesCalls) as Json);
    }
  });

  test("has the documented rejections and states", async () => {
    for (const [status, body, verdict] of one.rejected)
      expect(await judgeReply(replyWith(status, toText(body)), voice, settings)).toEqual(verdict);
    const taken = await judgeReply(
      replyWith(one.accepted[0], toText(one.accepted[1])),
      voice,
      settings,
    );
    const id = taken.outcome === "delivered" ? taken.receipt?.id : undefined;
    expect(id === undefined).toBe(one.receiptUrl === null);
    if (id === undefined) return;
    await using to = await startReceiver();
    for (const [body, state] of one.receipts) {
      to.setReply(replyWith(200, toText(body)));
      expect(await voice.receipts?.read(settings, id, to.context)).toEqual(state);
    }
    expect(new Set(to.urls)).toEqual(new Set([one.receiptUrl ?? ""]));
  });
});

test("every preset has a case", () => {
  expect(Object.keys(cases)).toEqual(Object.keys(voicePresets));
});

test.each(["pkcs8", "pkcs1"] as const)(
  "Vonage gets a token that the private key in %s signed for the application",
  async (type) => {
    await using to = await startReceiver(replyWith(201, toText(buildVonage("started"))));
    const secret = privateKey.export({ type, format: "pem" }).toString().replaceAll("\n", "");
    const fields = { preset: "vonage", account: "app-1", secret };
    await to.deliver(voice, createSettings(fields), createMessage(down));
    const [head = "", claims = "", signature = ""] =
      to.lastRequest().headers["authorization"]?.slice("Bearer ".length).split(".") ?? [];
    const signed = Buffer.from(`${head}.${claims}`);
    expect(verify("sha256", signed, publicKey, Buffer.from(signature, "base64url"))).toBe(true);
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      application_id: "app-1",
    });
  },
);

test("a private key of Vonage that can't be read is reported", async () => {
  const broken = createSettings({ preset: "vonage", account: "app-1", secret: "no key" });
  expect(await judgeReply(replyWith(), voice, broken)).toEqual(
    createDoubtfulVerdict("The private key can't be read."),
  );
});

test("a custom gateway gets text, language and the URL of the key", async () => {
  const settings = createSettings({
    preset: "custom",
    url: "http://pbx.lan/call",
    body: '{ "say": "{{text}}", "in": "{{language}}", "key": "{{callUrl}}" }',
    language: "de-DE",
  });
  for (const [receivesCalls, body] of [
    [true, { say: text, in: "de-DE", key: keyUrl }],
    [false, { say: plain, in: "de-DE", key: "" }],
  ] as const) {
    await using to = await startReceiver();
    await to.deliver(voice, settings, createLinkedMessage(down), { receivesCalls });
    expect(parseFields(to.lastRequest())).toEqual(body);
  }
});

test("a call reads codes digit by digit, a custom text, and the first alerts of many", () => {
  const message = "482913 is the code that verifies the contact method Phone.";
  expect(renderSpeech(createMessage(createAlert("test", { message })), false)).toEndWith(
    "4 8 2 9 1 3 is the code that verifies the contact method Phone.",
  );
  expect(renderSpeech(createMessage(down, "{{monitor}} ist ausgefallen"), false)).toBe(
    "Signalbox. Shop ist ausgefallen.",
  );
  const storm = renderSpeech(createMessage(createAlertStorm(20)), false);
  expect(storm).toStartWith("Signalbox. 20 monitors are down.");
  expect(storm).toContain("Shop 3");
  expect(storm).not.toContain("Shop 4");
});
