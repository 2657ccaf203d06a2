/** The channel types: fields, secrets, texts and destinations, as zod schemas. */
import { z } from "zod";
import {
  type Destination,
  fixedDestination,
  selfDestination,
  isSameOrigin,
  isSameValue,
} from "../../core/security/destinations.ts";
import {
  EmailAddress,
  Headers,
  HttpsUrl,
  HttpUrl,
  integer,
  line,
  optionalParagraphs,
  secret,
  SigningSecret,
  Tags,
  limitPlaceholders,
  nullable,
} from "../../core/fields.ts";
import { type FieldLabels, defineKind, type Kind } from "../../core/kinds.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { formatPlaceholders } from "../../core/text/formatting.ts";
import { findPreset, type GatewayType } from "./gateway-rules.ts";
import {
  adaptGatewayLabels,
  clearGatewayFields,
  gatewayFields,
  gatewayLabels,
  listUnusedGatewayFields,
} from "./gateway-schema.ts";

// Chat services include the credential in the webhook URL, so the whole URL is a secret.
const webhookUrl = HttpUrl.meta({ writeOnly: true });
const optionalSecret = secret().nullable().default(null);

/** Fixed addresses of services, with one URL per region if the service has regions. */
export const origins = {
  pushover: "https://api.pushover.net",
  // https://support.pagerduty.com/main/docs/service-regions
  pagerduty: { us: "https://events.pagerduty.com", eu: "https://events.eu.pagerduty.com" },
  jsm: "https://api.atlassian.com",
  opsgenie: { us: "https://api.opsgenie.com", eu: "https://api.eu.opsgenie.com" },
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

const template = limitPlaceholders(optionalParagraphs(2_000), placeholders)
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

const apiKey = secret();
const region = z.enum(["us", "eu"]).default("us");

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
   * Name of the field with the destination URL, or a function that returns the URL, also if that field is null. Null
   * for the organization's mail server.
   */
  address: (keyof F & string) | ((settings: z.output<z.ZodObject<F>>) => string) | null;
  /** Field with a destination URL that replaces the usual one. */
  ownAddress?: keyof F & string;
  /** After a patch, resets fields that another field's value makes invalid. */
  cleared?: Kind["cleared"];
  /** Fields without effect, and texts, that depend on the values of other fields. */
  unused?: (settings: Readonly<Record<string, unknown>>) => readonly string[];
  adapt?: (settings: Readonly<Record<string, unknown>>) => {
    help?: string;
    labels: Readonly<Record<string, FieldLabels>>;
  };
};

const defineChannelKind = <F extends Record<string, z.ZodType>>({
  fields,
  secrets,
  cleared,
  ...words
}: ChannelKind<F>) => ({
  ...defineKind(fields, secrets, {}, cleared),
  description: `${words.name}: ${words.summary}`,
  ...words,
});

const describeWebhookUrl = (placeholder: string) => ({
  webhookUrl: { label: "Webhook URL", placeholder, mono: true },
});
const describeServer = (placeholder: string) => ({ label: "Server", placeholder, mono: true });
const regionLabels = {
  label: "Region",
  hint: "EU if the address of your account contains “eu”.",
  options: { us: "US", eu: "EU" },
};

/** What all channel types with a gateway have in common, apart from their fields. */
const describeGateway = (type: GatewayType) => ({
  secrets: {
    secret: { preset: isSameValue, url: isSameOrigin },
    // A preset never sends headers of a custom gateway.
    "headers.*": { url: isSameOrigin },
  },
  cleared: (after: Fields, before: Fields) => clearGatewayFields(type, after, before),
  address: ({ preset, url }: { preset: string; url: string | null }) =>
    url ?? findPreset(type, preset)?.url ?? "",
  ownAddress: "url" as const,
  unused: (settings: Fields) => listUnusedGatewayFields(type, settings),
  adapt: ({ preset }: Fields) => adaptGatewayLabels(type, preset),
});

