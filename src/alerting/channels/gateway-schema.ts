/** Fields and labels of channel types whose messages a gateway sends: text messages and calls. */
import { t } from "../../core/text/texts.ts";
import { z } from "zod";
import {
  Headers,
  HttpUrl,
  integer,
  limitPlaceholders,
  line,
  nullable,
  optionalParagraphs,
  PhoneNumber,
  secret,
  SmsSender,
} from "../../core/fields.ts";
import type { FieldLabels } from "../../core/kinds.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { smsBounds } from "../../core/limits.ts";
import { formatPlaceholders } from "../../core/text/formatting.ts";
import { conditionFields } from "../../monitoring/monitors/request-schema.ts";
import {
  findPreset,
  type GatewayType,
  listUnusedFields,
  receiptPlaceholders,
  smsPlaceholders,
  smsPresets,
  voicePlaceholders,
  voicePresets,
} from "./gateway-rules.ts";

const { expectedStatus, keyword, jsonPath, jsonEquals } = conditionFields;
const formatHint = (names: readonly string[]) =>
  t("Placeholders: {names}.", { names: formatPlaceholders(names).join(" ") });

const receiptWords = z.array(line(100)).max(20).default([]);

/** Fields with which a custom gateway reports whether its messages arrived. */
const receiptFields = {
  receiptIdPath: jsonPath.meta({
    description:
      "JSON path of the message's ID in the response, for `receiptUrl`. Null if the gateway has no receipts.",
    example: "$.id",
  }),
  receiptUrl: nullable(
    limitPlaceholders(HttpUrl, receiptPlaceholders).meta({ format: undefined }),
  ).meta({
    description:
      "URL that returns the state of a message, on the server of `url`. It is requested with the same headers, until the state is in one of the lists.",
    example: "http://sms.lan/messages/{{receipt}}",
  }),
  receiptStatePath: jsonPath.meta({
    description: "JSON path of the state in that response. Null if its whole text is the state.",
    example: "$.state",
  }),
  receiptDelivered: receiptWords.meta({
    description: "States of a message that reached the phone, in any case.",
    example: ["delivered"],
  }),
  receiptFailed: receiptWords.meta({
    description:
      "States of a message that will not reach the phone. It counts as a failed delivery.",
    example: ["undelivered", "expired"],
  }),
};

/** Fields of the request of a custom gateway. */
const createRequestFields = (names: readonly string[], meanings: string, example: string) => ({
  // With placeholders, it is not in the format "uri".
  url: nullable(limitPlaceholders(HttpUrl, names).meta({ format: undefined })).meta({
    description:
      "Address of a device, or the URL to which a custom gateway's requests are sent. Null for the vendor's own.",
    example: "http://sms.lan/send?to={{to}}&text={{text}}",
  }),
  method: z.enum(["POST", "PUT", "GET"]).default("POST"),
  headers: Headers.default({}),
  bodyType: z.enum(["json", "form", "text"]).default("json").meta({
    description:
      "Format of `body`, in which placeholders are escaped: JSON, `name=value&…`, or text.",
  }),
  body: nullable(limitPlaceholders(optionalParagraphs(4_000), names)).meta({
    description: `Body of a custom gateway's request. ${formatHint(names)} \`{{toDigits}}\` is the number without +, ${meanings}, \`{{basic}}\` is the Base64 of account and secret for Basic authentication, \`{{id}}\` is the same on every attempt.`,
    example,
  }),
  expectedStatus,
  keyword,
  jsonPath,
  jsonEquals,
  ...receiptFields,
});

const createPresetField = <P extends string>(names: readonly P[]) =>
  z.enum([...names, "custom"] as [P, ...P[], "custom"]).meta({
    description:
      "The gateway. A preset knows the requests of a vendor; `custom` sends the request that you describe.",
    example: "twilio",
  });

const account = nullable(line(255)).meta({
  description: "User name, account or key at the gateway.",
});

const createDailyLimit = (defaultValue: number) =>
  integer(1, smsBounds.messages.value).default(defaultValue).meta({
    description:
      "Messages per day in UTC, including tests. Further deliveries are skipped, which counts as a failure.",
  });

