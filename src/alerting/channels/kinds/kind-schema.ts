/** What channel types have in common: their definition, shared fields, placeholders and fixed addresses. */
import { t } from "../../../core/text/texts.ts";
import { z } from "zod";
import { type Destination, selfDestination } from "../../../core/security/destinations.ts";
import { HttpUrl, limitPlaceholders, optionalParagraphs, secret } from "../../../core/fields.ts";
import { type FieldLabels, defineKind, type Kind } from "../../../core/kinds.ts";
import { formatPlaceholders } from "../../../core/text/formatting.ts";

// Chat services include the credential in the webhook URL, so the whole URL is a secret.
export const webhookUrl = HttpUrl.meta({ writeOnly: true });
export const optionalSecret = secret().nullable().default(null);

/** Fixed addresses of services, with one URL per region if the service has regions. */
export const origins = {
  pushover: "https://api.pushover.net",
  // https://support.pagerduty.com/main/docs/service-regions
  pagerduty: { us: "https://events.pagerduty.com", eu: "https://events.eu.pagerduty.com" },
  jsm: "https://api.atlassian.com",
  opsgenie: { us: "https://api.opsgenie.com", eu: "https://api.eu.opsgenie.com" },
  line: "https://api.line.me",
  pushbullet: "https://api.pushbullet.com",
  // https://www.twilio.com/docs/sendgrid/ui/sending-email/regional-subusers
  sendgrid: { us: "https://api.sendgrid.com", eu: "https://api.eu.sendgrid.com" },
  brevo: "https://api.brevo.com",
  resend: "https://api.resend.com",
  // https://documentation.mailgun.com/docs/mailgun/api-reference/mg-auth#base-urls
  mailgun: { us: "https://api.mailgun.net", eu: "https://api.eu.mailgun.net" },
} as const;

/** Placeholders of a message template, such as `{{monitor}}`. */
export const placeholders = [
  "monitor",
  "status",
  "message",
  "since",
  "duration",
  "latency",
  "group",
  "target",
  "tags",
  "description",
  "url",
] as const;
export type Placeholder = (typeof placeholders)[number];

export const template = limitPlaceholders(optionalParagraphs(2_000), placeholders)
  .nullable()
  .default(null)
  .meta({
    description:
      "Text of alerts about one monitor, instead of the default. Placeholders: " +
      formatPlaceholders(placeholders)
        .map((name) => `\`${name}\``)
        .join(" "),
    example: "{{monitor}} is {{status}}: {{message}}",
  });

export const apiKey = secret();
export const region = z.enum(["us", "eu"]).default("us");

type ChannelKind<F extends Record<string, z.ZodType>> = {
  name: string;
  /** Short description in the list of channel types. */
  summary: string;
  /** Instructions to get the address or key, based on the service's documentation. */
  help: string;
  fields: F;
  /** Labels and hints of the fields. The template has a separate control. */
  labels: Readonly<Record<Exclude<keyof F & string, "template">, FieldLabels>>;
  /** The destination to which each secret is bound. If it changes, the secret must be entered again. */
  secrets?: Readonly<Record<string, Destination<keyof F & string>>>;
  /**
   * Name of the field with the destination URL, or a function that returns the URL, even if that field is null. Null
   * for the organization's mail server.
   */
  address: (keyof F & string) | ((settings: z.output<z.ZodObject<F>>) => string) | null;
  /** Field with a destination URL that replaces the usual one. */
  ownAddress?: keyof F & string;
  /** After a patch, resets fields that another field's value makes invalid. */
  clearInvalid?: Kind["clearInvalid"];
  /** Fields without effect, and texts, that depend on the values of other fields. */
  unused?: (settings: Readonly<Record<string, unknown>>) => readonly string[];
  adapt?: (settings: Readonly<Record<string, unknown>>) => {
    help?: string;
    labels: Readonly<Record<string, FieldLabels>>;
  };
};

export const defineChannelKind = <F extends Record<string, z.ZodType>>({
  fields,
  secrets,
  clearInvalid,
  ...words
}: ChannelKind<F>) => ({
  ...defineKind(fields, secrets, {}, clearInvalid),
  description: `${words.name}: ${words.summary}`,
  ...words,
});

/** A chat service whose only setting is the address of an incoming webhook. */
export const defineWebhookKind = (
  name: string,
  help: string,
  placeholder: string,
  summary = t("A message in a channel"),
) =>
  defineChannelKind({
    name,
    summary,
    help,
    fields: { webhookUrl, template },
    labels: { webhookUrl: { label: t("Webhook URL"), placeholder, mono: true } },
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  });

export const describeServer = (placeholder: string) => ({
  label: t("Server"),
  placeholder,
  mono: true,
});
export const regionLabels = {
  label: t("Region"),
  hint: t("EU if the address of your account contains “eu”."),
  options: { us: "US", eu: "EU" },
};
