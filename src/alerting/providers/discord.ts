/** Sends messages to Discord webhooks. */
import type { Message } from "../sending/messages.ts";
import {
  failFinally,
  judgeStatus,
  createHttpProvider,
  parseRetryAfter,
  parseFields,
} from "../provider.ts";
import {
  toneColors,
  hasDottedHost,
  splitLinks,
  escapeMarkdown,
  splitMessage,
  joinWithin,
} from "./formatting.ts";

/**
 * With `wait`, Discord responds after it saved the message. The body of a 429 contains the wait.
 * https://discord.com/developers/docs/resources/webhook#execute-webhook
 * https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
 */
export const discord = createHttpProvider<"discord">({
  request({ webhookUrl }, message) {
    const url = new URL(webhookUrl);
    url.searchParams.set("wait", "true");
    // Discord ignores components without it.
    if (findButton(message) !== undefined) url.searchParams.set("with_components", "true");
    return { url: url.href, body: buildDiscordBody(message) };
  },
  judge(response) {
    const { code, retry_after: seconds } = parseFields(response);
    const reason = discordReasons.get(code);
    if (response.status >= 300 && reason !== undefined) return failFinally(reason);
    const verdict = judgeStatus(response);
    const retryAfterSeconds = parseRetryAfter(seconds);
    if (verdict.outcome === "delivered" || retryAfterSeconds === null) return verdict;
    return { ...verdict, retryAfterSeconds };
  },
});

/** Limits: https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
function buildDiscordBody(message: Message) {
  const { text, fields: facts } = splitMessage(message);
  const title = joinWithin(256, [message.title], disarmMarkdown);
  const fields = facts.map(({ label, value }) => ({
    name: label,
    value: joinWithin(1_000, [value], disarmMarkdown),
    inline: value.length <= inlineLength,
  }));
  const others = fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  const isLinked = hasDottedHost(message.url);
  const { furtherLink } = message;
  const lines = splitLinks(message).lines.filter(
    (line) => !line.startsWith(`${furtherLink?.label}: `),
  );
  if (furtherLink !== undefined) lines.push(`${furtherLink.label}: ${furtherLink.url}`);
  const link = lines.length === 0 ? "" : `\n\n${lines.join("\n")}`;
  const button = findButton(message);
  const available = Math.min(4_096, 6_000 - title.length - others);
  return {
    embeds: [
      {
        title,
        ...(isLinked && { url: message.url }),
        description: `${joinWithin(available - link.length, text, disarmMarkdown)}${link}`,
        color: Number.parseInt(toneColors[message.tone].slice(1), 16),
        fields,
        timestamp: message.at,
      },
    ],
    allowed_mentions: { parse: [] },
    ...(button && buildButton(button.url)),
  };
}

const findButton = (message: Message) =>
  splitLinks(message).buttons.find(({ url }) => url === message.acknowledgeUrl);

/**
 * Returns an action row with a link button. Webhooks that belong to no app can send components
 * without interactions.
 * https://discord.com/developers/docs/components/reference#button
 */
const buildButton = (url: string) => ({
  components: [{ type: 1, components: [{ type: 2, style: 5, label: "Acknowledge", url }] }],
});

/** Maximum characters of a value in an inline field. Discord shows up to three in one row. */
const inlineLength = 40;

/** Escapes Markdown, and `<`, with which mentions, channels and custom emoji start. */
const disarmMarkdown = (text: string) => escapeMarkdown(text).replaceAll("<", "\\<");

const discordReasons = new Map<unknown, string>([
  [10003, "Discord reports that the channel no longer exists."],
  [10015, "Discord reports that the webhook no longer exists."],
  [50013, "Discord reports that the webhook is not allowed to post to the channel."],
  [50027, "Discord reports that the webhook's address is not valid."],
  [220001, "Discord reports that a webhook of a forum needs a thread_id in its address."],
]);
