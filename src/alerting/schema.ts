/** Wire format of messages: their types, deliveries and webhook payloads. */
import { z } from "zod";
import { SmtpPatch } from "../accounts/settings/schema.ts";
import { EmailAddress, Id, Severity, Timestamp } from "../core/fields.ts";
import { problemNames, problemSeverities } from "../core/problems.ts";
import { pageFields } from "../core/paging.ts";
import { priorities } from "../core/statuses.ts";

export const AlertType = z
  .enum([
    "monitor.down",
    "monitor.up",
    "monitor.degraded",
    "monitor.reminder",
    "monitor.flapping",
    "certificate.expiring",
    "incident.opened",
    "incident.updated",
    "incident.resolved",
    "channel.failed",
    "appliance.troubled",
    "appliance.recovered",
    "source.opened",
    "source.changed",
    "source.resolved",
    "drill",
    "shift.starting",
    "test",
  ])
  .meta({ id: "AlertType" });
export type AlertType = z.infer<typeof AlertType>;

export const PageQuery = z.strictObject(pageFields);
export type PageQuery = z.output<typeof PageQuery>;

const DeliveryAttempt = z
  .object({
    at: Timestamp,
    outcome: z.enum(["delivered", "failed"]),
    message: z.string().meta({ description: "One sentence, without text of the receiver." }),
    durationMs: z.int(),
  })
  .meta({ id: "DeliveryAttempt" });

export const deliveryExample = {
  id: "01a1fb99-5b10-7a02-8d11-6f0e2c4b9a55",
  channelId: "01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46",
  type: "monitor.down",
  caseChange: null,
  status: "pending" as const,
  alertIds: ["01a1fb99-4f00-7c40-b2a9-0d4c6e8f1b23"],
  attempts: [
    {
      at: "2026-11-20T23:02:05.120Z",
      outcome: "failed" as const,
      message: "The receiver responded with HTTP 500 (Internal Server Error).",
      durationMs: 41,
    },
  ],
  error: "The receiver responded with HTTP 500 (Internal Server Error).",
  nextAttemptAt: "2026-11-20T23:02:10.161Z",
  createdAt: "2026-11-20T23:02:00.102Z",
  deliveredAt: null,
  receipt: null,
  receiptAt: null,
};

export const Delivery = z
  .object({
    id: Id.meta({ description: "The same on every attempt." }),
    channelId: Id,
    type: z.string().meta({ description: "The alert's type, or `digest` for several at once." }),
    caseChange: z.enum(["acknowledge", "unacknowledge"]).nullable().meta({
      description:
        "How it changes the open case at PagerDuty, Jira Service Management or Opsgenie. Null for any other message.",
    }),
    status: z.enum(["pending", "delivered", "failed", "skipped"]),
    alertIds: z.array(Id),
    attempts: z.array(DeliveryAttempt).meta({ description: "Oldest first." }),
    error: z.string().nullable().meta({
      description: "Reason for which it is not delivered: of the last attempt, or of skipping it.",
    }),
    nextAttemptAt: Timestamp.nullable().meta({ description: "Null unless it is pending." }),
    createdAt: Timestamp,
    deliveredAt: Timestamp.nullable(),
    receipt: z.string().nullable().meta({
      description:
        "Whether a text message reached the phone, as a sentence. Null while that is unknown, and for gateways and channels without receipts.",
    }),
    receiptAt: Timestamp.nullable(),
  })
  .meta({
    id: "Delivery",
    description: "One message to one channel, with its attempts.",
    example: deliveryExample,
  });
export type Delivery = z.infer<typeof Delivery>;

const PreviewedChannel = z.object({ id: Id, name: z.string(), type: z.string() });

export const PreviewedStep = z.object({
  step: z.int().nullable().meta({
    description: "From 1. Null for the end, when nobody acknowledged.",
  }),
  round: z.int().meta({ description: "Number of repetitions before it." }),
  at: Timestamp,
  message: z.string().meta({ description: "Whom it notifies, or why it reaches nobody." }),
  notifications: z
    .array(
      z.object({
        at: Timestamp,
        held: z.boolean().meta({
          description:
            "Whether quiet hours hold it until `at`. It is not sent if the alert is over.",
        }),
        channel: z.object({ id: Id, name: z.string() }),
        person: z.object({ id: Id, name: z.string() }).nullable(),
      }),
    )
    .meta({ description: "Messages, to alert channels and contact methods of people." }),
});

