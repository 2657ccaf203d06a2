/** The gateways that a channel can use by name: what a person enters for each, and where to get it. */
import { t } from "../../core/text/texts.ts";

type Preset = {
  name: string;
  /** How to get the values, based on the vendor's documentation. */
  help: string;
  /** Label of the account and of the secret; absent if the gateway needs none. */
  account?: string;
  secret: string;
  /** Whether the sender is chosen in the request. Otherwise it is that of the device's SIM card. */
  from: boolean;
  /** Address of the service; null for a device with its own address. */
  url: string | null;
  /** Label and example of the address, if it can be another one. */
  ownUrl?: string;
};

/** Presets of the `sms` channel type, other than `custom`. */
export const smsPresets = {
  twilio: {
    name: "Twilio",
    help: t("The Account SID and the auth token are on the start page of the Twilio console."),
    account: t("Account SID"),
    secret: t("Auth token"),
    from: true,
    url: "https://api.twilio.com",
  },
  vonage: {
    name: "Vonage",
    help: t(
      "The API key and secret are on the start page of the Vonage dashboard. This is the SMS API, formerly Nexmo. Vonage can charge a little for delivery receipts, which come from its Reports API.",
    ),
    account: t("API key"),
    secret: t("API secret"),
    from: true,
    url: "https://rest.nexmo.com",
  },
  plivo: {
    name: "Plivo",
    help: t("The auth ID and the auth token are on the start page of the Plivo console."),
    account: t("Auth ID"),
    secret: t("Auth token"),
    from: true,
    url: "https://api.plivo.com",
  },
  telnyx: {
    name: "Telnyx",
    help: t(
      "Create an API key under Account settings, Keys & credentials. A name as the sender needs a messaging profile, which this preset does not set.",
    ),
    secret: t("API key"),
    from: true,
    url: "https://api.telnyx.com",
  },
  seven: {
    name: "seven.io",
    help: t("Create an API key under Developer, API keys."),
    secret: t("API key"),
    from: true,
    url: "https://gateway.seven.io",
  },
  "46elks": {
    name: "46elks",
    help: t("The API username and password are on the account page of the 46elks dashboard."),
    account: t("API username"),
    secret: t("API password"),
    from: true,
    url: "https://api.46elks.com",
  },
  messagebird: {
    name: "MessageBird",
    help: t(
      "Create a live access key under Developers, API access. This is MessageBird’s REST API, not the newer one of Bird.",
    ),
    secret: t("Access key"),
    from: true,
    url: "https://rest.messagebird.com",
  },
  smseagle: {
    name: "SMSEagle",
    help: t(
      "On the device, open Users, then “Access to API” of a user. Enable APIv2, generate a token, and allow sending SMS and reading messages, which shows whether they arrived.",
    ),
    secret: t("Access token"),
    from: false,
    url: null,
    ownUrl: "https://smseagle.lan",
  },
  teltonika: {
    name: t("Teltonika router"),
    help: t(
      "In the router open Services, Mobile Utilities, SMS Gateway, Post/Get: enable it and set a user name and password. The router sends one part per message.",
    ),
    account: t("User name"),
    secret: t("Password"),
    from: false,
    url: null,
    ownUrl: "http://192.168.1.1",
  },
  "sms-gate": {
    name: "SMS Gateway for Android",
    help: t(
      "The app shows the user name, the password and the address of its local server. Leave the address empty for the cloud server of sms-gate.app.",
    ),
    account: t("User name"),
    secret: t("Password"),
    from: false,
    url: "https://api.sms-gate.app/3rdparty/v1",
    ownUrl: "http://192.168.1.20:8080",
  },
} as const satisfies Readonly<Record<string, Preset>>;

export type SmsPreset = keyof typeof smsPresets;

