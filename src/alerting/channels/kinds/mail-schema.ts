/** The channel types that send mail. */
import { t } from "../../../core/text/texts.ts";
import { z } from "zod";
import { EmailAddress } from "../../../core/fields.ts";
import { fixedDestination, isSameValue } from "../../../core/security/destinations.ts";
import {
  apiKey,
  defineChannelKind,
  origins,
  region,
  regionLabels,
  template,
} from "./kind-schema.ts";

const to = z.array(EmailAddress).min(1).max(50);
const from = EmailAddress.meta({ description: "Address of the sender." });
const mailLabels = {
  from: { label: t("From"), placeholder: "signalbox@acme.example" },
  to: { label: t("To"), hint: t("Up to 50 addresses. All of them receive the same e-mail.") },
};

export const mailKinds = {
  email: defineChannelKind({
    name: t("E-mail"),
    summary: t("Through your own mail server"),
    help: t("Sent through the mail server in Settings. Press Enter after each address."),
    fields: { to, template },
    labels: { to: mailLabels.to },
    address: null,
  }),
  sendgrid: defineChannelKind({
    name: "SendGrid",
    summary: t("Mail through Twilio SendGrid"),
    help: t(
      "Under Settings, API Keys create a key with “Mail Send” access. The sender must be verified under Sender Authentication.",
    ),
    fields: { apiKey, region, from, to, template },
    labels: { apiKey: { label: t("API key") }, region: regionLabels, ...mailLabels },
    secrets: { apiKey: { region: isSameValue } },
    address: ({ region }) => origins.sendgrid[region],
  }),
  brevo: defineChannelKind({
    name: "Brevo",
    summary: t("Mail through Brevo, formerly Sendinblue"),
    help: t(
      "Under SMTP & API create an API key. The sender must be verified under Senders, Domains & Dedicated IPs.",
    ),
    fields: { apiKey, from, to, template },
    labels: { apiKey: { label: t("API key") }, ...mailLabels },
    secrets: { apiKey: fixedDestination },
    address: () => origins.brevo,
  }),
  resend: defineChannelKind({
    name: "Resend",
    summary: t("Mail through Resend"),
    help: t(
      "Under API Keys create a key with “Sending access”. The sender’s domain must be verified under Domains.",
    ),
    fields: { apiKey, from, to, template },
    labels: { apiKey: { label: t("API key") }, ...mailLabels },
    secrets: { apiKey: fixedDestination },
    address: () => origins.resend,
  }),
  mailgun: defineChannelKind({
    name: "Mailgun",
    summary: t("Mail through Mailgun"),
    help: t("In the domain’s settings create a sending key. The region is that of the domain."),
    fields: {
      apiKey,
      region,
      domain: z
        .string()
        .max(253)
        .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, "must be a domain")
        .meta({ description: "Sending domain at Mailgun.", example: "mg.acme.example" }),
      from,
      to,
      template,
    },
    labels: {
      apiKey: { label: t("Sending key") },
      region: { ...regionLabels, hint: t("That of the domain.") },
      domain: {
        label: t("Domain"),
        placeholder: "mg.acme.example",
        hint: t("From which Mailgun sends."),
      },
      ...mailLabels,
    },
    secrets: { apiKey: { region: isSameValue } },
    address: ({ region }) => origins.mailgun[region],
  }),
};
