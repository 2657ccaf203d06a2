/** Sends messages to Google Chat webhooks. */
import type { Message } from "../sending/messages.ts";
import { judged, overHttp, permanent, fieldsIn } from "../provider.ts";
import {
  bytesOf,
  colours,
  entities,
  hasDottedHost,
  partsOf,
  within,
  withoutMentions,
} from "./formatting.ts";
import { isObject } from "../../core/collections/objects.ts";

/**
 * A repeated `requestId` creates no second message. Errors have a `status` field.
 * https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create
 * https://google.aip.dev/193
 */
export const googlechat = overHttp<"googlechat">({
  request({ webhookUrl }, message) {
    const url = new URL(webhookUrl);
    url.searchParams.set("requestId", message.id);
    return { url: url.href, body: bodyOf(message) };
  },
  verdict(answer) {
    const { error } = fieldsIn(answer);
    if (answer.status < 300 || !isObject(error)) return judged(answer);
    const reason = hopeless.get(error["status"]) ?? keyTrouble(error["details"]);
    return reason === undefined ? judged(answer) : permanent(reason);
  },
});

// The documented limit is 32,000 bytes, including metadata. Our digests have at most 20,000.
const maxBytes = 19_500;

/** Card texts are a subset of HTML: https://developers.google.com/workspace/chat/format-messages#card-formatting */
function bodyOf(message: Message) {
  const { text, fields } = partsOf(message);
  const title = `<font color="${colours[message.tone]}"><b>${entities(message.title)}</b></font>`;
  const written = (kept: readonly string[]) => ({
    // Text of push notifications.
    fallbackText: withoutMentions(message.title),
    cardsV2: [
      {
        cardId: "alert",
        card: {
          sections: [
            {
              widgets: [
                { textParagraph: { text: title } },
                { textParagraph: { text: kept.map(entities).join("\n") } },
                ...fields.map(({ label, value }) => ({
                  decoratedText: { topLabel: label, text: entities(value), wrapText: true },
                })),
                linkTo(message.url),
              ],
            },
          ],
        },
      },
    ],
  });
  return within(maxBytes, text, written, bytesOf);
}

/** Returns the link as button or text. Google Chat shows an empty card if it does not accept a button's URL. */
function linkTo(url: string) {
  if (!hasDottedHost(url)) return { textParagraph: { text: entities(url) } };
  return {
    buttonList: { buttons: [{ text: "Open in Signalbox", onClick: { openLink: { url } } }] },
  };
}

/**
 * Returns the reason if the key is invalid. Google returns INVALID_ARGUMENT for an invalid key and
 * for an invalid message.
 */
function keyTrouble(details: unknown): string | undefined {
  const isAboutKey = (detail: unknown) =>
    isObject(detail) && detail["reason"] === "API_KEY_INVALID";
  return Array.isArray(details) && details.some(isAboutKey)
    ? "Google Chat says that the key in the webhook's address is not valid."
    : undefined;
}

const hopeless = new Map<unknown, string>([
  ["UNAUTHENTICATED", "Google Chat says that the webhook's address is not valid."],
  ["PERMISSION_DENIED", "Google Chat says that the webhook is not allowed to post to the space."],
  ["NOT_FOUND", "Google Chat says that the space or its webhook no longer exists."],
]);