const PreviewedPolicy = z.object({
  id: Id,
  name: z.string(),
  reason: z.string().nullable().meta({
    description: "Why it would notify no one, such as a muted monitor. There are no steps then.",
  }),
  steps: z.array(PreviewedStep),
});

export const AlertPreview = z
  .object({
    at: Timestamp.meta({ description: "Start of the outage." }),
    policy: PreviewedPolicy.nullable().meta({
      description:
        "The escalation policy of the monitor, with all steps until someone acknowledges the alert. Null for none.",
    }),
    told: z.array(PreviewedChannel),
    notTold: z.array(PreviewedChannel.extend({ reason: z.string() })),
  })
  .meta({
    id: "AlertPreview",
    description:
      "Which channels would be alerted of an outage at once, and why the others would not: every channel of the organization once. Then whom the escalation policy would notify, and when.",
    example: {
      at: "2026-12-01T23:02:00.000Z",
      policy: {
        id: "01a1fb99-8b20-7d4e-9c5b-6a7988b6c5d4",
        name: "Shop",
        reason: null,
        steps: [
          {
            step: 1,
            round: 0,
            at: "2026-12-01T23:02:00.000Z",
            message: "Ada Lovelace (on call in Platform)",
            notifications: [
              {
                at: "2026-12-01T23:02:00.000Z",
                held: false,
                channel: { id: "01a1fb99-9c31-7e5f-8d6c-7b8a99c7d6e5", name: "Phone" },
                person: { id: "01a1fb99-5e83-7f22-8d4b-6c8e0f2a4b57", name: "Ada Lovelace" },
              },
            ],
          },
        ],
      },
      told: [{ id: "01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46", name: "On-call", type: "slack" }],
      notTold: [
        {
          id: "01a1fb99-6e01-7f00-a1b2-c3d4e5f60718",
          name: "Office",
          type: "email",
          reason: "Office is disabled.",
        },
      ],
    },
  });
export type AlertPreview = z.infer<typeof AlertPreview>;

const WebhookMonitor = z.object({
  id: Id,
  name: z.string(),
  type: z.string(),
  groupId: Id.nullable(),
  groupName: z.string().nullable(),
  target: z.string().nullable().meta({
    description:
      "The monitored target: a host with its port, or a URL without its query, which can contain secrets; null for a push monitor.",
  }),
  tags: z.array(z.string()),
  description: z.string().meta({ description: "Its first 500 characters." }),
});
const alertId = Id.meta({
  description: "Stable for one alert: the same for every channel, alone or in a digest.",
});
const acknowledgedBy = z.array(z.string()).optional().meta({
  description: "Names of the people who acknowledged the alert before this message.",
});
const escalation = z
  .object({
    policy: z.string().nullable().meta({ description: "Its name; null if it was deleted." }),
    step: z.int().nullable().meta({ description: "From 1; null if nobody acknowledged any." }),
    steps: z.int().nullable(),
  })
  .optional()
  .meta({ description: "Present if an escalation policy sent the message." });
const url = z.string().meta({ format: "uri", description: "The page of the subject." });
const acknowledgeUrl = z.string().optional().meta({
  format: "uri",
  description:
    "Shows the alert, and acknowledges it with POST, without an API key. It is for one alert and one channel, and works until the alert ends. Recoveries and tests have none.",
});
const channelData = z.object({
  alertId,
  channel: z.object({ id: Id, name: z.string(), type: z.string() }),
  message: z.string(),
  acknowledgedBy,
  escalation,
  url,
  acknowledgeUrl,
});
const problemData = {
  alertId,
  problem: z.enum(problemNames).meta({ description: "Name of the problem of the appliance." }),
  node: z
    .string()
    .optional()
    .meta({ description: "Id of the machine with the problem, if several serve the same data." }),
  message: z.string(),
  acknowledgedBy,
  escalation,
  url,
  acknowledgeUrl,
};
const monitorData = {
  alertId,
  monitor: WebhookMonitor,
  since: Timestamp,
  message: z.string(),
  latencyMs: z.int().nullable(),
  downSeconds: z.int().optional(),
  behind: z.int().optional().meta({
    description:
      "Number of other monitors that depend on this one, whose alerts are held while it is down.",
  }),
  joined: z
    .object({
      place: z.string().meta({ example: "on db1.lan" }),
      count: z.int(),
      monitors: z.array(z.object({ id: Id, name: z.string() })),
    })
    .optional()
    .meta({
      description:
        "Other monitors that are down for the same cause, and have no alert of their own: what all have in common, their number, and the first ones.",
    }),
  acknowledgedBy,
  escalation,
  url,
  acknowledgeUrl,
};
const incidentData = z.object({
  alertId,
  incident: z.object({
    id: Id,
    title: z.string(),
    status: z.string(),
    severity: Severity,
    monitorId: Id.nullable().meta({ description: "The first of `monitorIds`." }),
    monitorIds: z.array(Id).optional(),
  }),
  message: z.string(),
  acknowledgedBy,
  escalation,
  url,
  acknowledgeUrl,
});

