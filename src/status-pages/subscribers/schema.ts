/** Wire format of subscribers, and of the webhook requests that they receive. */
import { incidentStatuses, severities } from "../../core/statuses.ts";
import { type PageLanguage, pageLanguages } from "../../core/languages.ts";
import { z } from "zod";
import { isSameOrigin } from "../../core/security/destinations.ts";
import { searchBounds } from "../../core/limits.ts";
import {
  bodySchema,
  EmailAddress,
  HttpUrl,
  Id,
  SigningSecret,
  Timestamp,
} from "../../core/fields.ts";
import { defineKind, createInputSchema } from "../../core/kinds.ts";
import { pageFields } from "../../core/paging.ts";

export const subscriberKinds = {
  email: defineKind({
    email: EmailAddress,
    confirmed: z.boolean().default(false).meta({
      description:
        "True if the owner has already agreed. Otherwise the mailbox gets a confirmation link.",
    }),
  }),
  webhook: defineKind(
    {
      url: HttpUrl,
      secret: SigningSecret.nullable().default(null),
    },
    { secret: { url: isSameOrigin } },
  ),
};

const readOnly = [
  "id",
  "status",
  "secretsSet",
  "confirmedAt",
  "lastDeliveryAt",
  "lastError",
  "createdAt",
];

export type NewSubscriber =
  | ({ type: "email"; email: string; confirmed: boolean } & SubscriberLanguage)
  | ({ type: "webhook"; url: string; secret: string | null } & SubscriberLanguage);

type SubscriberLanguage = { language: PageLanguage | null };

const language = z.enum(pageLanguages).nullable().meta({
  description: "Language of its messages; null for the default language of the page.",
});

const body = bodySchema(
  readOnly,
  createInputSchema(
    subscriberKinds,
    { language: language.default(null) },
    { id: "NewSubscriber", example: { type: "email", email: "ann@team.example", confirmed: true } },
  ),
);
export const NewSubscriber = body as unknown as z.ZodType<NewSubscriber, z.input<typeof body>>;

const Status = z.enum(["pending", "confirmed"]).meta({ id: "SubscriberStatus" });
const Type = z.enum(["email", "webhook"]).meta({ id: "SubscriberType" });

export const SubscriberQuery = z.strictObject({
  ...pageFields,
  type: Type.optional(),
  status: Status.optional(),
  q: z
    .string()
    .max(searchBounds.text.value)
    .optional()
    .meta({ description: "Part of the address." }),
});
export type SubscriberQuery = z.output<typeof SubscriberQuery>;

export const Subscriber = z
  .object({
    id: Id,
    type: Type,
    email: z.string().nullable().meta({ description: "Null for a webhook." }),
    url: z.string().nullable().meta({ description: "Null for a mailbox." }),
    status: Status.meta({
      description: "A `pending` subscriber gets only the confirmation question.",
    }),
    language,
    secretsSet: z.array(z.string()),
    confirmedAt: Timestamp.nullable(),
    lastDeliveryAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    createdAt: Timestamp,
  })
  .meta({
    id: "Subscriber",
    description: "A mailbox or webhook that is notified of updates of a status page.",
    example: {
      id: "01a1fb99-7a44-7d12-9e0b-2c4d6f8a1b3c",
      type: "email",
      email: "ann@team.example",
      url: null,
      status: "confirmed",
      language: null,
      secretsSet: [],
      confirmedAt: "2026-11-20T23:04:00.000Z",
      lastDeliveryAt: null,
      lastError: null,
      createdAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type Subscriber = z.infer<typeof Subscriber>;

const PageReference = z.object({ title: z.string(), url: z.string() });

/** An incident in a notice to subscribers. */
export const NoticedIncident = z.object({
  id: Id,
  title: z.string(),
  status: z.enum(incidentStatuses),
  severity: z.enum(severities),
  monitor: z.string().nullable().meta({ description: "The first of `monitors`." }),
  // Absent in notices of older versions.
  monitors: z
    .array(z.string())
    .optional()
    .meta({ description: "Public names of the affected monitors that the page shows." }),
  createdAt: Timestamp,
  resolvedAt: Timestamp.nullable(),
});

export const NoticedMaintenance = z.object({
  id: Id,
  title: z.string(),
  description: z.string(),
  startsAt: Timestamp,
  endsAt: Timestamp,
});

/** Request body that a subscribed webhook receives. */
export const SubscriberWebhookBody = z
  .union([
    z.object({
      type: z.enum([
        "incident.opened",
        "incident.updated",
        "incident.resolved",
        "incident.postmortem",
      ]),
      timestamp: Timestamp,
      data: z.object({
        page: PageReference,
        incident: NoticedIncident.extend({ url: z.string() }),
        message: z.string().meta({ description: "The update, or the postmortem." }),
      }),
    }),
    z.object({
      type: z.literal("maintenance.planned"),
      timestamp: Timestamp,
      data: z.object({ page: PageReference, maintenance: NoticedMaintenance }),
    }),
  ])
  .meta({ id: "SubscriberWebhookBody" });
