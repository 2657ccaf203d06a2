/** Notifications of Uptime Kuma become channels of the same service. */
import { expect, test } from "bun:test";
import { convertChannel } from "../../src/imports/kuma/channels.ts";
import type { Fields } from "../../src/core/collections/objects.ts";

const convert = (config: Fields) =>
  convertChannel({ id: 1, name: "Ops", active: 1, is_default: 0, config: JSON.stringify(config) });

const hook = "https://hooks.example/a";
const uid = `U${"0".repeat(32)}`;

test.each<[config: Fields, fields: Fields]>([
  [
    {
      type: "matrix",
      homeserverUrl: "https://m.example",
      accessToken: "a",
      internalRoomId: "!a:m",
    },
    { type: "matrix", server: "https://m.example", accessToken: "a", roomId: "!a:m" },
  ],
  [
    {
      type: "signal",
      signalURL: "http://signal.lan:8080/v2/send",
      signalNumber: "+491701234567",
      signalRecipients: "+491701234568, group.a",
    },
    {
      type: "signal",
      server: "http://signal.lan:8080",
      recipients: ["+491701234568", "group.a"],
    },
  ],
  [
    { type: "rocket.chat", rocketwebhookURL: hook },
    { type: "rocketchat", webhookUrl: hook },
  ],
  [
    { type: "nextcloudtalk", host: "https://nc.example", conversationToken: "a1", botSecret: "s" },
    { type: "nextcloudtalk", server: "https://nc.example", conversation: "a1", botSecret: "s" },
  ],
  [
    { type: "line", lineChannelAccessToken: "a", lineUserID: uid },
    { type: "line", accessToken: "a", to: uid },
  ],
  [
    { type: "Feishu", feishuWebHookUrl: hook },
    { type: "feishu", webhookUrl: hook },
  ],
  [
    { type: "DingDing", webHookUrl: hook, secretKey: "SEC1" },
    { type: "dingtalk", webhookUrl: hook, secret: "SEC1" },
  ],
  [
    { type: "WeCom", weComBotKey: "k" },
    { type: "wecom", webhookUrl: "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=k" },
  ],
  [
    { type: "pushbullet", pushbulletAccessToken: "o.a" },
    { type: "pushbullet", accessToken: "o.a" },
  ],
  [
    { type: "HomeAssistant", homeAssistantUrl: "http://ha.lan/", longLivedAccessToken: "a" },
    { type: "homeassistant", server: "http://ha.lan/", token: "a", service: "notify" },
  ],
  [
    { type: "SIGNL4", webhookURL: hook },
    { type: "signl4", webhookUrl: hook },
  ],
  [
    { type: "Splunk", splunkRestURL: hook },
    { type: "splunkoncall", webhookUrl: hook },
  ],
  ...(["SendGrid", "Brevo", "Resend"] as const).map((service): [Fields, Fields] => {
    const type = service.toLowerCase();
    return [
      {
        type: service,
        [`${type}ApiKey`]: "a",
        [`${type}FromEmail`]: "k@b.example",
        [`${type}ToEmail`]: "o@b.example",
      },
      { type, apiKey: "a", from: "k@b.example", to: ["o@b.example"] },
    ];
  }),
  [
    {
      type: "webhook",
      webhookURL: hook,
      webhookContentType: "custom",
      webhookCustomBody: `{"t": "{{ msg }}", "n": "{{monitorJSON['name']}}", "s": {{ heartbeatJSON["status"] }}}`,
      webhookAdditionalHeaders: '{"X-Team": "ops"}',
    },
    {
      type: "webhook",
      url: hook,
      headers: { "X-Team": "ops" },
      bodyType: "json",
      body: '{"t": "{{title}}: {{message}}", "n": "{{monitor}}", "s": {{up}}}',
    },
  ],
  [
    { type: "webhook", webhookURL: `${hook}?a=1`, httpMethod: "get" },
    { type: "webhook", url: `${hook}?a=1&msg={{title}}`, method: "GET" },
  ],
])("%j", (config, fields) => {
  const { fields: result, isImportable, isIncomplete } = convert(config);
  expect({ isImportable, isIncomplete }).toEqual({ isImportable: true, isIncomplete: false });
  expect(result).toMatchObject({ name: "Ops", enabled: true, ...fields });
});

test("a webhook's own JSON has the usual fields, also with quotation marks in a name", () => {
  const { fields, notes } = convert({
    type: "webhook",
    webhookURL: hook,
    webhookContentType: "json",
  });
  expect(fields["body"]).toContain('"heartbeat": { "status": {{up}}');
  expect(notes.join()).toContain("as Uptime Kuma does.");
});

test("a body with tags or filters becomes a disabled webhook with the reason", () => {
  for (const body of ["{% if status %}a{% endif %}", "{{ msg | json }}", "{{ other }}"]) {
    const { fields, notes, isIncomplete } = convert({
      type: "webhook",
      webhookURL: hook,
      webhookContentType: "custom",
      webhookCustomBody: body,
    });
    expect(fields).toMatchObject({ type: "webhook", enabled: false });
    expect([isIncomplete, notes[0]]).toEqual([true, expect.stringContaining("Disabled: its body")]);
  }
});
