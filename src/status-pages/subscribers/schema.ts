/** Wire format of subscribers, and of the webhook requests that they receive. */
import { incidentStatuses, severities } from "../../core/statuses.ts";
import { type PageLanguage, pageLanguages } from "../../core/languages.ts";
import { z } from "zod";
import { webhookUrl } from "../../alerting/channels/kinds/kind-schema.ts";
import { isSameOrigin, selfDestination } from "../../core/security/destinations.ts";
import { requestBounds, searchBounds, subscriberBounds } from "../../core/limits.ts";
import {
  bodySchema,
  EmailAddress,
  HttpUrl,
  Id,
  idSet,
  Severity,
  SigningSecret,
  Timestamp,
  toPatchShape,
} from "../../core/fields.ts";
import { defineKind, createInputSchema } from "../../core/kinds.ts";
import { pageFields } from "../../core/paging.ts";

/** A chat whose webhook URL contains the credential. */
const chat = defineKind({ webhookUrl }, { webhookUrl: selfDestination });

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
  slack: chat,
  teams: chat,
  discord: chat,
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

const Components = z.strictObject({
  monitorIds: idSet(subscriberBounds.monitors.value).default([]),
  groupIds: idSet(subscriberBounds.groups.value)
    .default([])
    .meta({ description: "With all monitors in them at the time of an update." }),
});

const Frequency = z.enum(["immediately", "weekly"]).meta({ id: "SubscriberFrequency" });

const about = {
  frequency:
    "Whether each update is sent at once, or a summary on Monday at 8:00 in the time zone of the page. Only mailboxes can have `weekly`.",
  language: "Language of its messages; null for the default language of the page.",
  incidents: "Whether it gets updates of incidents.",
  minimumSeverity:
    "Incidents below this severity are left out. Once an incident was reported, all its further updates are sent.",
  maintenance: "Whether it gets notices of maintenance.",
  components:
    "Monitors and groups of the page. Updates about other components are left out; updates about the whole page are sent. Null for everything.",
};

/** The notices that a subscriber chose. */
const choiceFields = {
  language: z.enum(pageLanguages).nullable().default(null).meta({ description: about.language }),
  incidents: z.boolean().default(true).meta({ description: about.incidents }),
  minimumSeverity: Severity.default("minor").meta({ description: about.minimumSeverity }),
  maintenance: z.boolean().default(true).meta({ description: about.maintenance }),
  components: Components.nullable().default(null).meta({ description: about.components }),
  frequency: Frequency.default("immediately").meta({ description: about.frequency }),
};

export type SubscriberChoice = {
  language: PageLanguage | null;
  incidents: boolean;
  minimumSeverity: Severity;
  maintenance: boolean;
  components: { monitorIds: string[]; groupIds: string[] } | null;
  frequency: "immediately" | "weekly";
};

export type NewSubscriber =
  | ({ type: "email"; email: string; confirmed: boolean } & SubscriberChoice)
  | ({ type: "webhook"; url: string; secret: string | null } & SubscriberChoice)
  | ({ type: "slack" | "teams" | "discord"; webhookUrl: string } & SubscriberChoice);

export const SubscriberPatch = bodySchema(
  [],
  z
    .strictObject(toPatchShape(choiceFields))
    .meta({ id: "SubscriberPatch", example: { minimumSeverity: "major" } }),
);
export type SubscriberPatch = z.infer<typeof SubscriberPatch>;

const body = bodySchema(
  readOnly,
  createInputSchema(subscriberKinds, choiceFields, {
    id: "NewSubscriber",
    example: { type: "email", email: "ann@team.example", confirmed: true },
  }),
);
export const NewSubscriber = body as unknown as z.ZodType<NewSubscriber, z.input<typeof body>>;

const Status = z.enum(["pending", "confirmed", "quarantined"]).meta({ id: "SubscriberStatus" });
const Type = z
  .enum(["email", "webhook", "slack", "teams", "discord"])
  .meta({ id: "SubscriberType" });

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
    email: z.string().nullable().meta({ description: "Null except for a mailbox." }),
    url: z.string().nullable().meta({
      description:
        "URL of a webhook; origin of a chat, whose webhook URL is secret; null for a mailbox.",
    }),
    status: Status.meta({
      description:
        "A `pending` subscriber gets only the confirmation question. A `quarantined` one gets nothing, because its mail server rejected the address, until it is released or signs up again and confirms.",
    }),
    language: z.enum(pageLanguages).nullable().meta({ description: about.language }),
    incidents: z.boolean().meta({ description: about.incidents }),
    minimumSeverity: Severity.meta({ description: about.minimumSeverity }),
    maintenance: z.boolean().meta({ description: about.maintenance }),
    components: z
      .object({ monitorIds: z.array(Id), groupIds: z.array(Id) })
      .nullable()
      .meta({ description: about.components }),
    frequency: Frequency.meta({ description: about.frequency }),
    secretsSet: z.array(z.string()),
    confirmedAt: Timestamp.nullable(),
    lastDeliveryAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    createdAt: Timestamp,
  })
  .meta({
    id: "Subscriber",
    description: "A mailbox, webhook or chat that is notified of updates of a status page.",
    example: {
      id: "01a1fb99-7a44-7d12-9e0b-2c4d6f8a1b3c",
      type: "email",
      email: "ann@team.example",
      url: null,
      status: "confirmed",
      language: null,
      incidents: true,
      minimumSeverity: "minor",
      maintenance: true,
      components: null,
      frequency: "immediately",
      secretsSet: [],
      confirmedAt: "2026-11-20T23:04:00.000Z",
      lastDeliveryAt: null,
      lastError: null,
      createdAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type Subscriber = z.infer<typeof Subscriber>;

export const SubscriberImport = bodySchema(
  [],
  z
    .strictObject({
      csv: z.string().min(1).max(requestBounds.body.value).meta({
        description:
          "Lines with a head. `email` or `address` is required; `language`, `incidents`, `minimumSeverity`, `maintenance`, `monitorIds` and `groupIds` (separated by spaces) are optional. The format of the export of the admin page.",
      }),
      confirmed: z
        .literal(true, "must be true: all owners of the addresses must have agreed")
        .meta({
          description: "Must be `true`: the owners have agreed. No confirmation link is sent.",
        }),
    })
    .meta({
      id: "SubscriberImport",
      example: { csv: "email,minimumSeverity\nann@team.example,major\n", confirmed: true },
    }),
);
export type SubscriberImport = z.infer<typeof SubscriberImport>;

export const ImportedSubscribers = z
  .object({
    added: z.int(),
    existing: z.int().meta({ description: "Addresses that were subscribed before, unchanged." }),
    skipped: z.int().meta({
      description:
        "Lines of webhooks and chats, whose secrets no export contains, and of unconfirmed or quarantined addresses.",
    }),
  })
  .meta({ id: "ImportedSubscribers", example: { added: 2, existing: 1, skipped: 0 } });
export type ImportedSubscribers = z.infer<typeof ImportedSubscribers>;

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

/** Notices of maintenance, in the order of its life. */
export const maintenanceNotices = [
  "maintenance.planned",
  "maintenance.changed",
  "maintenance.reminder",
  "maintenance.started",
  "maintenance.completed",
  "maintenance.cancelled",
] as const;

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
      type: z.enum(maintenanceNotices),
      timestamp: Timestamp,
      data: z.object({ page: PageReference, maintenance: NoticedMaintenance }),
    }),
  ])
  .meta({ id: "SubscriberWebhookBody" });
