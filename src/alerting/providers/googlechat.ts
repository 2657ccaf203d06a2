/** Sends messages to Google Chat webhooks. */
import type { Message } from "../sending/messages.ts";
import { judgeStatus, createHttpProvider, failPermanently, parseFields } from "../provider.ts";
import {
  bytesOf,
  toneColors,
  escapeEntities,
  splitLinks,
  splitMessage,
  renderWithin,
  disarmMentions,
} from "./formatting.ts";
import { isObject } from "../../core/collections/objects.ts";

/**
 * A repeated `requestId` creates no second message. Errors have a `status` field.
 * https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create
 * https://google.aip.dev/193
 */
export const googlechat = createHttpProvider<"googlechat">({
  request({ webhookUrl }, message) {
    const url = new URL(webhookUrl);
    url.searchParams.set("requestId", message.id);
    return { url: url.href, body: buildGoogleChatBody(message) };
  },
  judge(response) {
    const { error } = parseFields(response);
    if (response.status < 300 || !isObject(error)) return judgeStatus(response);
    const reason = googleChatReasons.get(error["status"]) ?? findKeyProblem(error["details"]);
    return reason === undefined ? judgeStatus(response) : failPermanently(reason);
  },
});

// The documented limit is 32,000 bytes, including metadata. Our digests have at most 20,000.
const maxBytes = 19_500;

/** Card texts are a subset of HTML: https://developers.google.com/workspace/chat/format-messages#card-formatting */
function buildGoogleChatBody(message: Message) {
  const { text, fields } = splitMessage(message);
  const title = `<font color="${toneColors[message.tone]}"><b>${escapeEntities(message.title)}</b></font>`;
  const renderLines = (fittingLines: readonly string[]) => ({
    // Text of push notifications.
    fallbackText: disarmMentions(message.title),
    cardsV2: [
      {
        cardId: "alert",
        card: {
          sections: [
            {
              widgets: [
                { textParagraph: { text: title } },
                { textParagraph: { text: fittingLines.map(escapeEntities).join("\n") } },
                ...fields.map(({ label, value }) => ({
                  decoratedText: { topLabel: label, text: escapeEntities(value), wrapText: true },
                })),
                ...buildLinks(message),
              ],
            },
          ],
        },
      },
    ],
  });
  return renderWithin(maxBytes, text, renderLines, bytesOf);
}

/** Returns the links as buttons or text. Google Chat shows an empty card if it does not accept a button's URL. */
function buildLinks(message: Message): object[] {
  const { buttons, lines } = splitLinks(message);
  return [
    ...lines.map((text) => ({ textParagraph: { text: escapeEntities(text) } })),
    ...(buttons.length === 0
      ? []
      : [{ buttonList: { buttons: buttons.map(({ label, url }) => createButton(label, url)) } }]),
  ];
}

const createButton = (text: string, url: string) => ({ text, onClick: { openLink: { url } } });

/**
 * Returns the reason if the key is invalid. Google returns INVALID_ARGUMENT for an invalid key and
 * for an invalid message.
 */
function findKeyProblem(details: unknown): string | undefined {
  const isAboutKey = (detail: unknown) =>
    isObject(detail) && detail["reason"] === "API_KEY_INVALID";
  return Array.isArray(details) && details.some(isAboutKey)
    ? "Google Chat reports that the key in the webhook's address is not valid."
    : undefined;
}

const googleChatReasons = new Map<unknown, string>([
  ["UNAUTHENTICATED", "Google Chat reports that the webhook's address is not valid."],
  [
    "PERMISSION_DENIED",
    "Google Chat reports that the webhook is not allowed to post to the space.",
  ],
  ["NOT_FOUND", "Google Chat reports that the space or its webhook no longer exists."],
]);
