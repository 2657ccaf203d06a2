/** How services that show the whole message as one text are addressed. */
import { expect } from "bun:test";
import type { ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { sha256 } from "../../../src/core/ids.ts";
import type { Verdict } from "../../../src/alerting/provider.ts";
import {
  deliveryId,
  createDoubtfulVerdict,
  monitor,
  retryVerdict,
} from "../../support/alert-receiver.ts";
import type { Json } from "../../support/json.ts";
import {
  showAsTyped,
  delivered,
  linesOf,
  buildErrorResponses,
  type Response,
  type RenderedText,
  type Service,
  services,
  split,
} from "./services.ts";

const retryBusy = (service: string): Verdict =>
  retryVerdict(`${service} accepts no more messages at present.`);
const retryTooMany = (seconds?: number) =>
  retryVerdict("The receiver responded with HTTP 429 (Too Many Requests).", seconds);
const unconfirmed = retryVerdict(
  "The receiver responded with HTTP 200 (OK), but did not confirm the message.",
);

const plain = showAsTyped({
  name: "<!here> *Shop* @all",
  groupName: "[a](https://evil.example) <@U1>",
  message: "@everyone <b>b</b> `c` _d_ &amp; | # https://shop.lan/a_b",
});

type TextService<T extends ChannelType> = Pick<Service<T>, "settings" | "url"> &
  Partial<Service<T>> & {
    /** The body with this text. */
    wrap: (text: string, output: RenderedText) => object;
    /** The text of a body. */
    textOf: (body: Json) => string;
    most: number;
    title?: (title: string) => string;
    sizeOf?: (text: string) => number;
  };

/** A service whose text has a title, lines and links. */
const createTextService = <T extends ChannelType>({
  wrap,
  textOf,
  most,
  title: markUp = String,
  sizeOf = ({ length }) => length,
  ...service
}: TextService<T>): Service<T> => ({
  neverEmpty: true,
  hostile: plain,
  responses: [],
  body: (text) => wrap([markUp(text.title), ...linesOf(text), "", text.url].join("\n"), text),
  digest: {
    lines: (body) => split(textOf(body)).slice(1, -2),
    size: (body) => sizeOf(textOf(body)),
    most,
  },
  ...service,
});

const countBytes = (text: string) => Buffer.byteLength(text);
const uid = `U${"4af4980629".repeat(3)}ab`;
const matrixUrl = `https://matrix.lan/_matrix/client/v3/rooms/!ops%3Amatrix.lan/send/m.room.message/${deliveryId}`;
const matrixError = (errcode: string) => ({ errcode, error: "internal gossip" });
const zulipError = (code: string) => ({ result: "error", code, msg: "internal gossip" });
const codeBody = (field: string) => (code: string) => ({ [field]: Number(code), msg: "gossip" });

const matrix: Service<"matrix"> = createTextService({
  settings: {
    server: "https://matrix.lan/",
    accessToken: "syt_b3Bz",
    roomId: "!ops:matrix.lan",
    template: null,
  },
  url: matrixUrl,
  method: "PUT",
  headers: { authorization: "Bearer syt_b3Bz" },
  wrap(body) {
    const [title = "", ...lines] = split(
      body.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    );
    return {
      msgtype: "m.text",
      body,
      format: "org.matrix.custom.html",
      formatted_body: [`<strong>${title}</strong>`, ...lines].join("<br>"),
      "m.mentions": {},
    };
  },
  textOf: ({ body }) => body,
  most: 19_500,
  sizeOf: (text) => 2 * countBytes(text),
  responses: [
    ...buildErrorResponses(createDoubtfulVerdict, "Matrix reports that", matrixError, [
      [401, "M_UNKNOWN_TOKEN", "the access token is not valid"],
      [403, "M_FORBIDDEN", "the account is not in the room, or is not allowed to post to it"],
    ]),
    [429, { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: 2_001 }, retryTooMany(3)],
  ],
});

const signal: Service<"signal"> = createTextService({
  settings: {
    server: "http://signal.lan:8080",
    number: "+491701234567",
    recipients: ["+4915112345678", "group.b3Bz"],
    template: null,
  },
  url: "http://signal.lan:8080/v2/send",
  wrap: (message) => ({
    number: "+491701234567",
    recipients: ["+4915112345678", "group.b3Bz"],
    message,
    text_mode: "normal",
  }),
  textOf: ({ message }) => message,
  most: 2_000,
  sizeOf: countBytes,
  responses: [[201, { timestamp: "1" }, delivered]],
});

const zulip: Service<"zulip"> = createTextService({
  settings: {
    server: "https://acme.zulipchat.com",
    email: "bot@acme.zulipchat.com",
    apiKey: "key",
    channel: "operations",
    topic: "Alerts",
    template: null,
  },
  url: "https://acme.zulipchat.com/api/v1/messages",
  headers: { authorization: "Basic Ym90QGFjbWUuenVsaXBjaGF0LmNvbTprZXk=" },
  wrap: () => ({}),
  body: (text) => ({
    type: "stream",
    to: "operations",
    topic: "Alerts",
    content: [`**${text.title}**`, "```text", ...linesOf(text), "```", text.url].join("\n"),
  }),
  hostile: {
    typed: { ...plain.typed, message: "@**all** ``` #**x** https://shop.lan/a_b" },
    shown: {
      ...plain.typed,
      name: "<\u200b!here> *\u200bShop*\u200b @\u200ball",
      message: "@**all** ``\u200b` #**x** https://shop.lan/a_b",
    },
  },
  textOf: ({ content }) => content,
  most: 10_000,
  digest: {
    lines: ({ content }) => split(content).slice(2, -2),
    size: ({ content }) => content.length,
    most: 10_000,
  },
  responses: [
    ...buildErrorResponses(createDoubtfulVerdict, "Zulip reports that", zulipError, [
      [400, "STREAM_DOES_NOT_EXIST", "the channel does not exist"],
      [401, "INVALID_API_KEY", "the bot's API key is not valid"],
    ]),
    [429, { ...zulipError("RATE_LIMIT_HIT"), "retry-after": 28.7 }, retryTooMany(29)],
  ],
});

const nextcloudtalk: Service<"nextcloudtalk"> = createTextService({
  settings: {
    server: "https://cloud.lan/nc",
    conversation: "4nd9wq3z",
    botSecret: "s".repeat(40),
    template: null,
  },
  url: "https://cloud.lan/nc/ocs/v2.php/apps/spreed/api/v1/bot/4nd9wq3z/message",
  headers: { "ocs-apirequest": "true" },
  title: (title) => `**${title}**`,
  wrap: (message) => ({ message, referenceId: sha256(deliveryId) }),
  textOf: ({ message }) => message,
  most: 10_000,
  hostile: {
    typed: {
      name: "*Shop* @all",
      groupName: "[a](https://evil.example)",
      message: "@here `c` https://shop.lan/a_b",
    },
    shown: {
      name: "\\*Shop\\* @\u200ball",
      groupName: "\\[a\\](https://evil.example)",
      message: "@\u200bhere \\`c\\` https://shop.lan/a_b",
    },
  },
  confirmation: null,
  responses: [
    [201, "", delivered],
    [
      401,
      "",
      createDoubtfulVerdict(
        "Nextcloud Talk reports that the bot's secret is not valid, or the bot is not enabled in the conversation.",
      ),
    ],
    [
      404,
      "",
      createDoubtfulVerdict(
        "Nextcloud Talk reports that the conversation or the bot does not exist.",
      ),
    ],
    [413, "", retryVerdict("The receiver responded with HTTP 413 (Payload Too Large).")],
  ],
});

const webex: Service<"webex"> = createTextService({
  settings: { webhookUrl: "https://webexapis.com/v1/webhooks/incoming/key", template: null },
  url: "https://webexapis.com/v1/webhooks/incoming/key",
  wrap: (text) => ({ text }),
  textOf: ({ text }) => text,
  most: 7_400,
  sizeOf: countBytes,
  responses: [[204, "", delivered]],
});

const line: Service<"line"> = createTextService({
  settings: { accessToken: "token", to: uid, template: null },
  url: "https://api.line.me/v2/bot/message/push",
  headers: { authorization: "Bearer token", "x-line-retry-key": deliveryId },
  wrap: (text) => ({ to: uid, messages: [{ type: "text", text }] }),
  textOf: ({ messages: [{ text }] }) => text,
  most: 5_000,
  confirmation: null,
  responses: [
    [200, "{}", delivered],
    // An earlier attempt was accepted.
    [409, { message: "The retry key is already accepted" }, delivered],
    [401, "", createDoubtfulVerdict("LINE reports that the channel access token is not valid.")],
    [429, "", retryTooMany()],
  ],
});

const templates = { down: "red", degraded: "orange", up: "green", info: "blue" };
const buildCardText = (content: string) => ({ tag: "plain_text", content });

const feishu: Service<"feishu"> = createTextService({
  settings: {
    webhookUrl: "https://open.feishu.cn/open-apis/bot/v2/hook/key",
    secret: null,
    template: null,
  },
  url: "https://open.feishu.cn/open-apis/bot/v2/hook/key",
  wrap: () => ({}),
  body: (text) => ({
    msg_type: "interactive",
    card: {
      header: { template: templates[text.tone], title: buildCardText(text.title) },
      elements: [
        { tag: "div", text: buildCardText(linesOf(text).join("\n")) },
        {
          tag: "action",
          actions: [{ tag: "button", text: buildCardText("Open in Signalbox"), url: text.url }],
        },
        { tag: "note", elements: [buildCardText("Signalbox")] },
      ],
    },
  }),
  textOf: (body) => JSON.stringify(body),
  most: 18_000,
  digest: {
    lines: (body) => split(body.card.elements[0].text.content),
    size: (body) => countBytes(JSON.stringify(body)),
    most: 18_000,
  },
  confirmation: '{"code":0,"msg":"success"}',
  responses: [
    [
      200,
      { code: 19021 },
      createDoubtfulVerdict(
        "Feishu reports that the signature is not valid: check the secret and the clock of this machine.",
      ),
    ],
    [
      200,
      { code: 19024 },
      createDoubtfulVerdict("Feishu reports that the message has none of the bot's keywords."),
    ],
    [
      400,
      { code: 19001 },
      createDoubtfulVerdict("Feishu reports that the webhook's address is not valid."),
    ],
    [200, { code: 11232 }, retryBusy("Feishu")],
    [200, { code: 9499 }, retryVerdict("Feishu rejected the message with code 9499.")],
    [200, "<title>Sign in</title>", unconfirmed],
  ],
});
delete (feishu as { neverEmpty?: true }).neverEmpty;

const dingtalk: Service<"dingtalk"> = createTextService({
  settings: {
    webhookUrl: "https://oapi.dingtalk.com/robot/send?access_token=key",
    secret: null,
    template: null,
  },
  url: "https://oapi.dingtalk.com/robot/send?access_token=key",
  title: (title) => `Signalbox: ${title}`,
  wrap: (content) => ({ msgtype: "text", text: { content } }),
  textOf: ({ text: { content } }) => content,
  most: 18_000,
  sizeOf: countBytes,
  confirmation: '{"errcode":0,"errmsg":"ok"}',
  responses: [
    ...buildErrorResponses(createDoubtfulVerdict, "DingTalk reports that", codeBody("errcode"), [
      [
        200,
        "310000",
        "the robot's security settings reject the message: check secret, keywords and addresses",
      ],
      [200, "400102", "the robot is disabled"],
    ]),
    [200, { errcode: 410100 }, retryBusy("DingTalk")],
    [200, "{}", unconfirmed],
  ],
});

const wecom: Service<"wecom"> = createTextService({
  settings: {
    webhookUrl: "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=k",
    template: null,
  },
  url: "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=k",
  wrap: (content) => ({ msgtype: "text", text: { content } }),
  textOf: ({ text: { content } }) => content,
  most: 2_048,
  sizeOf: countBytes,
  confirmation: '{"errcode":0,"errmsg":"ok"}',
  responses: [
    [
      200,
      { errcode: 93000 },
      createDoubtfulVerdict("WeCom reports that the webhook's address is not valid."),
    ],
    [200, { errcode: 45009 }, retryBusy("WeCom")],
    [200, { errcode: 40008 }, retryVerdict("WeCom rejected the message with code 40008.")],
  ],
});

const colors = { down: "#d92d20", degraded: "#f79009", up: "#12a150", info: "#667085" };

const rocketchat: Service<"rocketchat"> = {
  settings: { webhookUrl: "https://chat.lan/hooks/id/token", template: null },
  url: "https://chat.lan/hooks/id/token",
  body: ({ title, tone, url, text, facts }) => ({
    parseUrls: false,
    attachments: [
      {
        color: colors[tone],
        title,
        title_link: url,
        text: text.join("\n"),
        fields: facts.map(([label, value]) => ({ title: label, value, short: true })),
      },
    ],
  }),
  hostile: {
    typed: {
      name: "@all Shop",
      groupName: "@channel",
      message: "@here [a](b) `c` https://shop.lan/a_b",
    },
    shown: {
      name: "@\u200ball Shop",
      groupName: "@\u200bchannel",
      message: "@\u200bhere \\[a\\](b) \\`c\\` https://shop.lan/a_b",
    },
  },
  digest: {
    lines: (body) => split(body.attachments[0].text),
    size: (body) => JSON.stringify(body).length,
    most: 5_000,
  },
  confirmation: '{"success":true}',
  responses: [
    [200, { success: false, error: "internal gossip" }, unconfirmed],
    [200, "<title>Sign in</title>", unconfirmed],
  ] satisfies Response[],
};

const apiKey = "key-7f3a";
const mailFields = { from: "signalbox@acme.example", to: ["a@acme.example", "b@acme.example"] };
const recipients = mailFields.to.map((email) => ({ email }));

type MailService<T extends ChannelType> = Pick<Service<T>, "settings" | "url"> &
  Partial<Service<T>> & {
    /** The body without its HTML. */
    wrap: (subject: string, text: string) => object;
    textOf: (body: Json) => string;
  };

/** A service that sends a mail, whose HTML is tested with that of e-mail channels. */
const createMailService = <T extends ChannelType>({
  wrap,
  textOf,
  ...service
}: MailService<T>): Service<T> => ({
  neverEmpty: true,
  hostile: plain,
  responses: [],
  body: ({ title, url, ...said }) =>
    wrap(title, `${[title, "", ...linesOf({ title, url, ...said }), "", url].join("\n")}\n`),
  digest: {
    lines: (body) => split(textOf(body)).slice(2, -3),
    size: (body) => countBytes(JSON.stringify(body)),
    most: 19_500,
  },
  ...service,
});

const sendgrid: Service<"sendgrid"> = createMailService({
  settings: { apiKey, region: "eu", ...mailFields, template: null },
  url: "https://api.eu.sendgrid.com/v3/mail/send",
  headers: { authorization: `Bearer ${apiKey}` },
  wrap: (subject, value) => ({
    personalizations: [{ to: recipients }],
    from: { email: mailFields.from, name: "Signalbox" },
    subject,
    content: [{ type: "text/plain", value }],
    headers: { "Auto-Submitted": "auto-generated", "X-Signalbox-Delivery": deliveryId },
    tracking_settings: { click_tracking: { enable: false }, open_tracking: { enable: false } },
  }),
  shown: (body) => ({ ...body, content: body.content.slice(0, 1) }),
  textOf: ({ content }) => content[0].value,
  addresses: [[{ region: "us" }, "https://api.sendgrid.com/v3/mail/send"]],
  confirmation: null,
  responses: [
    [202, "", delivered],
    [401, "", createDoubtfulVerdict("SendGrid reports that the API key is not valid.")],
    [
      403,
      "",
      createDoubtfulVerdict(
        "SendGrid reports that the API key or the sender is not allowed to send.",
      ),
    ],
  ],
});

const brevoError = (code: string) => ({ code, message: "internal gossip" });
const brevo: Service<"brevo"> = createMailService({
  settings: { apiKey, ...mailFields, template: null },
  url: "https://api.brevo.com/v3/smtp/email",
  headers: { "api-key": apiKey },
  wrap: (subject, textContent) => ({
    sender: { email: mailFields.from, name: "Signalbox" },
    to: recipients,
    subject,
    textContent,
    headers: { idempotencyKey: deliveryId },
  }),
  shown: ({ htmlContent: _html, ...body }) => body,
  textOf: ({ textContent }) => textContent,
  responses: buildErrorResponses(createDoubtfulVerdict, "Brevo reports that", brevoError, [
    [401, "unauthorized", "the API key is not valid, or this machine's address is not allowed"],
    [402, "not_enough_credits", "the account has too few credits"],
  ]),
});

const resendError = (name: string) => ({ name, message: "internal gossip" });
const resend: Service<"resend"> = createMailService({
  settings: { apiKey, ...mailFields, template: null },
  url: "https://api.resend.com/emails",
  headers: { authorization: `Bearer ${apiKey}`, "idempotency-key": deliveryId },
  wrap: (subject, text) => ({
    from: `Signalbox <${mailFields.from}>`,
    to: mailFields.to,
    subject,
    text,
    headers: { "Auto-Submitted": "auto-generated" },
  }),
  shown: ({ html: _html, ...body }) => body,
  textOf: ({ text }) => text,
  responses: buildErrorResponses(createDoubtfulVerdict, "Resend reports that", resendError, [
    [403, "invalid_api_key", "the API key is not valid"],
    [429, "daily_quota_exceeded", "the daily quota is used up"],
  ]),
});

const mailgun: Service<"mailgun"> = createMailService({
  settings: { apiKey, region: "us", domain: "mg.acme.example", ...mailFields, template: null },
  url: "https://api.mailgun.net/v3/mg.acme.example/messages",
  headers: { authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString("base64")}` },
  wrap: (subject, text) => ({
    from: `Signalbox <${mailFields.from}>`,
    to: mailFields.to.join(", "),
    subject,
    text,
    "o:tracking": "no",
    "h:Auto-Submitted": "auto-generated",
    "h:X-Signalbox-Delivery": deliveryId,
  }),
  shown: ({ html: _html, ...body }) => body,
  textOf: ({ text }) => text,
  digest: {
    lines: ({ text }) => split(text).slice(2, -3),
    size: (body) => new URLSearchParams(body).toString().length,
    most: 19_500,
  },
  confirmation: null,
  responses: [
    [200, "", delivered],
    [
      401,
      "",
      createDoubtfulVerdict(
        "Mailgun reports that the sending key is not valid for the domain, or the region is another one.",
      ),
    ],
  ],
});

/** A service that shows the title outside of the text. */
const renderWithoutTitle = ({ title: _title, ...said }: RenderedText) =>
  [...linesOf({ title: "", ...said }), "", said.url].join("\n");

const pushbullet: Service<"pushbullet"> = createTextService({
  settings: { accessToken: "o.token", template: null },
  url: "https://api.pushbullet.com/v2/pushes",
  headers: { "access-token": "o.token" },
  wrap: () => ({}),
  body: (text) => ({
    type: "link",
    title: text.title,
    body: renderWithoutTitle(text),
    url: text.url,
    guid: deliveryId,
  }),
  textOf: ({ body }) => body,
  most: 4_000,
  digest: {
    lines: ({ body }) => split(body).slice(0, -2),
    size: ({ body }) => countBytes(JSON.stringify([body])),
    most: 4_000,
  },
  confirmation: null,
  responses: [
    [401, "", createDoubtfulVerdict("Pushbullet reports that the access token is not valid.")],
  ],
});

const shopKey = `signalbox-${monitor.id}`;
const homeassistant: Service<"homeassistant"> = createTextService({
  settings: { server: "http://ha.lan:8123/", token: "token", service: "phone", template: null },
  url: "http://ha.lan:8123/api/services/notify/phone",
  headers: { authorization: "Bearer token" },
  wrap: () => ({}),
  body: (text) => ({
    title: text.title,
    message: renderWithoutTitle(text),
    data: { group: "signalbox", url: text.url, clickAction: text.url },
  }),
  // The tag is that of the case.
  shown({ data: { tag, ...data } = { tag: shopKey }, ...body }) {
    expect(tag).toBeOneOf([shopKey, deliveryId, `signalbox-${deliveryId}`]);
    return { ...body, data };
  },
  textOf: ({ message }) => message,
  most: 4_000,
  digest: {
    lines: ({ message }) => split(message).slice(0, -2),
    size: ({ message }) => countBytes(JSON.stringify([message])),
    most: 4_000,
  },
  addresses: [
    [
      { service: "persistent_notification" },
      "http://ha.lan:8123/api/services/notify/persistent_notification",
    ],
    [{ service: null }, "http://ha.lan:8123/api/events/signalbox_alert"],
  ],
  confirmation: null,
  responses: [
    [401, "", createDoubtfulVerdict("Home Assistant reports that the access token is not valid.")],
  ],
});

const snsError = (code: string) =>
  `<ErrorResponse><Error><Code>${code}</Code></Error></ErrorResponse>`;
const sns: Service<"sns"> = createTextService({
  settings: {
    topicArn: "arn:aws:sns:eu-central-1:123456789012:alerts",
    accessKeyId: "AKIA1",
    secretAccessKey: "secret",
    template: null,
  },
  url: "https://sns.eu-central-1.amazonaws.com/",
  wrap: (text, output) => ({
    Action: "Publish",
    Version: "2010-03-31",
    TopicArn: "arn:aws:sns:eu-central-1:123456789012:alerts",
    Subject: output.title,
    Message: text,
  }),
  shown: (body) =>
    Object.fromEntries(
      Object.entries(body as object).filter(([name]) => !name.startsWith("MessageAttributes")),
    ),
  textOf: ({ Message }) => Message,
  most: 18_000,
  sizeOf: (text) => new URLSearchParams({ text }).toString().length,
  responses: buildErrorResponses(createDoubtfulVerdict, "AWS SNS reports that", snsError, [
    [403, "InvalidClientTokenId", "the access key is not valid"],
    [403, "SignatureDoesNotMatch", "the secret access key is not valid"],
    [404, "NotFound", "the topic does not exist"],
  ]),
});

export const textServices = {
  matrix,
  signal,
  rocketchat,
  zulip,
  nextcloudtalk,
  webex,
  line,
  feishu,
  dingtalk,
  wecom,
  sendgrid,
  brevo,
  resend,
  mailgun,
  pushbullet,
  homeassistant,
  sns,
} as const;

/** Body of a response that confirms a message. */
export const confirmationOf = (type: string): string =>
  (({ ...services, ...textServices }) as Record<string, Service>)[type]?.confirmation ??
  caseConfirmations[type] ??
  "";

const caseConfirmations: Record<string, string> = {
  splunkoncall: '{"result":"success"}',
  // No open issue.
  github: "[]",
  gitlab: "[]",
  gitea: "[]",
};
