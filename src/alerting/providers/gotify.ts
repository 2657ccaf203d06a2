import type { Tone } from "../sending/messages.ts";
import { createHttpProvider } from "../provider.ts";
import { joinUrl, bytesOf, listLinks, renderWithin } from "./formatting.ts";

/**
 * Sends a plain-text message that opens a page when it is clicked.
 * https://gotify.net/docs/pushmsg and https://gotify.net/docs/msgextras
 */
export const gotify = createHttpProvider<"gotify">({
  request({ server, token }, message) {
    const { title, lines, tone, url } = message;
    return {
      url: joinUrl(server, "/message"),
      headers: { "X-Gotify-Key": token },
      body: {
        title,
        message: [limitText(lines), "", ...listLinks(message)].join("\n"),
        priority: priorities[tone],
        extras: {
          "client::display": { contentType: "text/plain" },
          "client::notification": { click: { url } },
        },
      },
    };
  },
});

// On MySQL, Gotify limits messages to 64 KiB. Our digests have at most 20,000 bytes.
const maxBytes = 16_000;

function limitText(lines: readonly string[]): string {
  const renderLines = (lines: readonly string[]) => lines.join("\n");
  return renderWithin(maxBytes, lines, renderLines, (text) => bytesOf([text]));
}

/** From priority 4 the phone makes a sound; from 8 the message appears above other apps. */
const priorities: Record<Tone, number> = { down: 8, degraded: 5, up: 5, info: 4 };
