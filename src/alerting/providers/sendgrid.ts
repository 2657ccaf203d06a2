import { origins } from "../channels/kinds/kind-schema.ts";
import { createHttpProvider, createStatusVerdict } from "../provider.ts";
import { renderShortMail } from "./mail-texts.ts";

/**
 * Sends a mail without tracked links. 202 is success.
 * https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
 */
export const sendgrid = createHttpProvider<"sendgrid">({
  request({ apiKey, region, from, to }, message) {
    const { text, html } = renderShortMail(message);
    return {
      url: `${origins.sendgrid[region]}/v3/mail/send`,
      headers: { Authorization: `Bearer ${apiKey}` },
      body: {
        personalizations: [{ to: to.map((email) => ({ email })) }],
        from: { email: from, name: "Signalbox" },
        subject: message.title,
        content: [
          { type: "text/plain", value: text },
          { type: "text/html", value: html },
        ],
        headers: { "Auto-Submitted": "auto-generated", "X-Signalbox-Delivery": message.id },
        tracking_settings: { click_tracking: { enable: false }, open_tracking: { enable: false } },
      },
    };
  },
  judge: createStatusVerdict("SendGrid", {
    401: "the API key is not valid",
    403: "the API key or the sender is not allowed to send",
  }),
});
