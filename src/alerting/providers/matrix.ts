import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import type { Message } from "../sending/messages.ts";
import { bytesOf, escapeEntities, joinUrl, listLinks, renderWithin } from "./formatting.ts";

// An event has at most 65,536 bytes, and a digest here has at most 20,000. The text is sent twice.
const maxBytes = 19_500;

/**
 * Sends an event. The same transaction ID on every attempt creates only one event. An empty list of mentions notifies
 * nobody in particular.
 * https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid
 * Errors: https://spec.matrix.org/latest/client-server-api/#standard-error-response and #rate-limiting
 */
export const matrix = createHttpProvider<"matrix">({
  request: ({ server, accessToken, roomId }, message) => ({
    url: joinUrl(
      server,
      `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/send/m.room.message/${encodeURIComponent(message.id)}`,
    ),
    method: "PUT",
    headers: { Authorization: `Bearer ${accessToken}` },
    body: buildMatrixBody(message),
  }),
  judge: createCodeVerdict({
    service: "Matrix",
    field: "errcode",
    reasons: {
      M_UNKNOWN_TOKEN: "the access token is not valid",
      M_MISSING_TOKEN: "the access token is not valid",
      M_FORBIDDEN: "the account is not in the room, or is not allowed to post to it",
      M_USER_DEACTIVATED: "the account is deactivated",
      M_TOO_LARGE: "the message is too large",
    },
    wait: ({ retry_after_ms: wait }) => typeof wait === "number" && wait / 1_000,
  }),
});

function buildMatrixBody(message: Message) {
  const links = listLinks(message);
  const renderLines = (lines: readonly string[]) => ({
    msgtype: "m.text",
    body: [message.title, ...lines, "", ...links].join("\n"),
    format: "org.matrix.custom.html",
    formatted_body: [
      `<strong>${escapeEntities(message.title)}</strong>`,
      ...[...lines, "", ...links].map(escapeEntities),
    ]
      .join("<br>")
      .replaceAll("\n", "<br>"),
    "m.mentions": {},
  });
  return renderWithin(maxBytes, message.lines, renderLines, bytesOf);
}