/** Types of alert channels, with their fields and texts. */
export const channelKinds = {
  webhook: defineChannelKind({
    name: "Webhook",
    summary: "Signed JSON to any URL",
    help: "Sends a POST request with JSON, as described by Standard Webhooks. With a secret, each request is signed.",
    fields: { url: HttpUrl, secret: nullable(SigningSecret), headers: Headers.default({}) },
    labels: {
      url: { label: "URL", placeholder: "http://bot.lan/alerts", mono: true },
      secret: {
        label: "Secret",
        hint: "Signs each request: whsec_ and the Base64 of 24 to 64 bytes.",
        placeholder: "whsec_…",
      },
      headers: { label: "Headers" },
    },
    secrets: { secret: { url: isSameOrigin }, "headers.*": { url: isSameOrigin } },
    address: "url",
  }),
  email: defineChannelKind({
    name: "E-mail",
    summary: "Through your own mail server",
    help: "Sent through the mail server in Settings. Press Enter after each address.",
    fields: { to: z.array(EmailAddress).min(1).max(50), template },
    labels: {
      to: { label: "To", hint: "Up to 50 addresses. All of them receive the same e-mail." },
    },
    address: null,
  }),
  slack: defineChannelKind({
    name: "Slack",
    summary: "A message in a channel",
    help: "At api.slack.com/apps create an app, open Incoming Webhooks, switch on “Activate Incoming Webhooks”, choose “Add New Webhook to Workspace”, pick the channel and copy the webhook URL.",
    fields: { webhookUrl, template },
    labels: describeWebhookUrl("https://hooks.slack.com/services/…"),
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  }),
  discord: defineChannelKind({
    name: "Discord",
    summary: "A message in a channel",
    help: "Edit the channel, open Integrations, Webhooks, choose “New Webhook” and “Copy Webhook URL”.",
    fields: { webhookUrl, template },
    labels: describeWebhookUrl("https://discord.com/api/webhooks/…"),
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  }),
  teams: defineChannelKind({
    name: "Microsoft Teams",
    summary: "A card in a channel",
    help: "In the channel’s ••• menu open Workflows, choose “Send webhook alerts to a channel” (formerly “Post to a channel when a webhook request is received”) and copy the URL. Connector URLs at webhook.office.com stopped working in May 2026.",
    fields: { webhookUrl, template },
    labels: describeWebhookUrl("https://….api.powerplatform.com/…/workflows/…"),
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  }),
  mattermost: defineChannelKind({
    name: "Mattermost",
    summary: "A message in a channel",
    help: "In the product menu open Integrations, Incoming Webhooks, choose “Add Incoming Webhook”, pick the channel and copy the URL.",
    fields: { webhookUrl, template },
    labels: describeWebhookUrl("https://chat.acme.lan/hooks/…"),
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  }),
  googlechat: defineChannelKind({
    name: "Google Chat",
    summary: "A message in a space",
    help: "In a browser, open the menu of the space, then “Apps & integrations”, choose “Add webhooks”, name it and copy its link.",
    fields: { webhookUrl, template },
    labels: describeWebhookUrl("https://chat.googleapis.com/v1/spaces/…"),
    secrets: { webhookUrl: selfDestination },
    address: "webhookUrl",
  }),
  telegram: defineChannelKind({
    name: "Telegram",
    summary: "A message from your bot",
    help: "Send /newbot to @BotFather for the token. Add the bot to the chat and send a message to it; api.telegram.org/bot<token>/getUpdates then shows the chat's id and, in a topic, its message_thread_id. In a channel the bot must be an administrator.",
    fields: {
      botToken: secret(),
      chatId: line(100),
      topic: nullable(integer(1, 2 ** 31 - 1)).meta({
        description: "Id of a topic of a forum group: its `message_thread_id`.",
      }),
      silent: z.boolean().default(false).meta({ description: "Messages make no sound." }),
      server: HttpUrl.default("https://api.telegram.org").meta({
        description: "Your own Bot API server, if you run one.",
      }),
      template,
    },
    labels: {
      botToken: { label: "Bot token", placeholder: "123456:ABC-DEF…" },
      chatId: {
        label: "Chat id",
        placeholder: "-1001234567890",
        hint: "A number, or @name of a public channel.",
        mono: true,
      },
      topic: { label: "Topic", hint: "The message_thread_id of a forum topic. Optional." },
      silent: { label: "Silent", hint: "Messages arrive without a sound." },
      server: {
        ...describeServer("https://api.telegram.org"),
        hint: "Change it only if you run your own Bot API server.",
      },
    },
    secrets: { botToken: { server: isSameOrigin } },
    address: "server",
  }),
  ntfy: defineChannelKind({
    name: "ntfy",
    summary: "Push to phones, through ntfy.sh or your own server",
    help: "Subscribe to a topic in the ntfy app and enter its name here. Without access control, anyone who guesses the name can read it.",
    fields: {
      server: HttpUrl.default("https://ntfy.sh"),
      topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, "must have 1 to 64 letters, digits, - or _"),
      token: optionalSecret,
      username: nullable(
        line(255).refine((name) => !name.includes(":"), "must not contain :"),
      ).meta({ description: "With `password`, instead of a token." }),
      password: optionalSecret,
      priority: integer(1, 5).default(4).meta({
        description:
          "Priority of outages, from 1 (lowest) to 5 (highest). Other alerts use at most 3.",
      }),
      tags: Tags.default([]).meta({
        description: "Tags of every message, in addition to the emoji of its kind.",
      }),
      template,
    },
    labels: {
      server: describeServer("https://ntfy.sh"),
      topic: { label: "Topic", placeholder: "acme-oncall", mono: true },
      token: {
        label: "Access token",
        placeholder: "tk_…",
        hint: "For a protected topic: in the web app, Account, Access tokens.",
      },
      username: { label: "User name", hint: "With a password, instead of a token." },
      password: { label: "Password" },
      priority: {
        label: "Priority of outages",
        hint: "1 (lowest) to 5 (highest). Other alerts use at most 3.",
      },
      tags: { label: "Tags", hint: "Added to every message. Names of emojis are shown as emojis." },
    },
    secrets: { token: { server: isSameOrigin }, password: { server: isSameOrigin } },
    address: "server",
  }),
  gotify: defineChannelKind({
    name: "Gotify",
    summary: "Push from your own server",
    help: "In Gotify's web page open Apps, choose “Create Application” and copy its token.",
    fields: { server: HttpUrl, token: secret(), template },
    labels: { server: describeServer("https://gotify.lan"), token: { label: "Application token" } },
    secrets: { token: { server: isSameOrigin } },
    address: "server",
  }),
  pushover: defineChannelKind({
    name: "Pushover",
    summary: "Push to phones",
    help: "pushover.net shows your user key (or create a delivery group); “Create an Application/API Token” there gives the API token.",
    fields: {
      userKey: secret(),
      apiToken: secret(),
      priority: integer(-2, 2).default(1).meta({
        description:
          "Priority of outages, from -2 (lowest) to 2 (emergency, repeated until someone acknowledges the alert, here or on the phone, or it expires). Other alerts use at most 0.",
      }),
      retry: integer(30, 10_800).default(60).meta({
        description: "Seconds between two repetitions of an emergency.",
      }),
      expire: integer(30, 10_800).default(3_600).meta({
        description: "Seconds after which an emergency is no longer repeated.",
      }),
      template,
    },
    labels: {
      userKey: { label: "User or group key" },
      apiToken: { label: "API token" },
      priority: {
        label: "Priority of outages",
        hint: "-2 (lowest) to 2 (emergency, repeated until someone acknowledges the alert, here or on the phone, or it expires). Other alerts use at most 0.",
      },
      retry: { label: "Repeat an emergency every", unit: "s" },
      expire: { label: "Stop repeating it after", unit: "s" },
    },
    secrets: { userKey: fixedDestination, apiToken: fixedDestination },
    address: () => origins.pushover,
  }),
  sms: defineChannelKind({
    name: "SMS",
    summary: "Through a provider, or your own device",
    help: "Choose the gateway that sends the messages. Each message costs what the gateway charges.",
    fields: { ...gatewayFields.sms, template },
    labels: gatewayLabels.sms,
    ...describeGateway("sms"),
  }),
  voice: defineChannelKind({
    name: "Voice call",
    summary: "Reads alerts on the phone, and takes a key press",
    help: "Choose the gateway that makes the calls. Each call costs what the gateway charges.",
    fields: { ...gatewayFields.voice, template },
    labels: gatewayLabels.voice,
    ...describeGateway("voice"),
  }),
  pagerduty: defineChannelKind({
    name: "PagerDuty",
    summary: "Opens and resolves incidents",
    help: "In the service open Integrations, add “Events API V2” and copy its integration key, of 32 characters.",
    fields: { routingKey: secret(), region },
    labels: { routingKey: { label: "Integration key" }, region: regionLabels },
    secrets: { routingKey: { region: isSameValue } },
    address: ({ region }) => origins.pagerduty[region],
  }),
  jsm: defineChannelKind({
    name: "Jira Service Management",
    summary: "Opens and closes alerts",
    help: "In a team’s Operations open Integrations, add “API”, turn it on and copy its API key. Keys migrated from Opsgenie work, too.",
    fields: { apiKey },
    labels: { apiKey: { label: "API key" } },
    secrets: { apiKey: fixedDestination },
    address: () => origins.jsm,
  }),
  opsgenie: defineChannelKind({
    name: "Opsgenie",
    summary: "Until it shuts down on 5 April 2027",
    help: "Opsgenie shuts down on 5 April 2027. Once your account is migrated, use Jira Service Management with the same key. In the team open Integrations, add “API”, turn it on and copy its API key.",
    fields: { apiKey, region },
    labels: { apiKey: { label: "API key" }, region: regionLabels },
    secrets: { apiKey: { region: isSameValue } },
    address: ({ region }) => origins.opsgenie[region],
  }),
  apprise: defineChannelKind({
    name: "Apprise",
    summary: "A hundred more services",
    help: "Requires an Apprise API server. Save the URLs of your services there under a key and enter the key here, or enter the URLs here.",
    fields: {
      server: HttpUrl,
      key: nullable(
        z.string().regex(/^[-_A-Za-z0-9]{1,128}$/, "must have 1 to 128 letters, digits, - or _"),
      ).meta({
        description:
          "The configuration key of services that are saved on the server, instead of `urls`.",
      }),
      tag: nullable(line(200)).meta({
        description:
          "Only services with these tags: `a, b` means either, `a b` means both. Null for all services of the key.",
      }),
      urls: nullable(secret(4_000)).meta({
        writeOnly: true,
        description: "Apprise URLs, separated by commas, instead of a `key`.",
      }),
      template,
    },
    labels: {
      server: describeServer("http://apprise.lan:8000"),
      key: { label: "Configuration key", hint: "Leave empty if you enter URLs.", mono: true },
      tag: {
        label: "Tags",
        hint: "Only services with these tags: “a, b” means either, “a b” means both. Leave empty for all.",
      },
      urls: {
        label: "Apprise URLs",
        placeholder: "mailto://…, json://…",
        hint: "Instead of a key, separated by commas.",
      },
    },
    secrets: { urls: { server: isSameOrigin } },
    address: "server",
  }),
};

