import type { Tone } from "../messages.ts";
import { final, judged, overHttp, permanent } from "../provider.ts";
import { isObject, objectIn, patienceIn } from "./shared-json.ts";
import { textWithin } from "./shared-layout.ts";
import { unmentioned } from "./shared-markup.ts";

/**
 * Plain text: without `parse_mode` nothing in it is markup. Failures and `parameters`:
 * https://core.telegram.org/bots/api#making-requests and
 * https://core.telegram.org/bots/api#responseparameters
 */
export const telegram = overHttp<"telegram">({
  request({ botToken, chatId }, { title, lines, tone, url }) {
    const bot = encodeURIComponent(botToken).replaceAll("%3A", ":");
    const head = `${signs[tone]} ${textWithin(500, [title], unmentioned)}\n\n`;
    const tail = `\n\n${url}`;
    return {
      url: `https://api.telegram.org/bot${bot}/sendMessage`,
      body: {
        chat_id: chatId,
        text: `${head}${textWithin(maxLength - head.length - tail.length, lines, unmentioned)}${tail}`,
        link_preview_options: { is_disabled: true },
      },
    };
  },
  verdict(answer) {
    const { description, parameters } = objectIn(answer.body);
    const { migrate_to_chat_id: successor, retry_after: seconds } = isObject(parameters)
      ? parameters
      : {};
    if (answer.status === 400 && successor !== undefined)
      return final("Telegram says that the group became a supergroup, with another chat ID.");
    if (answer.status === 400 && /chat not found/i.test(String(description)))
      return permanent("Telegram says that the bot knows no such chat.");
    const reason = hopeless.get(answer.status);
    if (reason !== undefined) return permanent(reason);
    const verdict = judged(answer);
    const retryAfterSeconds = patienceIn(seconds);
    if (verdict.outcome === "delivered" || retryAfterSeconds === null) return verdict;
    return { ...verdict, retryAfterSeconds };
  },
});

/** https://core.telegram.org/bots/api#sendmessage */
const maxLength = 4_096;

const signs: Record<Tone, string> = { down: "🔴", degraded: "🟠", up: "🟢", info: "🔵" };

const hopeless = new Map([
  [401, "Telegram says that the bot token is not valid."],
  [403, "Telegram says that the bot must not write to the chat."],
  // A token that can't be one leads to no method.
  [404, "Telegram says that the bot token is not valid."],
]);
