/** The channel types that reach phones and browsers. */
import { t } from "../../../core/text/texts.ts";
import { z } from "zod";
import {
  fixedDestination,
  isSameOrigin,
  isSameValue,
  selfDestination,
} from "../../../core/security/destinations.ts";
import { HttpsUrl, HttpUrl, integer, line, nullable, secret, Tags } from "../../../core/fields.ts";
import type { Fields } from "../../../core/collections/objects.ts";
import { findPreset, type GatewayType } from "../gateway-rules.ts";
import {
  adaptGatewayLabels,
  clearGatewayFields,
  gatewayFields,
  gatewayLabels,
  listUnusedGatewayFields,
} from "../gateway-schema.ts";
import {
  defineChannelKind,
  describeServer,
  optionalSecret,
  origins,
  template,
} from "./kind-schema.ts";

/** Prime and coefficient of the curve P-256 (FIPS 186-5), whose equation is y² = x³ − 3x + b. */
const p256Prime = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const p256Coefficient = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

const pointError = "must be the Base64url of an uncompressed P-256 key";

/** Whether 65 bytes in Base64url are an uncompressed point. Messages can't be encrypted for any other key. */
function isPointOnP256(text: string): boolean {
  const hex = Uint8Array.fromBase64(text, { alphabet: "base64url" }).toHex();
  const [x, y] = [BigInt(`0x${hex.slice(2, 66)}`), BigInt(`0x${hex.slice(66)}`)];
  const difference = y ** 2n - (x ** 3n - 3n * x + p256Coefficient);
  return hex.startsWith("04") && x < p256Prime && y < p256Prime && difference % p256Prime === 0n;
}

/** Properties that all channel types with a gateway share, except their fields. */
const describeGateway = (type: GatewayType) => ({
  secrets: {
    secret: { preset: isSameValue, url: isSameOrigin },
    // A preset never sends headers of a custom gateway.
    "headers.*": { url: isSameOrigin },
  },
  clearInvalid: (after: Fields, before: Fields) => clearGatewayFields(type, after, before),
  address: ({ preset, url }: { preset: string; url: string | null }) =>
    url ?? findPreset(type, preset)?.url ?? "",
  ownAddress: "url" as const,
  unused: (settings: Fields) => listUnusedGatewayFields(type, settings),
  adapt: ({ preset }: Fields) => adaptGatewayLabels(type, preset),
});

