import { origins } from "../channels/kinds/kind-schema.ts";
import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import { renderShortMail } from "./mail-texts.ts";

/**
 * Sends a mail. 201 is success.
 * https://developers.brevo.com/reference/sendtransacemail
 */
export const brevo = createHttpProvider<"brevo">({
  request({ apiKey, from, to }, message) {
    const { text, html } = renderShortMail(message);
    return {
      url: `${origins.brevo}/v3/smtp/email`,
      headers: { "api-key": apiKey, Accept: "application/json" },
      body: {
        sender: { email: from, name: "Signalbox" },
        to: to.map((email) => ({ email })),
        subject: message.title,
        textContent: text,
        htmlContent: html,
        headers: { idempotencyKey: message.id },
      },
    };
  },
  judge: createCodeVerdict({
    service: "Brevo",
    field: "code",
    reasons: {
      unauthorized: "the API key is not valid, or this machine's address is not allowed",
      permission_denied: "the account is not allowed to send",
      not_enough_credits: "the account has too few credits",
    },
  }),
});
