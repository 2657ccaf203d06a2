import { createHttpProvider } from "../provider.ts";
import { countBytes, joinUrl, renderText } from "./formatting.ts";

// Signal turns a longer text into an attachment.
const maxBytes = 2_000;

/**
 * Sends a text without markup and without a link preview, which needs its own field. 201 is success.
 * https://bbernhard.github.io/signal-cli-rest-api/#/Messages/post_v2_send
 */
export const signal = createHttpProvider<"signal">({
  request: ({ server, number, recipients }, message) => ({
    url: joinUrl(server, "/v2/send"),
    body: {
      number,
      recipients,
      message: renderText(message, maxBytes, { sizeOf: countBytes }),
      text_mode: "normal",
    },
  }),
});
