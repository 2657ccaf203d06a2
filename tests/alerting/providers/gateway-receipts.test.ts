/** How receipts of gateways are requested, and what their responses mean. The bodies are those of the vendors' documents. */
import { describe, expect, test } from "bun:test";
import type { ChannelSettings } from "../../../src/alerting/channels/kinds-schema.ts";
import { NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import { type SmsPreset, smsPresets } from "../../../src/alerting/channels/gateway-rules.ts";
import type { ReceiptState } from "../../../src/alerting/provider.ts";
import { sms } from "../../../src/alerting/providers/sms.ts";
import { createAlert, createMessage, startReceiver } from "../../support/alert-receiver.ts";
import { replyWith } from "../../support/target.ts";

const createSettings = (fields: object) =>
  NewAlertChannel.parse({
    type: "sms",
    name: "Phone",
    to: "+491701234567",
    ...fields,
  }) as unknown as ChannelSettings<"sms">;

const account = { account: "AC1", secret: "s3cret", from: "Signalbox" };
const authorization = `Basic ${Buffer.from("AC1:s3cret").toString("base64")}`;
const arrived: ReceiptState = { arrived: "Delivered to the phone." };
const buildLostState = (text: string): ReceiptState => ({ lost: text });

type Case = {
  fields: object;
  /** Response to the message. */
  accepted: [status: number, body: object];
  url: string;
  headers: Record<string, string>;
  receipts: [body: object | string, state: ReceiptState][];
};

const buildTwilio = (status: string, error_code: number | null = null) => ({
  account_sid: "AC1",
  sid: "SM1f0e8ae6ade43cb3c0ce4525424e404f",
  error_code,
  error_message: error_code && "internal gossip",
  status,
});
const buildPlivo = (message_state: string, error_code: string) => ({
  api_id: "035eeada-6df1-11e6-b608-06a72a185e87",
  error_code,
  message_direction: "outbound",
  message_state,
  message_uuid: "2a340179-e8a9-4b1d-ae2c-9f346e7b6d7d",
  units: 1,
});
const buildTelnyx = (status: string, errors: object[] = []) => ({
  data: {
    record_type: "message",
    id: "834f3d53-8a3c-4aa0-a733-7f2d682a72df",
    to: [{ phone_number: "+491701234567", status }],
    errors,
  },
});
const buildMessagebird = (status: string, statusErrorCode: number | null = null) => ({
  id: "e8077d803532c0b5937c639b60216938",
  recipients: {
    totalCount: 1,
    items: [{ recipient: 491701234567, status, statusErrorCode }],
  },
});
const buildSeven = (dlr: string | null) => [{ id: "77231715575", to: "491701234567", dlr }];
const buildElk = (status: string) => ({
  id: "s3633fa8e62f823e52fbc67ebf6925ab5",
  direction: "outgoing",
  status,
});
const buildSmsGate = (state: string) => ({
  id: "zXDYfTmTVf3iMd16zzdBj",
  state,
  recipients: [{ phoneNumber: "+491701234567", state, error: "internal gossip" }],
});

const buildVonage = (status: string, error_code: string | null = null) => ({
  request_id: "0ec00351-5357-4321-9a08-fa3d4a4e1234",
  request_status: "SUCCESS",
  id: "15000000E1F8B123",
  account_id: "AC1",
  product: "SMS",
  direction: "outbound",
  items_count: 1,
  records: [
    {
      account_id: "AC1",
      message_id: "15000000E1F8B123",
      to: "491701234567",
      status,
      error_code,
      error_code_description: "internal gossip",
    },
  ],
});
const buildEagle = (status: string, error_code: number | null = null) => [
  { id: 654, number: "+491701234567", text: "Hello there", modem_no: 1, status, error_code },
];

const cases: Partial<Record<SmsPreset, Case>> = {
  twilio: {
    fields: account,
    accepted: [201, buildTwilio("queued")],
    url: "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages/SM1f0e8ae6ade43cb3c0ce4525424e404f.json",
    headers: { authorization },
    receipts: [
      [buildTwilio("sent"), "waiting"],
      [buildTwilio("delivered"), arrived],
      [
        buildTwilio("undelivered", 30003),
        buildLostState("Twilio reports that the phone did not get the message, with code 30003."),
      ],
      [buildTwilio("failed"), buildLostState("Twilio reports that the message could not be sent.")],
      ["<html>internal gossip", "waiting"],
    ],
  },
  vonage: {
    fields: account,
    accepted: [
      200,
      {
        "message-count": "1",
        messages: [{ to: "491701234567", "message-id": "15000000E1F8B123", status: "0" }],
      },
    ],
    url: "https://api.nexmo.com/v2/reports/records?account_id=AC1&product=SMS&direction=outbound&id=15000000E1F8B123",
    headers: { authorization },
    receipts: [
      [
        { ...buildVonage(""), items_count: 0, records: [], ids_not_found: "15000000E1F8B123" },
        "waiting",
      ],
      [buildVonage("submitted"), "waiting"],
      [buildVonage("buffered"), "waiting"],
      [buildVonage("unknown"), "waiting"],
      [buildVonage("delivered", "0"), arrived],
      [
        buildVonage("expired", "9"),
        buildLostState("Vonage reports that the phone could not be reached in time, with code 9."),
      ],
      [
        buildVonage("rejected"),
        buildLostState("Vonage reports that the network rejected the message."),
      ],
    ],
  },
  plivo: {
    fields: account,
    accepted: [
      202,
      {
        message: "message(s) queued",
        message_uuid: ["2a340179-e8a9-4b1d-ae2c-9f346e7b6d7d"],
        api_id: "db342550-7e9d-11e1-8ea7-12313f053b0f",
      },
    ],
    url: "https://api.plivo.com/v1/Account/AC1/Message/2a340179-e8a9-4b1d-ae2c-9f346e7b6d7d/",
    headers: { authorization },
    receipts: [
      [buildPlivo("sent", "000"), "waiting"],
      [buildPlivo("delivered", "000"), arrived],
      [
        buildPlivo("failed", "200"),
        buildLostState("Plivo reports that the message could not be sent, with code 200."),
      ],
    ],
  },
  telnyx: {
    fields: { secret: "KEY1", from: "Signalbox" },
    accepted: [200, buildTelnyx("queued")],
    url: "https://api.telnyx.com/v2/messages/834f3d53-8a3c-4aa0-a733-7f2d682a72df",
    headers: { authorization: "Bearer KEY1" },
    receipts: [
      [buildTelnyx("sent"), "waiting"],
      [buildTelnyx("delivered"), arrived],
      [
        buildTelnyx("delivery_failed", [{ code: "40008", title: "internal gossip" }]),
        buildLostState("Telnyx reports that the phone did not get the message, with code 40008."),
      ],
    ],
  },
  seven: {
    fields: { secret: "KEY1", from: "Signalbox" },
    accepted: [200, { success: "100", messages: [{ id: "77231715575", success: true }] }],
    url: "https://gateway.seven.io/api/journal/outbound?id=77231715575",
    headers: { "x-api-key": "KEY1" },
    receipts: [
      [buildSeven("TRANSMITTED"), "waiting"],
      [buildSeven(null), "waiting"],
      [[], "waiting"],
      [buildSeven("DELIVERED"), arrived],
      [
        buildSeven("EXPIRED"),
        buildLostState("seven.io reports that the phone could not be reached in time."),
      ],
    ],
  },
  "46elks": {
    fields: account,
    accepted: [200, { ...buildElk("created"), cost: 3500 }],
    url: "https://api.46elks.com/a1/sms/s3633fa8e62f823e52fbc67ebf6925ab5",
    headers: { authorization },
    receipts: [
      [buildElk("sent"), "waiting"],
      [buildElk("delivered"), arrived],
      [
        buildElk("failed"),
        buildLostState("46elks reports that the phone did not get the message."),
      ],
    ],
  },
  messagebird: {
    fields: { secret: "KEY1", from: "Signalbox" },
    accepted: [201, buildMessagebird("sent")],
    url: "https://rest.messagebird.com/messages/e8077d803532c0b5937c639b60216938",
    headers: { authorization: "AccessKey KEY1" },
    receipts: [
      [buildMessagebird("buffered"), "waiting"],
      [buildMessagebird("delivered"), arrived],
      [
        buildMessagebird("delivery_failed", 1),
        buildLostState("MessageBird reports that the phone did not get the message, with code 1."),
      ],
    ],
  },
  smseagle: {
    fields: { secret: "KEY1", url: "https://eagle.lan" },
    accepted: [200, [{ status: "queued", message: "OK", number: "+491701234567", id: 654 }]],
    url: "https://eagle.lan/api/v2/messages/sent?id_from=654&id_to=654",
    headers: { "access-token": "KEY1" },
    receipts: [
      [[], "waiting"],
      [buildEagle("sending_ok"), "waiting"],
      [buildEagle("delivery_pending"), "waiting"],
      [buildEagle("delivery_unknown"), "waiting"],
      [buildEagle("sending_ok_no_report"), "over"],
      [buildEagle("delivery_ok"), arrived],
      [
        buildEagle("delivery_failed", 27),
        buildLostState("SMSEagle reports that the phone did not get the message, with code 27."),
      ],
      [
        buildEagle("sending_error"),
        buildLostState("SMSEagle reports that the message could not be sent."),
      ],
    ],
  },
  "sms-gate": {
    fields: { account: "AC1", secret: "s3cret", url: "http://phone.lan:8080" },
    accepted: [202, buildSmsGate("Pending")],
    url: "http://phone.lan:8080/messages/zXDYfTmTVf3iMd16zzdBj",
    headers: { authorization },
    receipts: [
      [buildSmsGate("Sent"), "waiting"],
      [buildSmsGate("Delivered"), arrived],
      [
        buildSmsGate("Failed"),
        buildLostState("SMS Gateway for Android reports that the message could not be sent."),
      ],
    ],
  },
};

/** Sends a message, and reads its receipt with each of these responses. */
async function follow(
  settings: ChannelSettings<"sms">,
  accepted: Case["accepted"],
  bodies: unknown[],
) {
  const toText = (body: unknown) => (typeof body === "string" ? body : JSON.stringify(body));
  await using gateway = await startReceiver(replyWith(accepted[0], toText(accepted[1])));
  const verdict = await gateway.deliver(sms, settings, createMessage(createAlert("monitor.down")));
  const id = verdict.outcome === "delivered" ? (verdict.receipt?.id ?? null) : null;
  const states: ReceiptState[] = [];
  for (const body of id === null ? [] : bodies) {
    gateway.setReply(replyWith(200, toText(body)));
    states.push((await sms.receipts?.read(settings, id as string, gateway.context)) ?? "over");
  }
  return { id, states, gateway: { urls: gateway.urls, last: gateway.asked.at(-1) } };
}

describe("a receipt of", () => {
  for (const [preset, one] of Object.entries(cases))
    test(`${preset} is requested as documented, and only its final states end it`, async () => {
      const { fields, accepted, url, headers, receipts } = one;
      const settings = createSettings({ preset, ...fields });
      const { states, gateway } = await follow(
        settings,
        accepted,
        receipts.map(([body]) => body),
      );
      expect(states).toEqual(receipts.map(([, state]) => state));
      expect(gateway.urls.at(-1)).toBe(url);
      expect(gateway.last).toMatchObject({ method: "GET", body: "", headers });
      expect(gateway.last?.headers).not.toHaveProperty("content-type");
      expect(JSON.stringify(states)).not.toContain("gossip");
    });

  test("Teltonika is not requested, because none is documented", async () => {
    expect(Object.keys(smsPresets).filter((name) => !(name in cases))).toEqual(["teltonika"]);
    const fields = { secret: "s", url: "http://device.lan", account: "admin" };
    const settings = createSettings({ preset: "teltonika", ...fields });
    expect((await follow(settings, [200, { id: "1" }], [])).id).toBeNull();
  });

  test("a server that fails, or limits requests, is requested again", async () => {
    const settings = createSettings({ preset: "46elks", ...account });
    await using gateway = await startReceiver(replyWith(429));
    for (const status of [429, 500, 404, 401]) {
      gateway.setReply(replyWith(status, JSON.stringify(buildElk("failed"))));
      expect(await sms.receipts?.read(settings, "s1", gateway.context)).toBe("waiting");
    }
  });
});

describe("a custom gateway", () => {
  const fields = {
    preset: "custom",
    url: "http://modem.lan/send",
    secret: "s3cret",
    headers: { "X-Key": "{{secret}}", "Content-Type": "application/json" },
    body: "{}",
    receiptIdPath: "$.id",
    receiptUrl: "http://modem.lan/messages/{{receipt}}?key={{secret}}",
    receiptStatePath: "$.state",
    receiptDelivered: ["received"],
    receiptFailed: ["expired", "gone"],
  };

  test("is requested with its headers, until the state is in a list", async () => {
    const bodies = ["queued", "Received", "GONE"].map((state) => ({ state }));
    const { states, gateway } = await follow(createSettings(fields), [200, { id: 17 }], bodies);
    expect(states).toEqual([
      "waiting",
      arrived,
      buildLostState("The gateway reports that the phone did not get the message."),
    ]);
    expect(gateway.urls.at(-1)).toBe("http://modem.lan/messages/17?key=s3cret");
    expect(gateway.last?.headers).toMatchObject({ "x-key": "s3cret" });
    const whole = createSettings({ ...fields, receiptStatePath: null });
    expect((await follow(whole, [200, { id: 17 }], ["received\n"])).states).toEqual([arrived]);
    expect((await follow(whole, [200, { id: "../.." }], [])).id).toBeNull();
  });

  test("rejects receipts that are incomplete, or on another server", () => {
    const issueOf = (change: object) =>
      NewAlertChannel.safeParse({
        type: "sms",
        name: "Phone",
        to: "+491701234567",
        ...fields,
        ...change,
      }).error?.issues.map(({ path }) => path.join("."));
    expect(issueOf({})).toBeUndefined();
    expect(issueOf({ receiptIdPath: null })).toEqual(["receiptIdPath"]);
    expect(issueOf({ receiptDelivered: [] })).toEqual(["receiptDelivered"]);
    expect(issueOf({ receiptUrl: "http://evil.lan/{{receipt}}" })).toEqual(["receiptUrl"]);
    expect(issueOf({ receiptUrl: "http://modem.lan/last" })).toEqual(["receiptUrl"]);
    expect(issueOf({ receiptUrl: null })).toEqual([
      "receiptIdPath",
      "receiptStatePath",
      "receiptDelivered",
      "receiptFailed",
    ]);
  });
});