export const pushKinds = {
  ntfy: defineChannelKind({
    name: "ntfy",
    summary: t("Push to phones, through ntfy.sh or your own server"),
    help: t(
      "Subscribe to a topic in the ntfy app and enter its name here. Without access control, anyone who guesses the name can read it.",
    ),
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
      topic: { label: t("Topic"), placeholder: "acme-oncall", mono: true },
      token: {
        label: t("Access token"),
        placeholder: "tk_…",
        hint: t("For a protected topic: in the web app, Account, Access tokens."),
      },
      username: { label: t("User name"), hint: t("With a password, instead of a token.") },
      password: { label: t("Password") },
      priority: {
        label: t("Priority of outages"),
        hint: t("1 (lowest) to 5 (highest). Other alerts use at most 3."),
      },
      tags: {
        label: t("Tags"),
        hint: t("Added to every message. Names of emojis are shown as emojis."),
      },
    },
    secrets: { token: { server: isSameOrigin }, password: { server: isSameOrigin } },
    address: "server",
  }),
  gotify: defineChannelKind({
    name: "Gotify",
    summary: t("Push from your own server"),
    help: t("In Gotify's web page open Apps, choose “Create Application” and copy its token."),
    fields: { server: HttpUrl, token: secret(), template },
    labels: {
      server: describeServer("https://gotify.lan"),
      token: { label: t("Application token") },
    },
    secrets: { token: { server: isSameOrigin } },
    address: "server",
  }),
  pushover: defineChannelKind({
    name: "Pushover",
    summary: t("Push to phones"),
    help: t(
      "pushover.net shows your user key (or create a delivery group); “Create an Application/API Token” there gives the API token.",
    ),
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
      userKey: { label: t("User or group key") },
      apiToken: { label: t("API token") },
      priority: {
        label: t("Priority of outages"),
        hint: t(
          "-2 (lowest) to 2 (emergency, repeated until someone acknowledges the alert, here or on the phone, or it expires). Other alerts use at most 0.",
        ),
      },
      retry: { label: t("Repeat an emergency every"), unit: "s" },
      expire: { label: t("Stop repeating it after"), unit: "s" },
    },
    secrets: { userKey: fixedDestination, apiToken: fixedDestination },
    address: () => origins.pushover,
  }),
  pushbullet: defineChannelKind({
    name: "Pushbullet",
    summary: t("Push to phones and browsers"),
    help: t(
      "In Pushbullet’s Settings, Account choose “Create Access Token”. All devices of the account receive the alerts.",
    ),
    fields: { accessToken: secret(), template },
    labels: { accessToken: { label: t("Access token") } },
    secrets: { accessToken: fixedDestination },
    address: () => origins.pushbullet,
  }),
  homeassistant: defineChannelKind({
    name: "Home Assistant",
    summary: t("A notification, or an event for automations"),
    help: t(
      "In your profile open Security and create a long-lived access token. A notification needs the name of a service, such as mobile_app_phone: Developer Tools, Actions lists them as notify.….",
    ),
    fields: {
      server: HttpUrl,
      token: secret(),
      service: nullable(
        z.string().regex(/^[a-z0-9_]{1,100}$/, "must have lower-case letters, digits and _"),
      ).meta({
        description:
          "Name of a `notify` service. Null to fire the event `signalbox_alert` instead, for automations.",
        example: "mobile_app_phone",
      }),
      template,
    },
    labels: {
      server: describeServer("http://homeassistant.lan:8123"),
      token: { label: t("Access token") },
      service: {
        label: t("Notify service"),
        placeholder: "mobile_app_phone",
        hint: t("Leave empty to fire the event signalbox_alert, for automations."),
        mono: true,
      },
    },
    secrets: { token: { server: isSameOrigin } },
    address: "server",
  }),
  sms: defineChannelKind({
    name: "SMS",
    summary: t("Through a provider, or your own device"),
    help: t(
      "Choose the gateway that sends the messages. Each message costs what the gateway charges.",
    ),
    fields: { ...gatewayFields.sms, template },
    labels: gatewayLabels.sms,
    ...describeGateway("sms"),
  }),
  voice: defineChannelKind({
    name: t("Voice call"),
    summary: t("Reads alerts on the phone, and takes a key press"),
    help: t("Choose the gateway that makes the calls. Each call costs what the gateway charges."),
    fields: { ...gatewayFields.voice, template },
    labels: gatewayLabels.voice,
    ...describeGateway("voice"),
  }),
};

/** Types that only contact methods can have. */
export const personalKinds = {
  webpush: defineChannelKind({
    name: t("This browser"),
    summary: t("Notifications of one browser, even while Signalbox is closed in it"),
    help: t("Web Push. The browser creates the subscription."),
    fields: {
      endpoint: HttpsUrl.meta({
        writeOnly: true,
        description: "`endpoint` of the browser's `PushSubscription`.",
        example: "https://push.example/send/4f2c9e",
      }),
      publicKey: z
        .string()
        .regex(/^B[-_A-Za-z0-9]{86}$/, { error: pointError, abort: true })
        .refine(isPointOnP256, pointError)
        .meta({
          description:
            "`p256dh` of the subscription, by which a browser recognizes its own. Base64url.",
          example:
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        }),
      auth: z
        .string()
        .regex(/^[-_A-Za-z0-9]{22}$/, "must be the Base64url of 16 bytes")
        .meta({ writeOnly: true, description: "`auth` of the subscription. Base64url." }),
    },
    labels: {
      endpoint: { label: t("Endpoint") },
      publicKey: { label: t("Public key") },
      auth: { label: t("Secret") },
    },
    secrets: { endpoint: selfDestination, auth: { endpoint: isSameValue } },
    address: "endpoint",
  }),
};
