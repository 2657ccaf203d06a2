import { fitted, type Tone } from "../messages.ts";
import { overHttp } from "../provider.ts";
import { addressOn } from "./shared-address.ts";

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
        message: [...fitted(lines, maxLength), "", url].join("\n"),
        priority: priorities[tone],
        extras: {
          "client::display": { contentType: "text/plain" },
          "client::notification": { click: { url } },
        },
      },
    };
  },
});

// Of the databases that it may use, MySQL takes 64 KiB a text, in characters of up to three bytes each.
const maxLength = 16_000;

/** From 4 on the phone makes a sound, from 8 on it shows the message over everything else. */
const priorities: Record<Tone, number> = { down: 8, degraded: 5, up: 5, info: 4 };
