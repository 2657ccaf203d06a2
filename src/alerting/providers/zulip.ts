import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import type { Message } from "../sending/messages.ts";
import { encodeBasic, encodeForm, joinUrl, listLinks, renderWithin } from "./formatting.ts";

// Zulip cuts a text after 10,000 characters. In a form, a character has up to twelve bytes.
const maxBytes = 19_500;

/**
 * Sends a message to a topic of a channel. `stream` is the name of channels that servers of all versions understand.
 * https://zulip.com/api/send-message and, for errors, https://zulip.com/api/rest-error-handling
 */
export const zulip = createHttpProvider<"zulip">({
  request({ server, email, apiKey, channel, topic }, message) {
    const { headers, body } = encodeForm({
      type: "stream",
      to: channel,
      topic,
      content: renderContent(message),
    });
    const url = joinUrl(server, "/api/v1/messages");
    return { url, headers: { ...headers, Authorization: encodeBasic(email, apiKey) }, body };
  },
  judge: createCodeVerdict({
    service: "Zulip",
    field: "code",
    reasons: {
      STREAM_DOES_NOT_EXIST: "the channel does not exist",
      UNAUTHORIZED: "the bot's e-mail address or API key is not valid",
      INVALID_API_KEY: "the bot's API key is not valid",
      USER_DEACTIVATED: "the bot is deactivated",
      REALM_DEACTIVATED: "the organization is deactivated",
    },
    wait: (fields) => fields["retry-after"],
  }),
});

/** Zulip has no escapes. A block of text has neither markup nor mentions nor previews of links. */
function renderContent(message: Message): string {
  const title = message.title.replace(/[*@#[`_~<$]/g, "$&\u200b");
  const renderLines = (lines: readonly string[]) =>
    [`**${title}**`, "```text", ...lines.map(disarmFence), "```", ...listLinks(message)].join("\n");
  return renderWithin(maxBytes, message.lines, renderLines, (text) =>
    Math.max(2 * text.length, new URLSearchParams([["", text]]).toString().length),
  );
}

const disarmFence = (text: string) => text.replaceAll("```", "``\u200b`");
