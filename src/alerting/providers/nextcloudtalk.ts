import { createHmac } from "node:crypto";
import { sha256 } from "../../core/ids.ts";
import { createHttpProvider, createStatusVerdict } from "../provider.ts";
import { disarmAt, escapeMarkdown, joinUrl, renderText } from "./formatting.ts";

// Talk accepts 32,000 characters, but shows long messages badly.
const maxLength = 10_000;

/**
 * Sends a message of a bot, signed with HMAC-SHA256 over a random text and the message. 201 is success.
 * https://nextcloud-talk.readthedocs.io/en/latest/bots/#sending-a-chat-message
 */
export const nextcloudtalk = createHttpProvider<"nextcloudtalk">({
  request({ server, conversation, botSecret }, message, now) {
    const text = renderText(message, maxLength, {
      escape: (line) => disarmAt(escapeMarkdown(line)),
      title: (title) => `**${title}**`,
    });
    const random = sha256(`${message.id}.${now}`);
    const signature = createHmac("sha256", botSecret).update(`${random}${text}`).digest("hex");
    return {
      url: joinUrl(server, `/ocs/v2.php/apps/spreed/api/v1/bot/${conversation}/message`),
      headers: {
        "OCS-APIRequest": "true",
        Accept: "application/json",
        "X-Nextcloud-Talk-Bot-Random": random,
        "X-Nextcloud-Talk-Bot-Signature": signature,
      },
      body: { message: text, referenceId: sha256(message.id) },
    };
  },
  judge: createStatusVerdict("Nextcloud Talk", {
    401: "the bot's secret is not valid, or the bot is not enabled in the conversation",
    404: "the conversation or the bot does not exist",
  }),
});
