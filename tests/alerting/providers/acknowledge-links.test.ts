/** The link that acknowledges an alert, in the messages of each service. */
import { describe, expect, test } from "bun:test";
import { caseTypes } from "../../../src/alerting/channels/schema.ts";
import { buildMail } from "../../../src/alerting/providers/email-mail.ts";
import { providers } from "../../../src/alerting/providers.ts";
import {
  createAlert,
  createChannel,
  createLinkedMessage,
  createMessage,
  origin,
  parseFields,
  startReceiver,
  typesWithoutHttp,
} from "../../support/alert-receiver.ts";
import type { Json } from "../../support/json.ts";
import { replyWith } from "../../support/target.ts";

const link = `${origin}/a/token`;
const down = createAlert("monitor.down");

async function send(type: string, message = createLinkedMessage(down)) {
  await using to = await startReceiver();
  const { provider, settings } = createChannel(type);
  await to.deliver(provider, settings, message);
  return { url: to.urls.at(-1) ?? "", body: parseFields(to.lastRequest()) };
}

const openPage = expect.objectContaining({ title: "Open in Signalbox" });

const linkReaders: Record<string, (body: Json) => unknown> = {
  ntfy: ({ actions }) => actions,
  telegram: ({ reply_markup: markup }) => markup.inline_keyboard,
  discord: ({ components }) => components,
  slack: ({ attachments: [{ blocks }] }) => blocks.at(-1).text.text,
  mattermost: ({ attachments: [{ text }] }) => text.split("\n").at(-1),
  teams: ({ attachments: [{ content }] }) => content.actions,
  googlechat: ({ cardsV2: [{ card }] }) => card.sections[0].widgets.at(-1).buttonList.buttons[0],
  pushover: ({ url, url_title: title }) => [title, url],
  gotify: ({ message }) => message.split("\n").at(-2),
  sms: ({ text }) => text.split("\n").at(-1),
  apprise: ({ body }) => body.split("\n").at(-2),
  webhook: ({ data }) => data.acknowledgeUrl,
};

const expected: Record<string, unknown> = {
  ntfy: [
    { action: "http", label: "Acknowledge", url: link, method: "POST", clear: true },
    expect.objectContaining({ action: "view" }),
  ],
  telegram: [[{ text: "Acknowledge", url: link }]],
  discord: [{ type: 1, components: [{ type: 2, style: 5, label: "Acknowledge", url: link }] }],
  slack: `*<${link}|Acknowledge>*`,
  mattermost: `[Acknowledge](${link})`,
  teams: [{ type: "Action.OpenUrl", title: "Acknowledge", url: link }, openPage],
  googlechat: { text: "Acknowledge", onClick: { openLink: { url: link } } },
  pushover: ["Acknowledge", link],
  gotify: `Acknowledge: ${link}`,
  sms: `Ack: ${link}`,
  apprise: `Acknowledge: ${link}`,
  webhook: link,
};

describe.each(Object.keys(linkReaders))("%s", (type) => {
  test("has the link where the service shows one", async () => {
    const { body } = await send(type);
    expect(linkReaders[type]?.(body)).toEqual(expected[type]);
  });

  test("has no word about it in a message without a link", async () => {
    const { url, body } = await send(type, createMessage(createAlert("monitor.up")));
    expect(JSON.stringify(body)).not.toMatch(/acknowledge|reply_markup|components/i);
    expect(url).not.toContain("with_components");
  });

  test("has the link even if the appliance's host has no dot", async () => {
    const { body } = await send(type, createLinkedMessage(down, "http://nas:3210"));
    expect(JSON.stringify(body).split("http://nas:3210/a/token")).toHaveLength(2);
  });
});

// Services with cases of their own have no link; tests of three are elsewhere.
const without = new Set([...caseTypes, ...typesWithoutHttp, "voice", "webpush"]);
const others = Object.keys(providers).filter(
  (type) => !(type in linkReaders) && !without.has(type),
);

test.each(others)("%s has the link once in each text", async (type) => {
  const { body } = await send(type);
  const texts = listTexts(body).filter((text) => text.includes(link));
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) expect(text.split(link)).toHaveLength(2);
  expect(JSON.stringify((await send(type, createMessage(down))).body)).not.toMatch(/acknowledge/i);
});

const listTexts = (value: unknown): string[] =>
  typeof value === "object" && value !== null
    ? Object.values(value).flatMap(listTexts)
    : [String(value)];

test.each(["telegram", "discord", "teams", "googlechat"])(
  "%s gets no button to a host without a dot, which it would reject",
  async (type) => {
    const { url, body } = await send(type, createLinkedMessage(down, "http://nas:3210"));
    expect(JSON.stringify(body)).toContain("Acknowledge: http://nas:3210/a/token");
    expect(JSON.stringify(body)).not.toMatch(/reply_markup|components|OpenUrl|openLink/);
    expect(url).not.toContain("/a/token");
  },
);

test.each(["telegram", "discord", "teams", "googlechat"])(
  "%s gets the button to the public address, although the appliance's host has no dot",
  async (type) => {
    const acknowledgeUrl = "https://status.team.example/a/token";
    const message = { ...createLinkedMessage(down, "http://nas:3210"), acknowledgeUrl };
    const { body } = await send(type, message);
    expect(JSON.stringify(linkReaders[type]?.(body))).toContain(`"${acknowledgeUrl}"`);
    expect(JSON.stringify(body).split(acknowledgeUrl)).toHaveLength(2);
    expect(JSON.stringify(body)).toContain("http://nas:3210/");
    expect(JSON.stringify(body)).not.toMatch(/"Open in Signalbox"/);
  },
);

test("Discord shows the button of a webhook only if the address says so", async () => {
  expect((await send("discord")).url).toEndWith("?wait=true&with_components=true");
});

test("if Telegram rejects the button, the message is sent again with the link as text", async () => {
  const rejection = JSON.stringify({ ok: false, description: "Bad Request: BUTTON_URL_INVALID" });
  await using to = await startReceiver(replyWith(400, rejection));
  const { provider, settings } = createChannel("telegram");
  await to.deliver(provider, settings, createLinkedMessage(down));
  const [first, second, ...more] = to.asked.map(({ body }) => JSON.parse(body) as Json);
  expect(more).toEqual([]);
  expect(first?.reply_markup).toBeDefined();
  expect(second?.reply_markup).toBeUndefined();
  expect(second?.text).toContain(`\nAcknowledge: ${link}\n`);
});

test("a mail has a button and a line of text", async () => {
  const to = ["ann@team.example"];
  const mail = await buildMail(createLinkedMessage(down), to, "signalbox@team.example");
  const text = mail.bytes.toString().replaceAll("=\r\n", "").replaceAll("=3D", "=");
  expect(text).toMatch(new RegExp(`\\r?\\nAcknowledge: ${link}\\r?\\n`));
  expect(text).toMatch(new RegExp(`<a href="${link}" style="[^"]*">Acknowledge</a>`));
  const other = await buildMail(createMessage(createAlert("monitor.up")), to, "s@team.example");
  expect(other.bytes.toString()).not.toContain("Acknowledge");
});
