/** Wire format of alert channels. */
import { z } from "zod";
import { bodySchema, line, Timestamp } from "../../core/fields.ts";
import { createInputSchema, createPatchSchema, createReadSchema } from "../../core/kinds.ts";
import type { Fields } from "../../core/collections/objects.ts";
import {
  hasHostPlaceholder,
  isJsonTemplate,
  listPlaceholderNames,
  stripWords,
} from "../../core/text/placeholders.ts";
import { isSameOrigin } from "../../core/security/destinations.ts";
import { formatPlaceholders } from "../../core/text/formatting.ts";
import { channelKinds } from "./kinds-schema.ts";
import { caseKinds } from "./kinds/cases-schema.ts";
import { personalKinds } from "./kinds/push-schema.ts";
import {
  type GatewayType,
  isGatewayType,
  listRequiredFields,
  listUnusedFields,
  smsPlaceholders,
  voicePlaceholders,
} from "./gateway-rules.ts";
import { gatewayFields, initialGatewayValueOf } from "./gateway-schema.ts";
import { webhookPlaceholders } from "./webhook-rules.ts";
import { messageKinds, notifyOn, QuietHours, quietHours } from "./routing-schema.ts";

/** Fields of every channel type. */
export const channelFields = {
  name: line(255).meta({ example: "On-call" }),
  enabled: z.boolean().default(true),
  default: z.boolean().default(false).meta({ description: "Added to every new monitor." }),
  incidents: z.boolean().default(true).meta({
    description:
      "Also notified when an incident is opened, updated or resolved. An incident that a monitor opened automatically alerts only channels that are not attached to that monitor.",
  }),
  notifyOn,
  quietHours,
};

/** Types that open a case per problem. Their services decide when to notify people. */
export const caseTypes: ReadonlySet<string> = new Set(Object.keys(caseKinds));

const readOnly = ["id", "lastDeliveryAt", "lastError", "secretsSet", "createdAt", "updatedAt"];

const newChannelSchema = createInputSchema(channelKinds, channelFields, {
  id: "NewAlertChannel",
  example: { type: "webhook", name: "Deploy bot", url: "http://bot.lan/alerts" },
});
type ChannelIssue = { path: string; message: string };

/** Finds issues that involve several fields of a channel or contact method. */
export function listChannelIssues({ type, ...channel }: Fields): ChannelIssue[] {
  if (channel["quietHours"] !== null && caseTypes.has(type as string))
    return [{ path: "quietHours", message: "must be null: set quiet hours at the service" }];
  if (type === "apprise") return listAppriseIssues(channel);
  if (type === "ntfy" || type === "alertmanager") return listLoginIssues(channel);
  if (type === "mqtt" && channel["username"] === null && channel["password"] !== null)
    return [{ path: "username", message: "is required with a password" }];
  if (type === "webhook") return listWebhookIssues(channel);
  return isGatewayType(type as string) ? listGatewayIssues(type as GatewayType, channel) : [];
}

function listAppriseIssues({ key, urls, tag }: Fields): ChannelIssue[] {
  return [
    ...(key === null && urls === null
      ? [{ path: "key", message: "is required without urls" }]
      : []),
    ...(key !== null && urls !== null
      ? [{ path: "urls", message: "must be null with a key" }]
      : []),
    ...(key === null && tag !== null
      ? [{ path: "tag", message: "must be null without a key" }]
      : []),
  ];
}

function listLoginIssues({ token, username, password }: Fields): ChannelIssue[] {
  const issues: ChannelIssue[] = [];
  if (username !== null && token !== null)
    issues.push({ path: "token", message: "must be null with a username" });
  if (username !== null && password === null)
    issues.push({ path: "password", message: "is required with a username" });
  if (username === null && password !== null)
    issues.push({ path: "username", message: "is required with a password" });
  return issues;
}

function listWebhookIssues({ url, headers, method, bodyType, body }: Fields): ChannelIssue[] {
  const issues = listTemplateIssues(webhookPlaceholders, { url, headers, method, body });
  if (bodyType === "json" && typeof body === "string" && !isJsonTemplate(body))
    issues.push({ path: "body", message: "must be JSON, because bodyType is json" });
  return issues;
}

/** Finds issues of the placeholders in a request that a person describes. */
function listTemplateIssues(
  names: readonly string[],
  { url, headers, method, body }: Fields,
): ChannelIssue[] {
  const issues: ChannelIssue[] = [];
  if (typeof url === "string" && hasHostPlaceholder(url))
    issues.push({ path: "url", message: "must not have a placeholder before its path" });
  const known = new Set(names);
  const values = Object.values(headers as Record<string, string | null>);
  if (
    values.some((value) =>
      listPlaceholderNames(value ?? "").some((name) => !known.has(stripWords(name))),
    )
  )
    issues.push({
      path: "headers",
      message: `must use no other placeholders than ${formatPlaceholders(names).join(", ")}`,
    });
  if (method === "GET" && body !== null)
    issues.push({ path: "body", message: "must be null with method GET" });
  return issues;
}

