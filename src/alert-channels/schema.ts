import { z } from "zod";
import { fixedAddress, itsOwnAddress, sameOrigin, sameValue } from "../base/destinations.ts";
import {
  bodyOf,
  EmailAddress,
  Headers,
  HttpUrl,
  line,
  optionalParagraphs,
  secret,
  Timestamp,
} from "../base/fields.ts";
import { kind, newOf, patchOfKinds, shownOf } from "../base/kinds.ts";

// Chat services put the credential into the URL itself, so the whole URL is the secret.
const webhookUrl = HttpUrl.meta({ writeOnly: true });
const optionalSecret = secret().nullable().default(null);

/** What may stand in a `template`, as `{{monitor}}`. */
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

const known = new Set<string>(placeholders);

const template = optionalParagraphs(2_000)
  .refine(
    (text) =>
      [...text.matchAll(/\{\{([^{}]*)\}\}/g)].every(([, name = ""]) => known.has(name.trim())),
    `must use no other placeholders than ${placeholders.map((name) => `{{${name}}}`).join(", ")}`,
  )
  .nullable()
  .default(null)
  .meta({
    description:
      "Text of alerts about one monitor, instead of the usual one. Placeholders: " +
      placeholders.map((name) => `\`{{${name}}}\``).join(" "),
    example: "{{monitor}} is {{status}}: {{message}}",
  });

const base64 = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const SigningSecret = secret()
  .refine(
    (text) => !text.startsWith("whsec_") || base64.test(text.slice("whsec_".length)),
    "must be Base64 behind whsec_",
  )
  .nullable()
  .default(null);

/** The channel types and their own fields; delivering to them is in `alerting/providers`. */
export const channelKinds = {
  webhook: kind(
    { url: HttpUrl, secret: SigningSecret, headers: Headers.default({}) },
    { secret: { url: sameOrigin }, "headers.*": { url: sameOrigin } },
  ),
  email: kind({ to: z.array(EmailAddress).min(1).max(50), template }),
  slack: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  discord: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  teams: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  mattermost: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  googlechat: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  telegram: kind({ botToken: secret(), chatId: line(100), template }, { botToken: fixedAddress }),
  ntfy: kind(
    {
      server: HttpUrl.default("https://ntfy.sh"),
      topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, "must have 1 to 64 letters, digits, - or _"),
      token: optionalSecret,
      template,
    },
    { token: { server: sameOrigin } },
  ),
  gotify: kind({ server: HttpUrl, token: secret(), template }, { token: { server: sameOrigin } }),
  pushover: kind(
    { userKey: secret(), apiToken: secret(), template },
    { userKey: fixedAddress, apiToken: fixedAddress },
  ),
  pagerduty: kind({ routingKey: secret() }, { routingKey: fixedAddress }),
  opsgenie: kind(
    { apiKey: secret(), region: z.enum(["us", "eu"]).default("us") },
    { apiKey: { region: sameValue } },
  ),
  apprise: kind({
    server: HttpUrl,
    key: z.string().regex(/^[-_A-Za-z0-9]{1,128}$/, "must have 1 to 128 letters, digits, - or _"),
    template,
  }),
};

export type ChannelType = keyof typeof channelKinds;

/** The fields of one channel type, secrets included: what an alert is sent with. */
export type ChannelSettings<T extends ChannelType> = z.output<
  z.ZodObject<(typeof channelKinds)[T]["fields"]>
>;

/** The fields that channels of every type have. */
export const channelFields = {
  name: line(255).meta({ example: "On-call" }),
  enabled: z.boolean().default(true),
  default: z
    .boolean()
    .default(false)
    .meta({ description: "Attached to every monitor made from now on." }),
  incidents: z.boolean().default(true).meta({
    description:
      "Also told of incidents: when one is opened, updated and resolved. Of an incident that a monitor opened by itself only channels that are not attached to that monitor are told.",
  }),
};

const readOnly = ["id", "lastDeliveryAt", "lastError", "secretsSet", "createdAt", "updatedAt"];

const whole = newOf(channelKinds, channelFields, {
  id: "NewAlertChannel",
  example: { type: "webhook", name: "Deploy bot", url: "http://bot.lan/alerts" },
});
export const NewAlertChannel = bodyOf(readOnly, whole);
export type NewAlertChannel = z.infer<typeof whole>;

export const AlertChannelPatch = patchOfKinds(channelKinds, channelFields, readOnly, {
  id: "AlertChannelPatch",
  example: { enabled: false },
});
export type AlertChannelPatch = z.infer<typeof AlertChannelPatch>;

export const AlertChannel = shownOf(
  channelKinds,
  {
    name: z.string(),
    enabled: z.boolean(),
    default: z.boolean(),
    incidents: z.boolean(),
    lastDeliveryAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  {
    id: "AlertChannel",
    description: "A place where alerts go. Its secrets are write-only.",
    example: {
      id: "01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46",
      type: "slack",
      name: "On-call",
      enabled: true,
      default: true,
      incidents: true,
      template: null,
      lastDeliveryAt: null,
      lastError: null,
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
      secretsSet: ["webhookUrl"],
    },
  },
);
export type AlertChannel = z.infer<typeof AlertChannel>;
