/** Wire format of alerts: problems that people are notified of, from start to end. */
import { z } from "zod";
import { Id, instant, paragraphs, Timestamp } from "../../core/fields.ts";
import { pageFields } from "../../core/paging.ts";
import { actorTypes, priorities } from "../../core/statuses.ts";
import { AlertType, Delivery, deliveryExample } from "../schema.ts";
import { alertStatuses, endings } from "./rules.ts";

const AlertStatus = z.enum(alertStatuses).meta({
  id: "AlertStatus",
  description:
    "`acknowledged`: someone takes care of it. `snoozed`: it returns at a time. Both stop reminders.",
});

/** One or several statuses, separated by commas. */
const StatusList = z
  .string()
  .max(100)
  .transform((text) => [...new Set(text.split(","))])
  .pipe(z.array(AlertStatus).max(alertStatuses.length))
  .meta({
    override: {
      type: "string",
      description: "One status, or several: `open,acknowledged`.",
      example: "open,acknowledged",
    },
  });

export const AlertQuery = z.strictObject({
  ...pageFields,
  status: StatusList.optional(),
  monitorId: Id.optional().meta({ description: "Only of this monitor." }),
  sourceId: Id.optional().meta({ description: "Only of this alert source." }),
  incidentId: Id.optional().meta({ description: "Only of this incident." }),
  type: AlertType.optional().meta({ description: "Type of the last message about the problem." }),
  priority: z.enum(priorities).optional(),
});
export type AlertQuery = z.output<typeof AlertQuery>;

const AlertActor = z.object({
  type: z.enum(actorTypes),
  id: z.string().nullable(),
  name: z.string(),
});

const Acknowledgment = AlertActor.extend({ at: Timestamp });

const alertFields = {
  id: Id.meta({ description: "The id of its first message." }),
  type: AlertType.meta({ description: "Type of the last message about the problem." }),
  title: z.string().meta({ example: "Shop is down" }),
  at: Timestamp.meta({ description: "Time of the last message about the problem." }),
  data: z.record(z.string(), z.unknown()).meta({
    description: "The content of that message, as in the body of a webhook.",
  }),
  subject: z.object({
    type: z.enum([
      "monitor",
      "incident",
      "channel",
      "problem",
      "policy",
      "person",
      "schedule",
      "source",
    ]),
    id: z.string().meta({ description: "For a problem of the appliance, its name." }),
  }),
  status: AlertStatus,
  priority: z.enum(priorities),
  since: Timestamp.meta({ description: "Start of the problem." }),
  resolvedAt: Timestamp.nullable(),
  resolvedBecause: z.enum(endings).nullable().meta({
    description:
      "Why it ended. Only `recovered` means that the problem is over. A drill ends when it is acknowledged, or after its last step: `unacknowledged`, or `unreached` if no message arrived.",
  }),
  acknowledgments: z.array(Acknowledgment).meta({ description: "Oldest first." }),
  snoozedUntil: Timestamp.nullable(),
  coveredBy: Id.optional().meta({
    description:
      "The alert of another monitor that is down for the same cause, whose messages cover this one. Present when alerts are read.",
  }),
  secondsToAcknowledge: z
    .int()
    .nullable()
    .meta({ description: "Time from the start to the first acknowledgment." }),
};

const alertExample = {
  id: "01a1fb99-4f00-7c40-b2a9-0d4c6e8f1b23",
  type: "monitor.down" as const,
  title: "Shop is down",
  at: "2026-11-20T23:02:00.000Z",
  data: {
    monitor: {
      id: "01a1fb98-1f2e-7d3c-8b4a-59687766a5b4",
      name: "Shop",
      type: "http",
      groupId: null,
      groupName: null,
      target: "https://shop.example/health",
      tags: ["production"],
      description: "",
    },
    since: "2026-11-20T23:02:00.000Z",
    message: "The connection was refused.",
    latencyMs: null,
  },
  subject: { type: "monitor" as const, id: "01a1fb98-1f2e-7d3c-8b4a-59687766a5b4" },
  status: "acknowledged" as const,
  priority: "normal" as const,
  since: "2026-11-20T23:02:00.000Z",
  resolvedAt: null,
  resolvedBecause: null,
  acknowledgments: [
    {
      type: "person" as const,
      id: "01a1fb90-6a10-7c3d-9e21-0b1c2d3e4f50",
      name: "Ann",
      at: "2026-11-20T23:04:10.000Z",
    },
  ],
  snoozedUntil: null,
  secondsToAcknowledge: 130,
};

export const AlertSummary = z
  .object(alertFields)
  .meta({ id: "Alert", description: "A problem, from start to end.", example: alertExample });
export type AlertSummary = z.infer<typeof AlertSummary>;

export const NewSnooze = z
  .strictObject({
    until: instant.meta({
      override: {
        type: "string",
        format: "date-time",
        description: "When the alert returns, at most 30 days from now.",
      },
    }),
  })
  .meta({ id: "NewSnooze", example: { until: "2026-11-21T07:00:00.000Z" } });
export type NewSnooze = z.output<typeof NewSnooze>;

export const NewAlertNote = z
  .strictObject({ message: paragraphs(2000) })
  .meta({ id: "NewAlertNote", example: { message: "The provider works on it." } });
export type NewAlertNote = z.output<typeof NewAlertNote>;

const timelineTypes = [
  "opened",
  "changed",
  "sent",
  "delivered",
  "failed",
  "skipped",
  "acknowledged",
  "unacknowledged",
  "snoozed",
  "returned",
  "noted",
  "held",
  "joined",
  "escalated",
  "links-revoked",
  "resolved",
] as const;

export const TimelineEntry = z
  .object({
    at: Timestamp,
    type: z.enum(timelineTypes),
    message: z.string().nullable().meta({
      description: "The title of a message, the text of a note, or the reason of a failure.",
    }),
    actor: AlertActor.nullable(),
    channel: z
      .object({
        id: Id,
        name: z.string().nullable().meta({
          description:
            "Name, with the person's if it is a contact method. After a deletion, its last name; null if the audit log no longer has it.",
        }),
      })
      .nullable(),
  })
  .meta({
    id: "AlertTimelineEntry",
    example: {
      at: "2026-11-20T23:06:00.000Z",
      type: "noted",
      message: "The provider works on it.",
      actor: { type: "person", id: "01a1fb90-6a10-7c3d-9e21-0b1c2d3e4f50", name: "Ann" },
      channel: null,
    },
  });
export type TimelineEntry = z.infer<typeof TimelineEntry>;

export const AlertWithDeliveries = z
  .object({
    ...alertFields,
    notifiedPeople: z
      .array(z.object({ id: Id, name: z.string() }))
      .meta({ description: "People whom messages about it notified." }),
    timeline: z.array(TimelineEntry).meta({ description: "Oldest first." }),
    deliveries: z.array(Delivery).meta({
      description: "Messages about it, oldest first: the newest 500.",
    }),
  })
  .meta({
    id: "AlertWithDeliveries",
    example: {
      ...alertExample,
      notifiedPeople: [{ id: "01a1fb90-6a10-7c3d-9e21-0b1c2d3e4f50", name: "Ann" }],
      timeline: [
        {
          at: "2026-11-20T23:02:00.000Z",
          type: "opened",
          message: "Shop is down",
          actor: null,
          channel: null,
        },
      ],
      deliveries: [deliveryExample],
    },
  });
export type AlertWithDeliveries = z.infer<typeof AlertWithDeliveries>;