/** Presets of the `voice` channel type, other than `custom`. */
export const voicePresets = {
  twilio: {
    name: "Twilio",
    help: t(
      "The Account SID and the auth token are on the start page of the Twilio console. The sender is a number that can make calls.",
    ),
    account: t("Account SID"),
    secret: t("Auth token"),
    from: true,
    url: "https://api.twilio.com",
  },
  vonage: {
    name: "Vonage",
    help: t(
      "In the Vonage dashboard create an application with Voice, link a number to it, and generate its key pair. Enter the private key in one line.",
    ),
    account: t("Application ID"),
    secret: t("Private key"),
    from: true,
    url: "https://api.nexmo.com",
  },
  plivo: {
    name: "Plivo",
    help: t(
      "The auth ID and the auth token are on the start page of the Plivo console. The sender is a number that can make calls. Plivo fetches the text of a call, so it works only with “serve --public-url”.",
    ),
    account: t("Auth ID"),
    secret: t("Auth token"),
    from: true,
    url: "https://api.plivo.com",
  },
  seven: {
    name: "seven.io",
    help: t(
      "Create an API key under Developer, API keys. The call only reads the text: alerts can't be acknowledged with a key.",
    ),
    secret: t("API key"),
    from: true,
    url: "https://gateway.seven.io",
  },
  "46elks": {
    name: "46elks",
    help: t(
      "The API username and password are on the account page of the 46elks dashboard. Its voice speaks only English, and reads 180 characters.",
    ),
    account: t("API username"),
    secret: t("API password"),
    from: true,
    url: "https://api.46elks.com",
  },
} as const satisfies Readonly<Record<string, Preset>>;

export type VoicePreset = keyof typeof voicePresets;

const presets = { sms: smsPresets, voice: voicePresets } as const;

/** Channel types whose messages a gateway sends. A contact method can use the gateway of such a channel. */
export type GatewayType = keyof typeof presets;
export const isGatewayType = (type: string): type is GatewayType => Object.hasOwn(presets, type);

/** Returns a preset; null for `custom`, and before one is chosen. */
export function findPreset(type: GatewayType, name: unknown): Preset | null {
  const all: Readonly<Record<string, Preset>> = presets[type];
  return typeof name === "string" && Object.hasOwn(all, name) ? (all[name] ?? null) : null;
}

/** Fields that only a custom gateway uses, because a preset decides them. */
const customFields = [
  "method",
  "headers",
  "bodyType",
  "body",
  "expectedStatus",
  "keyword",
  "jsonPath",
  "jsonEquals",
  "receiptIdPath",
  "receiptUrl",
  "receiptStatePath",
  "receiptDelivered",
  "receiptFailed",
] as const;

/** Fields of a contact method that uses the gateway of a channel. All others are those of the channel. */
export const recipientFields: readonly string[] = ["to", "language", "template"];

/** The settings that decide which fields a gateway needs. */
type GatewayChoice = { preset?: unknown; gatewayId?: unknown };

/** Lists the fields without effect, among `names`. */
export function listUnusedFields(
  type: GatewayType,
  { preset, gatewayId = null }: GatewayChoice,
  names: readonly string[],
): readonly string[] {
  if (gatewayId !== null) return names.filter((name) => !recipientFields.includes(name));
  const found = findPreset(type, preset);
  if (found === null) return [];
  return [
    ...customFields,
    ...(found.account === undefined ? ["account"] : []),
    ...(found.from ? [] : ["from"]),
    ...(found.ownUrl === undefined ? ["url"] : []),
  ];
}

/** Lists the required fields. */
export function listRequiredFields(
  type: GatewayType,
  { preset, gatewayId = null }: GatewayChoice,
): readonly string[] {
  if (gatewayId !== null) return [];
  if (preset === null) return ["preset"];
  const found = findPreset(type, preset);
  if (found === null) return ["url"];
  return [
    ...(found.account === undefined ? [] : ["account"]),
    "secret",
    ...(found.from ? ["from"] : []),
    ...(found.url === null ? ["url"] : []),
  ];
}

/** Placeholders in the URL, headers and body of a custom gateway. */
export const smsPlaceholders = [
  "to",
  "toDigits",
  "from",
  "text",
  "unicode",
  "account",
  "secret",
  "basic",
  "id",
] as const;

/** Placeholders of a custom gateway for calls: `{{callUrl}}` receives the pressed key, and is empty if it can't. */
export const voicePlaceholders = [
  "to",
  "toDigits",
  "from",
  "text",
  "language",
  "callUrl",
  "account",
  "secret",
  "basic",
  "id",
] as const;

/** Placeholders in the URL of a custom gateway's receipts: `{{receipt}}` is the ID of the message. */
export const receiptPlaceholders = [
  "receipt",
  "account",
  "secret",
  "basic",
  "to",
  "toDigits",
  "from",
] as const;
