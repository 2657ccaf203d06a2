import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import type { Message } from "../sending/messages.ts";
import {
  toneColors,
  disarmMentions,
  escapeMarkdown,
  joinWithin,
  renderWithin,
  splitMessage,
} from "./formatting.ts";

// Servers accept 5,000 characters by default (Message_MaxAllowedSize).
const maxLength = 5_000;

/**
 * Success is `"success": true`. `parseUrls` switches off link previews.
 * https://docs.rocket.chat/docs/integrations#incoming-webhook and, for attachments,
 * https://developer.rocket.chat/apidocs/post-message
 */
export const rocketchat = createHttpProvider<"rocketchat">({
  request: ({ webhookUrl }, message) => ({ url: webhookUrl, body: buildRocketBody(message) }),
  judge: createCodeVerdict({ service: "Rocket.Chat", field: "success", accepted: true }),
});

function buildRocketBody(message: Message) {
  const { text, fields } = splitMessage(message);
  const { title, tone, url, acknowledgeUrl } = message;
  const link = acknowledgeUrl === null ? "" : `\n\n[Acknowledge](${acknowledgeUrl})`;
  const renderLines = (lines: readonly string[]) => ({
    parseUrls: false,
    attachments: [
      {
        color: toneColors[tone],
        title: joinWithin(300, [title], disarmMentions),
        title_link: url,
        text: `${lines.map(disarmMarkdown).join("\n")}${link}`,
        fields: fields.map(({ label, value }) => ({
          title: label,
          value: joinWithin(400, [value], disarmMarkdown),
          short: true,
        })),
      },
    ],
  });
  return renderWithin(maxLength, text, renderLines, (body) => JSON.stringify(body).length);
}

const disarmMarkdown = (text: string) => disarmMentions(escapeMarkdown(text));
