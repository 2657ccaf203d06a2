import { describe, expect, test } from "bun:test";
import { channelKinds, type ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import type { Alert, AlertedMonitor } from "../../../src/alerting/alert.ts";
import {
  createAlert,
  details,
  parseFields,
  monitor,
  createChannel,
  startReceiver,
  createMessage,
  typesWithoutHttp,
} from "../../support/alert-receiver.ts";
import { measureSms } from "../../../src/core/text/sms.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { replyWith } from "../../support/target.ts";
import { confirmationOf } from "./text-services.ts";
import type { Json } from "../../support/json.ts";

type Words = { message?: string; template?: string };

/** Returns the request of a channel about this monitor's outage, as text and, if possible, as an object. */
function readSent(type: string, about: AlertedMonitor, words: Words = {}) {
  const { message = "Refused.", template = null } = words;
  return sendToFake(type, createAlert("monitor.down", { monitor: about, message }), template);
}

async function sendToFake(type: string, alert: Alert, template: string | null = null) {
  await using to = await startReceiver(replyWith(200, confirmationOf(type)));
  await using mails = type === "email" ? await startMailServer() : null;
  const { provider, settings } = createChannel(type);
  const message = createMessage(alert, template);
  const verdict = await to.deliver(provider, settings, message, {
    ...(mails !== null && { smtp: mails.smtp() }),
  });
  expect(verdict.outcome).toBe("delivered");
  if (mails !== null)
    return { text: mails.getOnlyMail().text + mails.getOnlyMail().html, body: null as Json };
  const body = parseFields(to.lastRequest());
  return { text: JSON.stringify(body), body };
}

const types = Object.keys(channelKinds).filter(
  (type) => type === "email" || !typesWithoutHttp.includes(type),
);

describe("the monitor details of an alert", () => {
  const about = { ...monitor, ...details };
  const messages = [
    "https://shop.lan/health",
    "production",
    "eu",
    "Where customers pay.",
    "Front of house",
  ];

  // A text message costs per part, and a call is short, so they have no details.
  const withDetails = types.filter((type) => type !== "sms" && type !== "voice");
  test.each(withDetails)("%s shows all of them", async (type) => {
    const { text } = await readSent(type, about);
    for (const part of messages) expect(text).toContain(part);
  });

  const template = "{{target}} {{tags}} {{group}} {{description}}";

  // A voice call does not read addresses aloud.
  const withTemplate = types.filter(
    (type) => type !== "voice" && "template" in channelKinds[type as ChannelType].fields,
  );
  test.each(withTemplate)("%s accepts them in a custom template", async (type) => {
    const { text } = await readSent(type, about, { template });
    for (const part of messages) expect(text).toContain(part);
  });

  test("services with dedicated fields get them there", async () => {
    expect((await readSent("opsgenie", about)).body).toMatchObject({
      tags: ["signalbox", "monitor.down", "production", "eu"],
      details: { target: details.target, group: "Front of house" },
    });
    expect((await readSent("pagerduty", about)).body.payload).toMatchObject({
      component: details.target,
      group: "Front of house",
      custom_details: {
        Target: details.target,
        Tags: "production, eu",
        Description: "Where customers pay.",
      },
    });
  });

  test.each(types)("%s shows no empty details", async (type) => {
    const bare = { ...monitor, groupId: null, groupName: null, target: null, tags: [] };
    const { text } = await readSent(type, { ...bare, description: "" });
    const line = /Target:|Tags:|Description:|Group:|"(Target|Tags|Description|Group)"/;
    expect(text).not.toMatch(line);
  });
});

describe("an incident text in Markdown", () => {
  const typed = "**Shop** is _down_ <b>\n\n- see [status](https://status.lan/a)\n- @all";
  const alert = createAlert("incident.opened", { message: typed, isMarkdown: true });
  const automatic = createAlert("incident.opened", { message: "*Shop* _is_ down." });

  // A call reads no addresses.
  const asText = types.filter((type) => type !== "webhook" && type !== "voice");
  test.each(asText)("is text for %s", async (type) => {
    const { text } = await sendToFake(type, alert);
    expect(text).toContain("Shop is down");
    expect(text).toContain("https://status.lan/a");
    // Some titles are bold.
    expect(text.replaceAll("**Incident: Checkout fails**", "")).not.toMatch(/\*\*|_down_|\]\(/);
  });

  test("is rendered in a mail", async () => {
    const { text } = await sendToFake("email", alert);
    expect(text).toContain('<strong>Shop</strong> is <em>down</em> &lt;b&gt;</p><ul dir="auto">');
    expect(text).toContain('<a href="https://status.lan/a" rel="noopener noreferrer">status</a>');
    const description = "[Runbook](https://wiki.lan/)";
    const mail = await readSent("email", { ...monitor, ...details, description });
    expect(mail.text).toContain("Description: Runbook (https://wiki.lan/)");
    expect(mail.text).toContain('rel="noopener noreferrer">Runbook</a>');
  });

  test("is sent to a webhook as typed", async () => {
    const { body } = await sendToFake("webhook", alert);
    expect(body.data.message).toBe(typed);
    expect(JSON.stringify(body)).not.toContain("isMarkdown");
  });

  test("is not assumed for texts of monitors", async () => {
    expect((await sendToFake("ntfy", automatic)).body.message).toContain("*Shop* _is_ down.");
    expect((await sendToFake("email", automatic)).text).toContain(">*Shop* _is_ down.</p>");
  });
});

const buildBytes = (value: string) => Buffer.byteLength(JSON.stringify(value));

/** The documented limits, each with the size that was sent; providers link to their sources. */
const limits: { [T in ChannelType]: (body: Json) => [string, number, number][] } = {
  webhook: (body) => [["bytes", buildBytes(body), 20_000]],
  email: () => [],
  slack: ({ attachments: [{ blocks }] }) => [
    ["text", blocks[0].text.text.length, 3_000],
    ["fields", blocks[1].fields.length, 10],
    ...blocks[1].fields.map(({ text }: { text: string }) => ["field", text.length, 2_000]),
  ],
  discord: ({ embeds: [{ title, description, fields }] }) => {
    const ofFields = fields.map(
      ({ name, value }: { name: string; value: string }) => name.length + value.length,
    );
    const all = ofFields.reduce((sum: number, one: number) => sum + one, 0);
    return [
      ["all", title.length + description.length + all, 6_000],
      ["description", description.length, 4_096],
      ["fields", fields.length, 25],
      ...fields.map(({ value }: { value: string }) => ["field", value.length, 1_024]),
    ];
  },
  teams: (body) => [["bytes", buildBytes(body), 21_000]],
  mattermost: (body) => [["characters", JSON.stringify(body).length, 7_600]],
  googlechat: (body) => [["bytes", buildBytes(body), 32_000]],
  telegram: ({ text }) => [["text", text.length, 4_096]],
  matrix: (body) => [["bytes", buildBytes(body), 65_536]],
  signal: ({ message }) => [["bytes", Buffer.byteLength(message), 2_000]],
  rocketchat: (body) => [["characters", JSON.stringify(body).length, 5_000]],
  zulip: ({ content }) => [["characters", content.length, 10_000]],
  nextcloudtalk: ({ message }) => [["characters", message.length, 32_000]],
  webex: ({ text }) => [["bytes", Buffer.byteLength(text), 7_439]],
  line: ({ messages: [{ text }] }) => [["units", text.length, 5_000]],
  feishu: (body) => [["bytes", Buffer.byteLength(JSON.stringify(body)), 20_000]],
  dingtalk: (body) => [["bytes", Buffer.byteLength(JSON.stringify(body)), 20_000]],
  wecom: ({ text: { content } }) => [["bytes", Buffer.byteLength(content), 2_048]],
  ntfy: ({ message }) => [["bytes", Buffer.byteLength(message), 4_096]],
  gotify: ({ message }) => [["bytes", Buffer.byteLength(message), 65_535]],
  pushover: ({ message }) => [["message", message.length, 1_024]],
  sms: ({ text }) => [["parts", measureSms(text).parts, 2]],
  voice: ({ say }) => [["characters", say.length, 500]],
  sendgrid: () => [],
  brevo: () => [],
  resend: () => [],
  mailgun: () => [],
  pushbullet: () => [],
  homeassistant: () => [],
  signl4: ({ Title, Message }) => [
    ["title", Title.length, 250],
    ["message", Message.length, 4_000],
  ],
  splunkoncall: ({ state_message: text }) => [["message", text.length, 20_480]],
  incidentio: ({ description }) => [["description", description.length, 10_000]],
  alertmanager: ([{ annotations }]) => [["description", annotations.description.length, 10_000]],
  github: ({ title, body }) => [
    ["title", title.length, 256],
    ["body", body.length, 5_000],
  ],
  gitlab: ({ title, description }) => [
    ["title", title.length, 255],
    ["description", description.length, 5_000],
  ],
  gitea: ({ title, body }) => [
    ["title", title.length, 255],
    ["body", body.length, 5_000],
  ],
  sns: ({ Subject, Message }) => [
    ["subject", Subject.length, 100],
    ["bytes", Buffer.byteLength(Message), 262_144],
  ],
  pagerduty: (body) => [
    ["bytes", buildBytes(body), 512 * 1024],
    ["summary", body.payload.summary.length, 1_024],
  ],
  opsgenie: ({ message, description, tags, details, entity }) => [
    ["message", message.length, 130],
    ["description", description.length, 15_000],
    ["entity", entity.length, 512],
    ["tags", tags.length, 20],
    ["details", JSON.stringify(details).length, 8_000],
  ],
  jsm: (body) => limits.opsgenie(body),
  mqtt: () => [],
  syslog: () => [],
  apprise: ({ body }) => [["body", body.length, 1_100]],
};

describe("the longest values", () => {
  const buildLongMonitor = (unit: string) => ({
    ...monitor,
    name: unit.repeat(255),
    groupName: unit.repeat(255),
    target: `https://shop.lan/${unit.repeat(480)}`,
    tags: Array.from({ length: 10 }, (_, index) => `${index}${unit.repeat(49)}`),
    description: unit.repeat(500),
  });

  test.each(types)("stay within the limits of %s", async (type) => {
    for (const unit of ["x", "_", '"', "☃", "&"]) {
      const { body } = await readSent(type, buildLongMonitor(unit), {
        message: unit.repeat(2_000),
      });
      for (const [what, size, limit] of limits[type as ChannelType](body))
        expect({ what, unit, excess: Math.max(0, size - limit) }).toEqual({
          what,
          unit,
          excess: 0,
        });
    }
  });
});