const drillData = z.object({
  alertId,
  drill: z
    .object({ type: z.enum(["policy", "person"]), id: Id, name: z.string() })
    .meta({ description: "The escalation policy or person that the drill notifies." }),
  message: z.string(),
  acknowledgedBy,
  escalation,
  url,
  acknowledgeUrl,
});
const sourceData = z.object({
  alertId,
  source: z
    .object({ id: Id, name: z.string(), type: z.string() })
    .meta({ description: "The alert source whose tool reported the problem." }),
  report: z.object({
    id: Id.meta({ description: "The same for all reports with this key." }),
    key: z.string().meta({ description: "The tool's identity of the problem." }),
    title: z.string(),
    link: z.string().nullable(),
    priority: z.enum(priorities),
  }),
  since: Timestamp,
  message: z.string(),
  openSeconds: z.int().optional(),
  acknowledgedBy,
  escalation,
  url,
  acknowledgeUrl,
});
const shiftData = z.object({
  alertId,
  shift: z.object({
    scheduleId: Id,
    scheduleName: z.string(),
    personId: Id,
    personName: z.string(),
    startsAt: Timestamp,
    endsAt: Timestamp.nullable().meta({ description: "Null if later than 62 days." }),
  }),
  message: z.string(),
  url,
});

const defineBody = <T extends z.ZodType>(type: z.ZodType, data: T) =>
  z.object({ type, timestamp: Timestamp, data });

const WebhookAlert = z
  .union([
    defineBody(
      z.enum(["monitor.down", "monitor.up", "monitor.degraded", "monitor.reminder"]),
      z.object(monitorData),
    ),
    defineBody(z.literal("monitor.flapping"), z.object({ ...monitorData, changes: z.int() })),
    defineBody(
      z.literal("certificate.expiring"),
      z.object({ ...monitorData, expiresAt: Timestamp, daysLeft: z.int() }),
    ),
    defineBody(z.enum(["incident.opened", "incident.updated", "incident.resolved"]), incidentData),
    defineBody(z.enum(["channel.failed", "test"]), channelData),
    defineBody(
      z.literal("appliance.troubled"),
      z.object({ ...problemData, severity: z.enum(problemSeverities) }),
    ),
    defineBody(z.literal("appliance.recovered"), z.object(problemData)),
    defineBody(z.enum(["source.opened", "source.changed", "source.resolved"]), sourceData),
    defineBody(z.literal("drill"), drillData),
    defineBody(z.literal("shift.starting"), shiftData),
  ])
  .meta({ id: "WebhookAlert" });

/** Request body of a `webhook` channel. */
export const WebhookBody = z
  .union([
    WebhookAlert,
    defineBody(z.literal("digest"), z.object({ alerts: z.array(WebhookAlert) })),
  ])
  .meta({ id: "WebhookBody" });

/** A test mail. `smtp` contains unsaved settings; without it, the stored mail server is used. */
export const NewTestMail = z.strictObject({ to: EmailAddress, smtp: SmtpPatch.optional() });
export type NewTestMail = z.output<typeof NewTestMail>;

/** Outcome of a test, with a sentence that explains it. */
/** The key with which a browser subscribes to messages of this appliance, as Base64url (RFC 8292). */
export const WebPushKey = z.object({ publicKey: z.string() });

export const TestOutcome = z.object({ delivered: z.boolean(), message: z.string() });
export type TestOutcome = z.infer<typeof TestOutcome>;
