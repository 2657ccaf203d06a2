import { origins } from "../channels/kinds/kind-schema.ts";
import { createHttpProvider, createStatusVerdict, delivered } from "../provider.ts";
import { renderText } from "./formatting.ts";

/**
 * Pushes a text of at most 5,000 UTF-16 units. A repeated retry key sends no second message, and results in 409.
 * https://developers.line.biz/en/reference/messaging-api/#send-push-message
 * https://developers.line.biz/en/docs/messaging-api/retrying-api-request/
 */
export const line = createHttpProvider<"line">({
  request: ({ accessToken, to }, message) => ({
    url: `${origins.line}/v2/bot/message/push`,
    headers: {
      Authorization: `Bearer ${accessToken}`,
      // The ID can have a suffix, which is not part of a UUID.
      "X-Line-Retry-Key": message.id.slice(0, 36),
    },
    body: { to, messages: [{ type: "text", text: renderText(message, 5_000) }] },
  }),
  judge: (response) => (response.status === 409 ? delivered : judgeLineStatus(response)),
});

const judgeLineStatus = createStatusVerdict("LINE", {
  401: "the channel access token is not valid",
});
