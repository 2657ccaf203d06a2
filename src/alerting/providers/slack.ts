/** Sends messages to Slack webhooks. */
import { type Message, cutText } from "../sending/messages.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import {
  failFinally,
  judgeStatus,
  createHttpProvider,
  failUnconfirmed,
  type Verdict,
  parseFields,
} from "../provider.ts";
import { toneColors, escapeEntities, splitMessage, joinWithin } from "./formatting.ts";

/**
 * Success is 2xx with `ok`, as text or in JSON. Names of permanent errors are under "Handling
 * errors":
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * https://docs.slack.dev/tools/node-slack-sdk/reference/webhook/interfaces/WebhookTriggerResult
 * Escapes: https://docs.slack.dev/messaging/formatting-message-text#escaping
 * Limits: https://docs.slack.dev/reference/block-kit/blocks/section-block
 */
export const slack = createHttpProvider<"slack">({
  request: ({ webhookUrl }, message) => ({ url: webhookUrl, body: buildSlackBody(message) }),
  judge: judgeSlackResponse,
});

function judgeSlackResponse(response: ShortResponse): Verdict {
  const responseText = response.body.trim();
  const { ok, error } = parseFields(response);
  if (response.status < 300 && (responseText === "ok" || ok === true)) return judgeStatus(response);
  const reason = slackReasons.get(typeof error === "string" ? error : responseText);
  if (reason !== undefined) return failFinally(reason);
  // Slack sends errors with 4xx and 5xx, so a 2xx with an incomplete body counts as success.
  if (response.status >= 300 || (response.isUnfinished && ok !== false))
    return judgeStatus(response);
  // The response is not from Slack, such as a sign-in page, or Slack rejected the message.
  return failUnconfirmed(response);
}

function buildSlackBody(message: Message) {
  const title = escapeEntities(cutText(message.title, 300));
  const { text, fields } = splitMessage(message);
  const details: object[] = [
    {
      type: "section",
      text: { type: "plain_text", text: joinWithin(3_000, text, escapeEntities) },
    },
  ];
  if (fields.length > 0)
    details.push({
      type: "section",
      fields: fields.map(({ label, value }) =>
        createMarkdownText(`*${label}*\n${joinWithin(1_900, [value], escapeEntities)}`),
      ),
    });
  const { acknowledgeUrl, furtherLink } = message;
  // A link, because Slack shows a warning after a click on a button of a webhook without an app.
  if (acknowledgeUrl !== null)
    details.push({
      type: "section",
      text: createMarkdownText(`*<${escapeEntities(acknowledgeUrl)}|Acknowledge>*`),
    });
  if (furtherLink !== undefined)
    details.push({
      type: "section",
      text: createMarkdownText(
        `<${escapeEntities(furtherLink.url)}|${escapeEntities(furtherLink.label)}>`,
      ),
    });
  return {
    // Text of push notifications.
    text: title,
    blocks: [
      { type: "section", text: createMarkdownText(`*<${escapeEntities(message.url)}|${title}>*`) },
    ],
    attachments: [{ color: toneColors[message.tone], blocks: details }],
  };
}

/** Marks text as Markdown. With `verbatim`, Slack does not turn names and URLs into links. */
const createMarkdownText = (text: string) => ({ type: "mrkdwn", text, verbatim: true });

const slackReasons = new Map([
  ["channel_is_archived", "Slack reports that the channel is archived."],
  ["channel_not_found", "Slack reports that the channel does not exist."],
  ["user_not_found", "Slack reports that the person it is addressed to does not exist."],
  ["no_service", "Slack reports that the webhook is disabled or was removed."],
  ["no_service_id", "Slack reports that the webhook's address is not complete."],
  ["no_active_hooks", "Slack reports that the webhook is disabled."],
  ["invalid_token", "Slack reports that the webhook's address is not valid."],
  ["no_team", "Slack reports that the workspace does not exist."],
  ["team_disabled", "Slack reports that the workspace is disabled."],
  ["action_prohibited", "Slack reports that an administrator does not allow this webhook to post."],
  [
    "posting_to_general_channel_denied",
    "Slack reports that this webhook is not allowed to post to the general channel.",
  ],
]);