/** Languages that the voices of Twilio and Vonage speak. */
const languages = {
  "en-US": t("English (US)"),
  "en-GB": t("English (UK)"),
  "en-AU": t("English (Australia)"),
  "da-DK": t("Danish"),
  "de-DE": t("German"),
  "es-ES": t("Spanish (Spain)"),
  "es-MX": t("Spanish (Mexico)"),
  "fr-FR": t("French"),
  "it-IT": t("Italian"),
  "ja-JP": t("Japanese"),
  "nb-NO": t("Norwegian"),
  "nl-NL": t("Dutch"),
  "pl-PL": t("Polish"),
  "pt-BR": t("Portuguese (Brazil)"),
  "pt-PT": t("Portuguese (Portugal)"),
  "sv-SE": t("Swedish"),
} as const;

export const gatewayFields = {
  sms: {
    preset: createPresetField(Object.keys(smsPresets) as (keyof typeof smsPresets)[]),
    to: PhoneNumber,
    account,
    secret: nullable(secret()),
    from: nullable(SmsSender).meta({
      description: "Phone number or name of the sender. Devices send from their own number.",
    }),
    ...createRequestFields(
      smsPlaceholders,
      "`{{unicode}}` is true for a text outside GSM-7",
      '{ "to": "{{to}}", "text": "{{text}}" }',
    ),
    maxParts: integer(1, smsBounds.parts.value).default(2).meta({
      description:
        "Parts after which a text is cut. One part has 160 characters, or 70 if one of them is outside GSM-7.",
    }),
    dailyLimit: createDailyLimit(50),
  },
  voice: {
    preset: createPresetField(Object.keys(voicePresets) as (keyof typeof voicePresets)[]),
    to: PhoneNumber,
    // A private key is longer than other secrets.
    account,
    secret: nullable(secret(4_000)),
    from: nullable(PhoneNumber).meta({ description: "Number that the call comes from." }),
    ...createRequestFields(
      voicePlaceholders,
      "`{{language}}` is the language of the voice, `{{callUrl}}` receives the pressed key as `digits`, and is empty without `serve --public-url`",
      '{ "to": "{{to}}", "say": "{{text}}" }',
    ),
    language: z
      .enum(Object.keys(languages) as [keyof typeof languages])
      .default("en-US")
      .meta({
        description:
          "Language of the voice. The text is English; use `template` for a text in another language. Ignored by `seven` and `46elks`.",
      }),
    dailyLimit: createDailyLimit(20),
  },
};

const smsLabels = {
  preset: {
    label: t("Gateway"),
    placeholder: t("Choose a gateway"),
    hint: t("A provider, your own device, or any HTTP interface."),
    options: {
      ...Object.fromEntries(Object.entries(smsPresets).map(([name, of]) => [name, of.name])),
      custom: t("Custom HTTP gateway"),
    },
  },
  account: { label: t("Account"), hint: t("{{account}} in the request.") },
  secret: { label: t("Secret"), hint: t("{{secret}} in the request.") },
  from: {
    label: t("From"),
    placeholder: "+491701234567",
    hint: t("A phone number or name that your account can send from."),
  },
  to: { label: t("To"), placeholder: "+491701234567", hint: t("With + and the country code.") },
  url: {
    label: "URL",
    placeholder: "http://sms.lan/send",
    mono: true,
    hint: formatHint(smsPlaceholders),
  },
  method: { label: t("Method"), options: { POST: "POST", PUT: "PUT", GET: "GET" } },
  headers: { label: t("Headers") },
  bodyType: {
    label: t("Body format"),
    hint: t("Placeholders are escaped for it."),
    options: { json: "JSON", form: t("Form: name=value&…"), text: t("Text") },
  },
  body: {
    label: t("Body"),
    placeholder: '{ "to": "{{to}}", "text": "{{text}}" }',
    long: true,
    mono: true,
  },
  expectedStatus: { label: t("Statuses of an accepted message") },
  keyword: { label: t("Text in the response"), hint: t("Of an accepted message. Optional.") },
  jsonPath: {
    label: t("JSON path in the response"),
    placeholder: "$.status",
    hint: t("Of an accepted message. Optional."),
    mono: true,
  },
  jsonEquals: { label: t("Value at the JSON path"), hint: t("Leave empty to accept any value.") },
  receiptIdPath: {
    label: t("JSON path of the message’s ID"),
    placeholder: "$.id",
    hint: t("In the response, for the receipt. Optional."),
    mono: true,
  },
  receiptUrl: {
    label: t("URL of the receipt"),
    placeholder: "http://sms.lan/messages/{{receipt}}",
    hint: t("Returns whether the message arrived. {{receipt}} is the message’s ID. Optional."),
    mono: true,
  },
  receiptStatePath: {
    label: t("JSON path of the state"),
    placeholder: "$.state",
    hint: t("In the receipt. Leave empty if its whole text is the state."),
    mono: true,
  },
  receiptDelivered: { label: t("States of a delivered message"), hint: t("Such as delivered.") },
  receiptFailed: {
    label: t("States of a failed message"),
    hint: t("Such as undelivered or expired."),
  },
  maxParts: {
    label: t("Parts per message"),
    hint: t(
      "A longer text is cut. One part has 160 characters, or 70 with emojis or other scripts.",
    ),
  },
  dailyLimit: {
    label: t("Messages per day"),
    hint: t("Protects from costs. Further messages are skipped until midnight UTC, and reported."),
  },
} satisfies Readonly<Record<string, FieldLabels>>;

