/** Sends messages to Mattermost webhooks. */
import type { Message } from "../sending/messages.ts";
import { judgeStatus, createHttpProvider, failPermanently, parseFields } from "../provider.ts";
import {
  toneColors,
  escapeMarkdown,
  splitMessage,
  joinWithin,
  renderWithin,
  disarmMentions,
} from "./formatting.ts";

/**
 * 2xx is success. Errors have an ID. A removed webhook causes HTTP 400.
 * https://developers.mattermost.com/integrate/webhooks/incoming/
 * https://github.com/mattermost/mattermost/blob/master/server/channels/app/webhook.go
 */
export const mattermost = createHttpProvider<"mattermost">({
  request: ({ webhookUrl }, message) => ({ url: webhookUrl, body: buildMattermostBody(message) }),
  judge(response) {
    const reason = mattermostReasons.get(parseFields(response)["id"]);
    // With HTTP 500, these IDs only mean that the lookup failed.
    const isExplained = response.status >= 300 && response.status !== 500;
    return isExplained && reason !== undefined ? failPermanently(reason) : judgeStatus(response);
  },
});

// Old servers limit the JSON of attachments to 7,600 characters.
const maxLength = 7_000;

/**
 * Builds a message with an attachment.
 * https://developers.mattermost.com/integrate/reference/message-attachments/
 */
function buildMattermostBody(message: Message) {
  const { text, fields } = splitMessage(message);
  const title = joinWithin(300, [message.title], disarmMentions);
  const { acknowledgeUrl } = message;
  // A link, because the server itself requests the address of a button, which must be allowed in its settings.
  const link = acknowledgeUrl === null ? "" : `\n\n[Acknowledge](${acknowledgeUrl})`;
  const renderLines = (fittingLines: readonly string[]) => ({
    attachments: [
      {
        fallback: title,
        color: toneColors[message.tone],
        // Mattermost does not render Markdown in a title with a link.
        title,
        title_link: message.url,
        text: `${fittingLines.map(disarmMarkdown).join("\n")}${link}`,
        fields: fields.map(({ label, value }) => ({
          title: label,
          value: joinWithin(600, [value], disarmMarkdown),
          short: true,
        })),
      },
    ],
  });
  return renderWithin(maxLength, text, renderLines, (body) => JSON.stringify(body).length);
}

/** Escapes text and disables mentions, which Mattermost finds even behind a backslash. */
const disarmMarkdown = (text: string) => disarmMentions(escapeMarkdown(text));

const mattermostReasons = new Map<unknown, string>([
  ["web.incoming_webhook.invalid.app_error", "Mattermost does not know this webhook."],
  ["web.incoming_webhook.disabled.app_error", "Mattermost does not accept webhooks at present."],
  ["web.incoming_webhook.channel.app_error", "Mattermost reports that the channel does not exist."],
  ["web.incoming_webhook.user.app_error", "Mattermost reports that the webhook's owner is gone."],
  [
    "web.incoming_webhook.permissions.app_error",
    "Mattermost reports that the webhook's owner is not allowed to post to the channel.",
  ],
  [
    "api.post.create_post.can_not_post_to_deleted.error",
    "Mattermost reports that the channel is archived.",
  ],
]);