function listGatewayIssues(type: GatewayType, channel: Fields): ChannelIssue[] {
  const { preset, gatewayId = null, url, bodyType, body } = channel;
  const { jsonPath, jsonEquals } = channel;
  const choice = gatewayId === null ? `preset ${preset as string}` : "a gatewayId";
  const issues: ChannelIssue[] = [];
  const issue = (path: string, message: string) => issues.push({ path, message });
  for (const path of listRequiredFields(type, channel))
    if (channel[path] === null) issue(path, "is required");
  for (const path of listUnusedFields(type, channel, Object.keys(gatewayFields[type]))) {
    const initialValue = initialGatewayValueOf(type, path);
    if (JSON.stringify(channel[path]) === JSON.stringify(initialValue)) continue;
    issue(path, `must be ${initialValue === null ? "null" : "absent"} with ${choice}`);
  }
  const names = type === "sms" ? smsPlaceholders : voicePlaceholders;
  issues.push(...listTemplateIssues(names, channel));
  if (preset !== "custom" && typeof url === "string" && listPlaceholderNames(url).length > 0)
    issue("url", `must have no placeholders with preset ${preset as string}`);
  if (bodyType === "json" && typeof body === "string" && !isJsonTemplate(body))
    issue("body", "must be JSON, because bodyType is json");
  if (jsonPath === null && jsonEquals !== null)
    issue("jsonPath", "is required where jsonEquals is given");
  return [...issues, ...listReceiptIssues(channel)];
}

/** Finds issues of a custom gateway's receipts. Its secrets are sent only to the server of `url`. */
function listReceiptIssues({ url, ...channel }: Fields): ChannelIssue[] {
  const { receiptIdPath, receiptUrl, receiptStatePath } = channel;
  const delivered = channel["receiptDelivered"] as readonly string[];
  const failed = channel["receiptFailed"] as readonly string[];
  if (receiptUrl === null)
    return [
      ...(receiptIdPath === null ? [] : ["receiptIdPath"]),
      ...(receiptStatePath === null ? [] : ["receiptStatePath"]),
      ...(delivered.length === 0 ? [] : ["receiptDelivered"]),
      ...(failed.length === 0 ? [] : ["receiptFailed"]),
    ].map((path) => ({ path, message: "requires a receiptUrl" }));
  const issues: ChannelIssue[] = [];
  if (receiptIdPath === null)
    issues.push({ path: "receiptIdPath", message: "is required with a receiptUrl" });
  if (delivered.length === 0)
    issues.push({ path: "receiptDelivered", message: "is required with a receiptUrl" });
  if (hasHostPlaceholder(receiptUrl as string) || !isSameOrigin(url, receiptUrl))
    issues.push({ path: "receiptUrl", message: "must be on the server of url" });
  if (!listPlaceholderNames(receiptUrl as string).includes("receipt"))
    issues.push({ path: "receiptUrl", message: "must contain {{receipt}}" });
  return issues;
}

export const NewAlertChannel = bodySchema(
  readOnly,
  newChannelSchema.superRefine((channel, context) => {
    for (const { path, message } of listChannelIssues(channel))
      context.addIssue({ code: "custom", message, path: [path] });
  }),
);
export type NewAlertChannel = z.infer<typeof newChannelSchema>;

/** A channel of a type that only contact methods can have. */
export const PersonalChannel = createInputSchema(personalKinds, channelFields, {
  id: "PersonalChannel",
});

export const AlertChannelPatch = createPatchSchema(channelKinds, channelFields, readOnly, {
  id: "AlertChannelPatch",
  example: { enabled: false },
});
export type AlertChannelPatch = z.infer<typeof AlertChannelPatch>;

export const AlertChannel = createReadSchema(
  channelKinds,
  {
    name: z.string(),
    enabled: z.boolean(),
    default: z.boolean(),
    incidents: z.boolean(),
    notifyOn: z.array(z.enum(messageKinds)),
    quietHours: QuietHours.nullable(),
    lastDeliveryAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  {
    id: "AlertChannel",
    description: "A target of alerts. Its secrets are write-only.",
    example: {
      id: "01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46",
      type: "slack",
      name: "On-call",
      enabled: true,
      default: true,
      incidents: true,
      notifyOn: [...messageKinds],
      quietHours: null,
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
