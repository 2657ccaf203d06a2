import { createHttpProvider } from "../provider.ts";
import { cutText } from "../sending/messages.ts";
import { findCaseState } from "./formatting.ts";

const statuses = { open: "new", acknowledged: "acknowledged", over: "resolved" };

/**
 * Opens, acknowledges and resolves alerts by their external ID. 201 is success.
 * https://docs.signl4.com/integrations/webhook/webhook.html
 */
export const signl4 = createHttpProvider<"signl4">({
  digests: false,
  request: ({ webhookUrl }, message) => ({
    url: webhookUrl,
    body: {
      Title: cutText(message.title, 250),
      Message: cutText(message.lines.join("\n"), 4_000),
      Link: message.url,
      Severity: message.severity,
      "X-S4-ExternalID": message.problem?.key ?? message.id,
      "X-S4-Status": statuses[findCaseState(message)],
      "X-S4-SourceSystem": "Signalbox",
    },
  }),
});