const { maxParts: _parts, ...sharedLabels } = smsLabels;

export const gatewayLabels = {
  sms: smsLabels,
  voice: {
    ...sharedLabels,
    preset: {
      ...smsLabels.preset,
      hint: t("A provider, or any HTTP interface."),
      options: {
        ...Object.fromEntries(Object.entries(voicePresets).map(([name, of]) => [name, of.name])),
        custom: t("Custom HTTP gateway"),
      },
    },
    from: { ...smsLabels.from, hint: t("A phone number that your account can call from.") },
    url: {
      ...smsLabels.url,
      placeholder: "http://phone.lan/call",
      hint: formatHint(voicePlaceholders),
    },
    expectedStatus: { label: t("Statuses of an accepted call") },
    keyword: { label: t("Text in the response"), hint: t("Of an accepted call. Optional.") },
    jsonPath: { ...smsLabels.jsonPath, hint: t("Of an accepted call. Optional.") },
    receiptIdPath: { ...smsLabels.receiptIdPath, label: t("JSON path of the call’s ID") },
    receiptUrl: {
      ...smsLabels.receiptUrl,
      placeholder: "http://phone.lan/calls/{{receipt}}",
      hint: t("Returns whether the call was answered. {{receipt}} is the call’s ID. Optional."),
    },
    receiptDelivered: { label: t("States of an answered call"), hint: t("Such as completed.") },
    receiptFailed: { label: t("States of a failed call"), hint: t("Such as busy or no-answer.") },
    language: {
      label: t("Language of the voice"),
      hint: t("The standard text is English. For another language, write your own below."),
      options: languages,
    },
    dailyLimit: {
      label: t("Calls per day"),
      hint: t("Protects from costs. Further calls are skipped until midnight UTC, and reported."),
    },
  },
} satisfies Record<GatewayType, Readonly<Record<string, FieldLabels>>>;

/** Lists the fields that have no effect. Before a gateway is chosen, its required fields are unknown. */
export function listUnusedGatewayFields(type: GatewayType, settings: Fields): readonly string[] {
  const names = Object.keys(gatewayFields[type]);
  return settings["preset"] == null && settings["gatewayId"] == null
    ? names.filter((name) => name !== "preset")
    : listUnusedFields(type, settings, names);
}

/** Resets fields that another gateway does not use, unless the patch sets them. */
export function clearGatewayFields(type: GatewayType, after: Fields, before: Fields): Fields {
  if (after["preset"] === before["preset"] && after["gatewayId"] === before["gatewayId"])
    return after;
  const unused = listUnusedFields(type, after, Object.keys(gatewayFields[type])).filter(
    (name) => JSON.stringify(after[name]) === JSON.stringify(before[name]),
  );
  const initial = unused.map((name) => [name, initialGatewayValueOf(type, name)]);
  return { ...after, ...(Object.fromEntries(initial) as Fields) };
}

/** Returns the value of a field that was never set. */
export function initialGatewayValueOf(type: GatewayType, name: string): unknown {
  const fields: Readonly<Record<string, z.ZodType>> = gatewayFields[type];
  return fields[name]?.safeParse(undefined).data ?? null;
}

/** Returns the labels of account, secret and address for a preset, and its help. */
export function adaptGatewayLabels(type: GatewayType, preset: unknown) {
  const found = findPreset(type, preset);
  if (found === null) return { labels: {} };
  const { help, account: label = "", secret: secretLabel, ownUrl = "" } = found;
  const defaultHint = found.url !== null && {
    hint: t("Leave empty for {url}.", { url: found.url }),
  };
  return {
    help,
    labels: {
      account: { label },
      secret: { label: secretLabel },
      url: { label: t("Address"), placeholder: ownUrl, mono: true, ...defaultHint },
    },
  };
}
