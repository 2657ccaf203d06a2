/** Sends messages to Telegram chats. */
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import type { Message, Tone } from "../sending/messages.ts";
import {
  judgeStatus,
  parseRetryAfter,
  failPermanently,
  sendProviderRequest,
  type Provider,
  type ProviderRequest,
  type Verdict,
  parseFields,
} from "../provider.ts";
import { hasDottedHost, joinUrl, joinWithin, listLinks, disarmMentions } from "./formatting.ts";
import { type Fields, isObject } from "../../core/collections/objects.ts";

type Settings = ChannelSettings<"telegram">;

/**
 * Sends plain text: without `parse_mode`, Telegram interprets no markup. If a group has become a
 * supergroup, the message is sent again at once, to the new ID in the response. If Telegram rejects
 * the URL of the button, it is sent again with the link as text.
 * https://core.telegram.org/bots/api#making-requests and #responseparameters
 * Self-hosted servers: https://core.telegram.org/bots/api#using-a-local-bot-api-server
 */
export const telegram: Provider<"telegram"> = {
  digests: true,
  async deliver(settings, message, context) {
    let successor: number | null = null;
    let isButtonRejected = false;
    const verdict = await sendProviderRequest(
      buildTelegramRequest(settings, message),
      context,
      (response) => {
        successor = parseSuccessor(response);
        isButtonRejected = isRejectionOfButton(response);
        return judgeTelegramResponse(response);
      },
    );
    const { acknowledgeUrl, lines } = message;
    if (isButtonRejected && acknowledgeUrl !== null) {
      const withText = [...lines, `Acknowledge: ${acknowledgeUrl}`];
      return telegram.deliver(
        settings,
        { ...message, lines: withText, acknowledgeUrl: null },
        context,
      );
    }
    if (successor === null) return verdict;
    const chatId = String(successor);
    const again = await sendProviderRequest(
      buildTelegramRequest({ ...settings, chatId }, message),
      context,
      judgeTelegramResponse,
    );
    if (again.outcome === "failed") return again;
    const note = `Telegram reports that the group became a supergroup: set the chat ID to ${chatId}.`;
    return { ...again, note };
  },
};

function buildTelegramRequest(settings: Settings, message: Message): ProviderRequest {
  const { title, lines, tone, url, acknowledgeUrl } = message;
  const { server, botToken, chatId, topic, silent } = settings;
  const bot = encodeURIComponent(botToken).replaceAll("%3A", ":");
  const head = `${signs[tone]} ${joinWithin(500, [title], disarmMentions)}\n\n`;
  // Telegram rejects messages with a button to a host without a dot.
  const hasButton = acknowledgeUrl !== null && hasDottedHost(acknowledgeUrl);
  const tail = `\n\n${hasButton ? url : listLinks(message).join("\n")}`;
  return {
    url: joinUrl(server, `/bot${bot}/sendMessage`),
    body: {
      chat_id: chatId,
      ...(topic !== null && { message_thread_id: topic }),
      text: `${head}${joinWithin(maxLength - head.length - tail.length, lines, disarmMentions)}${tail}`,
      link_preview_options: { is_disabled: true },
      ...(silent && { disable_notification: true }),
      ...(hasButton && {
        reply_markup: { inline_keyboard: [[{ text: "Acknowledge", url: acknowledgeUrl }]] },
      }),
    },
  };
}

function parseParameters(response: ShortResponse): Fields {
  const { parameters } = parseFields(response);
  return isObject(parameters) ? parameters : {};
}

/** Returns the ID of the supergroup that replaced the group; null if the response contains none. */
function parseSuccessor(response: ShortResponse): number | null {
  const { migrate_to_chat_id: id } = parseParameters(response);
  return response.status === 400 && Number.isSafeInteger(id) ? (id as number) : null;
}

/** Whether Telegram rejected the URL of a button. Its rules are not documented. */
function isRejectionOfButton(response: ShortResponse): boolean {
  const { description } = parseFields(response);
  return (
    response.status === 400 && /BUTTON_URL_INVALID|keyboard button URL/i.test(String(description))
  );
}

/**
 * Returns the response with the status of its error. A proxy or a self-hosted server can send
 * errors with status 200.
 */
function applyRejectionStatus(response: ShortResponse): ShortResponse {
  const { ok, error_code: code } = parseFields(response);
  if (response.status >= 300 || ok !== false) return response;
  const isError = Number.isSafeInteger(code) && Number(code) >= 400 && Number(code) < 600;
  return { ...response, status: isError ? Number(code) : 502 };
}

function judgeTelegramResponse(received: ShortResponse): Verdict {
  const response = applyRejectionStatus(received);
  const { description } = parseFields(response);
  const descriptionText = typeof description === "string" ? description : "";
  const reason =
    response.status === 400
      ? refusals.find(([pattern]) => pattern.test(descriptionText))?.[1]
      : telegramReasons.get(response.status);
  if (reason !== undefined) return failPermanently(reason);
  const verdict = judgeStatus(response);
  const retryAfterSeconds = parseRetryAfter(parseParameters(response)["retry_after"]);
  if (verdict.outcome === "delivered" || retryAfterSeconds === null) return verdict;
  return { ...verdict, retryAfterSeconds };
}

/** Reasons by the `description` of a 400, which is not documented but has been stable for years. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [
    /chat not found|PEER_ID_INVALID|chat_id is empty/i,
    "Telegram reports that the bot does not know this chat.",
  ],
  [
    /upgraded to a supergroup/i,
    "Telegram reports that the group became a supergroup, with another chat ID.",
  ],
  [/thread not found|TOPIC_ID_INVALID/i, "Telegram reports that the chat has no such topic."],
  [/TOPIC_CLOSED/i, "Telegram reports that the topic is closed."],
  [/TOPIC_DELETED/i, "Telegram reports that the topic was deleted."],
  [
    /not enough rights|CHAT_WRITE_FORBIDDEN|administrator rights|CHAT_RESTRICTED/i,
    "Telegram reports that the bot is not allowed to write to the chat.",
  ],
];

/** Maximum length of a message: https://core.telegram.org/bots/api#sendmessage */
const maxLength = 4_096;

const signs: Record<Tone, string> = { down: "🔴", degraded: "🟠", up: "🟢", info: "🔵" };

const telegramReasons = new Map([
  [401, "Telegram reports that the bot token is not valid."],
  [403, "Telegram reports that the bot is not allowed to write to the chat."],
  // The token is a part of the path, so Telegram returns 404 for an invalid one.
  [404, "Telegram reports that the bot token is not valid."],
]);
