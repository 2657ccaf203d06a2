import type { Tone } from "../sending/messages.ts";
import { overHttp } from "../provider.ts";
import { addressOn, bytesOf, within } from "./formatting.ts";

/**
 * One message of an application; shown as plain text, and opened by a touch.
 * https://gotify.net/docs/pushmsg and https://gotify.net/docs/msgextras
 */
export const gotify = overHttp<"gotify">({
  request({ server, token }, { title, lines, tone, url }) {
    return {
      url: addressOn(server, "/message"),
      headers: { "X-Gotify-Key": token },
      body: {
        title,
        message: [textOf(lines), "", url].join("\n"),
        priority: priorities[tone],
        extras: {
          "client::display": { contentType: "text/plain" },
          "client::notification": { click: { url } },
        },
      },
    };
  },
});

// Of the databases that it may use, MySQL takes 64 KiB a text; no digest of ours is above 20,000 bytes.
const maxBytes = 16_000;

function textOf(lines: readonly string[]): string {
  const written = (kept: readonly string[]) => kept.join("\n");
  return within(maxBytes, lines, written, (text) => bytesOf([text]));
}

/** From 4 on the phone makes a sound, from 8 on it shows the message over everything else. */
const priorities: Record<Tone, number> = { down: 8, degraded: 5, up: 5, info: 4 };
