import { origins } from "../channels/kinds/kind-schema.ts";
import { createHttpProvider, createStatusVerdict } from "../provider.ts";
import { bytesOf, listLinks, renderWithin } from "./formatting.ts";

/**
 * Pushes a link to all devices. The same `guid` on every attempt marks a repeated push.
 * https://docs.pushbullet.com/#create-push and, for statuses, https://docs.pushbullet.com/#http-status-codes
 */
export const pushbullet = createHttpProvider<"pushbullet">({
  request: ({ accessToken }, message) => ({
    url: `${origins.pushbullet}/v2/pushes`,
    headers: { "Access-Token": accessToken },
    body: {
      type: "link",
      title: message.title,
      body: renderWithin(
        4_000,
        message.lines,
        (lines) => [...lines, "", ...listLinks(message)].join("\n"),
        (text) => bytesOf([text]),
      ),
      url: message.url,
      guid: message.id,
    },
  }),
  judge: createStatusVerdict("Pushbullet", {
    401: "the access token is not valid",
    403: "the access token is not allowed to push",
  }),
});
