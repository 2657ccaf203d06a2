import { z } from "zod";
import { bodyOf, Headers, HttpUrl, line, secret, Timestamp } from "../base/fields.ts";
import { kind, newOf, patchOfKinds, shownOf } from "../base/kinds.ts";

const EmailAddress = z
  .email("must be an e-mail address")
  .max(254)
  .meta({ example: "oncall@team.example" });

// Chat services put the credential into the URL itself, so the whole URL is the secret.
const webhookUrl = HttpUrl.meta({ writeOnly: true });
const optionalSecret = secret().nullable().default(null);

/** The channel types and their own fields; delivering to them is in `alerting/providers`. */
export const channelKinds = {
  webhook: kind({ url: HttpUrl, secret: optionalSecret, headers: Headers.default({}) }, ["secret"]),
  email: kind({ to: z.array(EmailAddress).min(1).max(50) }),
  slack: kind({ webhookUrl }, ["webhookUrl"]),
  discord: kind({ webhookUrl }, ["webhookUrl"]),
  teams: kind({ webhookUrl }, ["webhookUrl"]),
  mattermost: kind({ webhookUrl }, ["webhookUrl"]),
  googlechat: kind({ webhookUrl }, ["webhookUrl"]),
  telegram: kind({ botToken: secret(), chatId: line(100) }, ["botToken"]),
  ntfy: kind(
    {
      server: HttpUrl.default("https://ntfy.sh"),
      topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, "must have 1 to 64 letters, digits, - or _"),
      token: optionalSecret,
    },
    ["token"],
  ),
  gotify: kind({ server: HttpUrl, token: secret() }, ["token"]),
  pushover: kind({ userKey: secret(), apiToken: secret() }, ["userKey", "apiToken"]),
  pagerduty: kind({ routingKey: secret() }, ["routingKey"]),
  opsgenie: kind({ apiKey: secret(), region: z.enum(["us", "eu"]).default("us") }, ["apiKey"]),
  apprise: kind({ server: HttpUrl, key: line(200) }),
};

const common = {
  name: line(255).meta({ example: "On-call" }),
  enabled: z.boolean().default(true),
  default: z
    .boolean()
    .default(false)
    .meta({ description: "Attached to every monitor made from now on." }),
};

const readOnly = ["id", "lastDeliveryAt", "lastError", "secretsSet", "createdAt", "updatedAt"];

const whole = newOf(channelKinds, common, {
  id: "NewAlertChannel",
  example: { type: "webhook", name: "Deploy bot", url: "http://bot.lan/alerts" },
});
export const NewAlertChannel = bodyOf(readOnly, whole);
export type NewAlertChannel = z.infer<typeof whole>;

export const AlertChannelPatch = patchOfKinds(channelKinds, common, readOnly, {
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
      lastDeliveryAt: null,
      lastError: null,
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
      secretsSet: ["webhookUrl"],
    },
  },
);
export type AlertChannel = z.infer<typeof AlertChannel>;