export type ChannelType = keyof typeof channelKinds;

/** Types that only contact methods can have. */
export const personalKinds = {
  webpush: defineChannelKind({
    name: "This browser",
    summary: "Notifications of one browser, also while Signalbox is closed in it",
    help: "Web Push. The browser creates the subscription.",
    fields: {
      endpoint: HttpsUrl.meta({
        writeOnly: true,
        description: "`endpoint` of the browser's `PushSubscription`.",
        example: "https://push.example/send/4f2c9e",
      }),
      publicKey: z
        .string()
        .regex(/^B[-_A-Za-z0-9]{86}$/, "must be the Base64url of an uncompressed P-256 key")
        .meta({
          description:
            "`p256dh` of the subscription, by which a browser recognizes its own. Base64url.",
          example: `B${"x".repeat(86)}`,
        }),
      auth: z
        .string()
        .regex(/^[-_A-Za-z0-9]{22}$/, "must be the Base64url of 16 bytes")
        .meta({ writeOnly: true, description: "`auth` of the subscription. Base64url." }),
    },
    labels: {
      endpoint: { label: "Endpoint" },
      publicKey: { label: "Public key" },
      auth: { label: "Secret" },
    },
    secrets: { endpoint: selfDestination, auth: { endpoint: isSameValue } },
    address: "endpoint",
  }),
};

/** All types that `alerting/providers` sends to. */
export const receiverKinds = { ...channelKinds, ...personalKinds };

export type ReceiverType = keyof typeof receiverKinds;

/** Settings of a type, secrets included. */
export type ChannelSettings<T extends ReceiverType> = z.output<
  z.ZodObject<(typeof receiverKinds)[T]["fields"]>
>;

/**
 * Returns the destination of a channel's alerts, and its field, if a field contains it. Null for
 * the organization's mail server.
 */
export function addressOf(
  type: string,
  settings: Readonly<Record<string, unknown>>,
): { path: string | null; url: URL } | null {
  const { address, ownAddress = null } = receiverKinds[type as ReceiverType];
  const hasOwn = ownAddress !== null && typeof settings[ownAddress] === "string";
  const path = typeof address === "string" ? address : hasOwn ? ownAddress : null;
  const text = typeof address === "function" ? address(settings as never) : settings[path ?? ""];
  const url = typeof text === "string" ? URL.parse(text) : null;
  return url === null ? null : { path, url };
}
