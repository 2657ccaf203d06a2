import { createHttpProvider } from "../provider.ts";
import { countBytes, renderText } from "./formatting.ts";

// The documented limit is 7,439 bytes.
const maxBytes = 7_400;

/**
 * Sends plain text, which has neither markup nor mentions. 204 is success.
 * https://apphub.webex.com/applications/incoming-webhooks-cisco-systems-38054-23307-75252
 */
export const webex = createHttpProvider<"webex">({
  request: ({ webhookUrl }, message) => ({
    url: webhookUrl,
    body: { text: renderText(message, maxBytes, { sizeOf: countBytes }) },
  }),
});
