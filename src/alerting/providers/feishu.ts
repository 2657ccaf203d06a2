/** Sends alerts to Feishu (Lark) as cards, through a custom bot. */
import { createHmac } from "node:crypto";
import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import type { Message, Tone } from "../sending/messages.ts";
import { bytesOf, renderWithin, splitLinks } from "./formatting.ts";

// The documented limit is 20 KB.
const maxBytes = 18_000;

/**
 * Sends a card of plain text. A signature is the HMAC-SHA256 of nothing, with time and secret as the key. Code 0 is
 * success.
 * https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot
 */
export const feishu = createHttpProvider<"feishu">({
  request({ webhookUrl, secret }, message, now) {
    const timestamp = String(Math.floor(now / 1_000));
    const sign =
      secret !== null && createHmac("sha256", `${timestamp}\n${secret}`).digest("base64");
    return {
      url: webhookUrl,
      body: { ...(sign !== false && { timestamp, sign }), ...buildCard(message) },
    };
  },
  judge: createCodeVerdict({
    service: "Feishu",
    field: "code",
    accepted: 0,
    reasons: {
      19001: "the webhook's address is not valid",
      19021: "the signature is not valid: check the secret and the clock of this machine",
      19022: "the bot does not accept messages from this machine's address",
      19024: "the message has none of the bot's keywords",
    },
    busy: [11232],
  }),
});

const templates: Record<Tone, string> = {
  down: "red",
  degraded: "orange",
  up: "green",
  info: "blue",
};

const buildPlainText = (content: string) => ({ tag: "plain_text", content });

function buildCard(message: Message) {
  const { buttons, lines: addresses } = splitLinks(message);
  const actions = buttons.map(({ label, url }) => ({
    tag: "button",
    text: buildPlainText(label),
    url,
  }));
  const renderLines = (lines: readonly string[]) => ({
    msg_type: "interactive",
    card: {
      header: { template: templates[message.tone], title: buildPlainText(message.title) },
      elements: [
        { tag: "div", text: buildPlainText([...lines, ...addresses].join("\n") || message.title) },
        ...(actions.length === 0 ? [] : [{ tag: "action", actions }]),
        { tag: "note", elements: [buildPlainText("Signalbox")] },
      ],
    },
  });
  return renderWithin(maxBytes, message.lines, renderLines, bytesOf);
}
