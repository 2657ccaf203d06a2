import { origins } from "../channels/kinds/kind-schema.ts";
import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import { renderShortMail } from "./mail-texts.ts";

/**
 * Sends a mail. The same idempotency key sends no second one within 24 hours.
 * https://resend.com/docs/api-reference/emails/send-email and, for errors,
 * https://resend.com/docs/api-reference/errors
 */
export const resend = createHttpProvider<"resend">({
  request: ({ apiKey, from, to }, message) => ({
    url: `${origins.resend}/emails`,
    headers: { Authorization: `Bearer ${apiKey}`, "Idempotency-Key": message.id },
    body: {
      from: `Signalbox <${from}>`,
      to,
      subject: message.title,
      ...renderShortMail(message),
      headers: { "Auto-Submitted": "auto-generated" },
    },
  }),
  judge: createCodeVerdict({
    service: "Resend",
    field: "name",
    reasons: {
      missing_api_key: "the API key is missing",
      invalid_api_key: "the API key is not valid",
      restricted_api_key: "the API key is not allowed to send",
      invalid_from_address: "the sender is not valid",
      daily_quota_exceeded: "the daily quota is used up",
      monthly_quota_exceeded: "the monthly quota is used up",
    },
  }),
});
