/** Wire format of alert channels. */
import { z } from "zod";
import { bodySchema, line, Timestamp } from "../../core/fields.ts";
import { createInputSchema, createPatchSchema, createReadSchema } from "../../core/kinds.ts";
import { channelKinds } from "./kinds-schema.ts";

/** Fields of every channel type. */
export const channelFields = {
  name: line(255).meta({ example: "On-call" }),
  enabled: z.boolean().default(true),
  default: z.boolean().default(false).meta({ description: "Added to every new monitor." }),
  incidents: z.boolean().default(true).meta({
    description:
      "Also notified when an incident is opened, updated or resolved. An incident that a monitor opened automatically alerts only channels that are not attached to that monitor.",
  }),
};

const readOnly = ["id", "lastDeliveryAt", "lastError", "secretsSet", "createdAt", "updatedAt"];

const newChannelSchema = createInputSchema(channelKinds, channelFields, {
  id: "NewAlertChannel",
  example: { type: "webhook", name: "Deploy bot", url: "http://bot.lan/alerts" },
});
export const NewAlertChannel = bodySchema(
  readOnly,
  newChannelSchema.superRefine((channel, context) => {
    const issue = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    const { type, key, urls, tag, token, username, password } = channel;
    if (type === "apprise") {
      if (key === null && urls === null) issue("key", "is required without urls");
      if (key !== null && urls !== null) issue("urls", "must be null with a key");
      if (key === null && tag !== null) issue("tag", "must be null without a key");
    }
    if (type === "ntfy") {
      if (username !== null && token !== null) issue("token", "must be null with a username");
      if (username !== null && password === null) issue("password", "is required with a username");
      if (username === null && password !== null) issue("username", "is required with a password");
    }
  }),
);
export type NewAlertChannel = z.infer<typeof newChannelSchema>;

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
