import { z } from "zod";
import { fixedAddress, itsOwnAddress, sameOrigin, sameValue } from "../../core/destinations.ts";
import {
  bodyOf,
  EmailAddress,
  Headers,
  HttpUrl,
  line,
  optionalParagraphs,
  integer,
  secret,
  SigningSecret,
  Tags,
  Timestamp,
} from "../../core/fields.ts";
import { kind, newOf, patchOfKinds, shownOf } from "../../core/kinds.ts";

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

const nullable = <T extends z.ZodType>(field: T) => field.nullable().default(null);
const region = z.enum(["us", "eu"]).default("us");

/** The channel types and their own fields; delivering to them is in `alerting/providers`. */
export const channelKinds = {
  webhook: kind(
    { url: HttpUrl, secret: nullable(SigningSecret), headers: Headers.default({}) },
    { secret: { url: sameOrigin }, "headers.*": { url: sameOrigin } },
  ),
  email: kind({ to: z.array(EmailAddress).min(1).max(50), template }),
  slack: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  discord: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  teams: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  mattermost: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  googlechat: kind({ webhookUrl, template }, { webhookUrl: itsOwnAddress }),
  telegram: kind(
    {
      botToken: secret(),
      chatId: line(100),
      topic: nullable(integer(1, 2 ** 31 - 1)).meta({
        description: "Id of a topic of a forum group: its `message_thread_id`.",
      }),
      silent: z.boolean().default(false).meta({ description: "Messages make no sound." }),
      server: HttpUrl.default("https://api.telegram.org").meta({
        description: "A Bot API server of your own, where there is one.",
      }),
      template,
    },
    { botToken: { server: sameOrigin } },
  ),
  ntfy: kind(
    {
      server: HttpUrl.default("https://ntfy.sh"),
      topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, "must have 1 to 64 letters, digits, - or _"),
      token: optionalSecret,
      username: nullable(
        line(255).refine((name) => !name.includes(":"), "must not contain :"),
      ).meta({ description: "With `password`, instead of a token." }),
      password: optionalSecret,
      priority: integer(1, 5).default(4).meta({
        description: "Of outages, from 1 (lowest) to 5 (highest); everything else has at most 3.",
      }),
      tags: Tags.default([]).meta({
        description: "Of every message, beside the sign of its kind.",
      }),
      template,
    },
    { token: { server: sameOrigin }, password: { server: sameOrigin } },
  ),
  gotify: kind({ server: HttpUrl, token: secret(), template }, { token: { server: sameOrigin } }),
  pushover: kind(
    {
      userKey: secret(),
      apiToken: secret(),
      priority: integer(-2, 2).default(1).meta({
        description:
          "Of outages, from -2 (lowest) to 2 (emergency: repeated until somebody confirms it or it is over); everything else has at most 0.",
      }),
      retry: integer(30, 10_800).default(60).meta({
        description: "Seconds between two repetitions of an emergency.",
      }),
      expire: integer(30, 10_800).default(3_600).meta({
        description: "Seconds after which an emergency is not repeated any more.",
      }),
      template,
    },
    { userKey: fixedAddress, apiToken: fixedAddress },
  ),
  pagerduty: kind({ routingKey: secret(), region }, { routingKey: { region: sameValue } }),
  jsm: kind({ apiKey: secret() }, { apiKey: fixedAddress }),
  opsgenie: kind({ apiKey: secret(), region }, { apiKey: { region: sameValue } }),
  apprise: kind(
    {
      server: HttpUrl,
      key: nullable(
        z.string().regex(/^[-_A-Za-z0-9]{1,128}$/, "must have 1 to 128 letters, digits, - or _"),
      ).meta({ description: "What is saved under it on the server; or else `urls`." }),
      tag: nullable(line(200)).meta({
        description:
          "Only what has one of these tags under the key: `a, b` is either, `a b` both. Null: all of it.",
      }),
      urls: nullable(secret(4_000)).meta({
        writeOnly: true,
        description: "Apprise URLs, separated by commas, instead of a `key`.",
      }),
      template,
    },
    { urls: { server: sameOrigin } },
  ),
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
export const NewAlertChannel = bodyOf(
  readOnly,
  whole.superRefine((channel, context) => {
    const issue = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    const { type, key, urls, tag, token, username, password } = channel;
    if (type === "apprise") {
      if (key === null && urls === null) issue("key", "is required where there are no urls");
      if (key !== null && urls !== null) issue("urls", "must be null where there is a key");
      if (key === null && tag !== null) issue("tag", "must be null where there is no key");
    }
    if (type === "ntfy") {
      if (username !== null && token !== null)
        issue("token", "must be null where there is a username");
      if (username !== null && password === null)
        issue("password", "is required where there is a username");
      if (username === null && password !== null)
        issue("username", "is required where there is a password");
    }
  }),
);
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
