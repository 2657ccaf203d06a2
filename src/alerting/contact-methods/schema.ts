/** Wire format of contact methods: how one person is reached, and after how many minutes. */
import { z } from "zod";
import { bodySchema, Id, integer, line, nullable, Timestamp } from "../../core/fields.ts";
import { createInputSchema, createPatchSchema, createReadSchema } from "../../core/kinds.ts";
import { contactBounds } from "../../core/limits.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { isGatewayType } from "../channels/gateway-rules.ts";
import { channelKinds } from "../channels/kinds-schema.ts";
import { personalKinds } from "../channels/kinds/push-schema.ts";
import { QuietHours, quietHours } from "../channels/routing-schema.ts";
import { channelFields, listChannelIssues } from "../channels/schema.ts";

const { email, ntfy, pushover, telegram, gotify, webhook } = channelKinds;

/** Makes the gateway of a type optional, because that of a channel can be used instead. */
function makePresetOptional<K extends (typeof channelKinds)["sms" | "voice"]>(kind: K): K {
  const preset = nullable(kind.fields.preset);
  const [fields, shown] = [kind.fields, kind.shown].map((all) => ({ ...all, preset }));
  return { ...kind, fields, shown };
}

const sms = makePresetOptional(channelKinds.sms);
const voice = makePresetOptional(channelKinds.voice);

/** Channel types that can reach a single person. */
export const contactKinds = {
  ...personalKinds,
  email,
  ntfy,
  pushover,
  telegram,
  sms,
  voice,
  gotify,
  webhook,
};
export type ContactType = keyof typeof contactKinds;

const createMinutesField = (priority: string) =>
  integer(0, contactBounds.afterMinutes.value)
    .nullable()
    .default(0)
    .meta({
      description: `Minutes from the page of an alert ${priority} to the use of this method; null for never.`,
    });

const gatewayId = nullable(Id).meta({
  description:
    "An SMS or voice channel of the organization, of the same type, whose gateway sends the messages. The method then has only its number, and needs neither `preset` nor secrets. Null with its own gateway, and for other types.",
});

export const contactFields = {
  name: line(255).meta({ example: "Phone" }),
  enabled: z.boolean().default(true),
  gatewayId,
  afterMinutes: createMinutesField("of low or normal priority"),
  criticalAfterMinutes: createMinutesField("of critical priority"),
  quietHours: quietHours.meta({
    description:
      "Hours in which only messages about critical alerts, and recoveries of reported problems, are sent at once. For other alerts, the person can't be reached through this method, so that the next step of the escalation policy runs. Its messages are sent together at the end of the hours, unless the alert is over or acknowledged by then. Null for none.",
  }),
};

const readOnly = ["id", "verifiedAt", "lastDeliveryAt", "lastError", "secretsSet"];
const timestamps = ["createdAt", "updatedAt"];

const newContactMethod = createInputSchema(
  contactKinds,
  {
    ...contactFields,
    personId: Id.optional().meta({
      description: "The owner. Your own account if absent; required with an API key.",
    }),
  },
  {
    id: "NewContactMethod",
    example: {
      type: "email",
      name: "Mail",
      personId: "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4c",
      to: ["ada@team.example"],
    },
  },
);

/** Finds issues that involve several fields, such as a method that would reach several people. */
function addContactIssues(method: Fields, context: z.RefinementCtx<unknown>) {
  const { type, to, gatewayId: gateway } = method as { type: string; to?: unknown } & Fields;
  const issues = [
    ...(type === "email" && Array.isArray(to) && to.length > 1
      ? [{ path: "to", message: "must be one address" }]
      : []),
    ...(gateway !== null && !isGatewayType(type)
      ? [{ path: "gatewayId", message: `must be null with type ${type}` }]
      : []),
    ...listChannelIssues(method),
  ];
  for (const { path, message } of issues)
    context.addIssue({ code: "custom", path: [path], message });
}

export const NewContactMethod = bodySchema(
  [...readOnly, ...timestamps],
  newContactMethod.superRefine(addContactIssues),
);
export type NewContactMethod = z.infer<typeof newContactMethod>;

/** A complete contact method as a channel, after a patch. */
export const PatchedContactMethod = createInputSchema(
  contactKinds,
  { ...channelFields, gatewayId },
  { id: "PatchedContactMethod" },
).superRefine(addContactIssues);

export const ContactMethodPatch = createPatchSchema(
  contactKinds,
  contactFields,
  [...readOnly, ...timestamps, "personId"],
  { id: "ContactMethodPatch", example: { afterMinutes: 3 } },
);
export type ContactMethodPatch = z.infer<typeof ContactMethodPatch>;

export const ContactMethod = createReadSchema(
  contactKinds,
  {
    personId: Id,
    name: z.string(),
    enabled: z.boolean(),
    afterMinutes: z.int().nullable(),
    criticalAfterMinutes: z.int().nullable(),
    gatewayId: Id.nullable(),
    quietHours: QuietHours.nullable(),
    verifiedAt: Timestamp.nullable().meta({
      description: "When the person entered the last code. Only verified methods are used.",
    }),
    lastDeliveryAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  {
    id: "ContactMethod",
    description: "A way to reach one person. Its secrets are write-only.",
    example: {
      id: "01a1fb99-ad40-7f60-9e7d-8c9baad8e7f6",
      type: "email",
      personId: "01a1fb99-9c30-7e5f-8d6c-7b8a99c7d6e5",
      name: "Mail",
      enabled: true,
      afterMinutes: 0,
      criticalAfterMinutes: 0,
      gatewayId: null,
      quietHours: null,
      to: ["ada@team.example"],
      template: null,
      verifiedAt: "2026-11-20T23:05:00.000Z",
      lastDeliveryAt: null,
      lastError: null,
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
      secretsSet: [],
    },
  },
);
export type ContactMethod = z.infer<typeof ContactMethod>;

export const ContactMethodQuery = z.strictObject({
  personId: Id.optional().meta({
    description: "The owner. Your own account if absent; required with an API key.",
  }),
});
export type ContactMethodQuery = z.output<typeof ContactMethodQuery>;

export const VerificationCode = z
  .strictObject({
    code: z
      .string()
      .regex(/^\d{6}$/, "must be the six digits of the message")
      .meta({ example: "482913" }),
  })
  .meta({ id: "VerificationCode" });
export type VerificationCode = z.output<typeof VerificationCode>;

/** Outcome of a message to a contact method, with a sentence that explains it. */
export const ContactOutcome = z
  .object({ delivered: z.boolean(), message: z.string() })
  .meta({ id: "ContactOutcome", example: { delivered: true, message: "Delivered." } });
export type ContactOutcome = z.infer<typeof ContactOutcome>;
