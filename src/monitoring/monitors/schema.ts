/** Wire format of monitors: input, patch, response and list query. */
import { monitorStatuses, priorities } from "../../core/statuses.ts";
import { z } from "zod";
import {
  bodySchema,
  Id,
  idSet,
  integer,
  line,
  optionalParagraphs,
  InputTimestamp,
  searchText,
  Severity,
  Tags,
  Timestamp,
  nullable,
} from "../../core/fields.ts";
import { createInputSchema, createPatchSchema, createReadSchema } from "../../core/kinds.ts";
import { alertBounds } from "../../core/limits.ts";
import { pageFields } from "../../core/paging.ts";
import { isObject } from "../../core/collections/objects.ts";
import { DependsOn } from "../dependencies/schema.ts";
import { detailsOfTypes } from "./details-rules.ts";
import { monitorKinds } from "./kinds-schema.ts";
import { findPauseConflict, type GivenPause } from "./pause-rules.ts";
import { type HttpRequests, listRequestIssues } from "./request-schema.ts";

const defaultTimeout = 10;

/** Default timeout in seconds, at most the interval. */
export const computeDefaultTimeout = (interval: number) => Math.min(defaultTimeout, interval);

/** Fields of all monitor types. */
export const monitorFields = {
  name: line(255).meta({ example: "Intranet" }),
  description: optionalParagraphs(2000)
    .default("")
    .meta({ description: "What it is for, as Markdown." }),
  groupId: nullable(Id),
  tags: Tags.default([]),
  interval: integer(5, 86_400).default(60).meta({ description: "Seconds between two checks." }),
  timeout: integer(1, 60)
    .optional()
    .meta({
      description: `Seconds until a check fails. At most the interval, and by default ${defaultTimeout} s if the interval allows it.`,
    }),
  retries: integer(0, 10)
    .default(1)
    .meta({ description: "Further failures in a row before the monitor is down." }),
  confirmations: integer(1, 9).default(1).meta({
    description:
      "Machines that have to see it fail before it is down, where several serve the same data: this many, or all where there are fewer.",
  }),
  retryInterval: integer(1, 86_400).default(10).meta({
    description:
      "Seconds to the next check after a failure, while not yet down; at most the interval.",
  }),
  degradedAfterMs: nullable(integer(1, 60_000)),
  successThreshold: integer(1, 10).default(1).meta({
    description: "Good results in a row before the monitor is up again.",
  }),
  inverted: z.boolean().default(false).meta({
    description:
      "Up when the check fails, down when it succeeds, even when that is slow. Without effect on manual monitors.",
  }),
  paused: z.boolean().default(false).meta({
    description: "Not checked. `true` without `pausedUntil` has no end, and `false` ends it.",
  }),
  pausedUntil: nullable(InputTimestamp).meta({
    description:
      "When it resumes automatically, at most 365 days from now; pauses the monitor. Null for a pause without an end.",
  }),
  muted: z.boolean().default(false).meta({ description: "Checked, but sends no alerts." }),
  alertChannelIds: idSet(500).default([]),
  dependsOn: DependsOn,
  autoIncidentSeverity: nullable(Severity).meta({
    description: "Opens an incident of this severity when the monitor goes down.",
  }),
  reminderInterval: nullable(integer(alertBounds.reminderInterval.value, 604_800)).meta({
    description: "Seconds between reminders while it is down.",
  }),
  escalationPolicyId: nullable(Id).meta({
    description: "Null for the organization's default escalation policy.",
  }),
  priority: z.enum(priorities).default("normal").meta({
    description: "How urgent its alerts are.",
  }),
};

const detailNames = Object.entries(detailsOfTypes).map(
  ([type, details]) =>
    `${type}: ${Object.keys(details)
      .map((name) => `\`${name}\``)
      .join(", ")}`,
);

export const MonitorDetails = z.record(z.string(), z.union([z.string(), z.number()])).meta({
  description: `Values that the last check found in addition to its result; empty without any. A text has at most 200 characters, and is omitted if it repeats a secret of the monitor. By type: ${detailNames.join("; ")}.`,
});

const readOnly = [
  "id",
  "status",
  "statusSince",
  "lastCheckedAt",
  "lastMessage",
  "notJudgedSince",
  "latencyMs",
  "uptime24h",
  "certificateExpiresAt",
  "details",
  "numberValue",
  "pushUrl",
  "pingUrl",
  "screenshotAt",
  "secretsSet",
  "createdAt",
  "updatedAt",
];

const inputSchema = createInputSchema(monitorKinds, monitorFields, {
  id: "NewMonitor",
  example: { type: "http", name: "Intranet", url: "http://intranet.lan/health" },
});

/** Rejects an end of a pause together with `paused: false`. */
export function refinePause(change: GivenPause, context: z.RefinementCtx) {
  const message = findPauseConflict(change);
  if (message !== null) context.addIssue({ code: "custom", path: ["pausedUntil"], message });
}

type ParsedMonitor = z.infer<typeof inputSchema>;
export type NewMonitor = ParsedMonitor & { timeout: number };

/** Pauses a new monitor whose pause has an end, unless the request sets `paused`. */
const pauseUntilEnd = (body: z.input<typeof inputSchema>) =>
  isObject(body) && body["paused"] === undefined && typeof body["pausedUntil"] === "string"
    ? { ...body, paused: true }
    : body;

export const NewMonitor = bodySchema(
  readOnly,
  z
    .preprocess(pauseUntilEnd, inputSchema)
    .superRefine((monitor, context) => {
      const addIssue = (path: string, message: string) =>
        context.addIssue({ code: "custom", path: [path], message });
      refinePause(monitor, context);
      if ((monitor.timeout ?? 0) > monitor.interval)
        addIssue("timeout", `must be at most the interval, ${monitor.interval} s`);
      if (monitor.type === "composite") {
        const isCounted = ["count", "percentage"].includes(monitor["mode"] as string);
        if (isCounted && monitor["minimum"] === null)
          addIssue("minimum", `is required where mode is ${String(monitor["mode"])}`);
        if (!isCounted && monitor["minimum"] !== null)
          addIssue("minimum", `must be null where mode is ${String(monitor["mode"])}`);
      }
      if (monitor.type !== "http") return;
      const [certificate, key] = [monitor["clientCertificate"], monitor["clientKey"]];
      if (certificate === null && key !== null)
        addIssue("clientCertificate", "is required where clientKey is given");
      if (certificate !== null && key === null)
        addIssue("clientKey", "is required where clientCertificate is given");
      if (monitor["connectTo"] !== null && monitor["proxyUrl"] !== null)
        addIssue("connectTo", "can't be used with proxyUrl: the proxy resolves the address");
      for (const { path, message } of listRequestIssues(monitor as unknown as HttpRequests))
        context.addIssue({ code: "custom", path, message });
    })
    .transform((monitor): NewMonitor => ({
      ...monitor,
      timeout: monitor.timeout ?? computeDefaultTimeout(monitor.interval),
    })),
);

export const MonitorPatch = createPatchSchema(monitorKinds, monitorFields, readOnly, {
  id: "MonitorPatch",
  example: { paused: true },
}).superRefine(refinePause);
export type MonitorPatch = z.infer<typeof MonitorPatch>;

const MonitorStatus = z.enum(monitorStatuses).meta({ id: "MonitorStatus" });

const seconds = z.int().min(0).meta({ description: "Seconds." });
const milliseconds = z.int().min(0).meta({ description: "Milliseconds." });

export const Monitor = createReadSchema(
  monitorKinds,
  {
    name: z.string(),
    description: z.string(),
    groupId: Id.nullable(),
    tags: z.array(z.string()),
    interval: seconds,
    timeout: seconds,
    retries: z.int().min(0),
    confirmations: z.int().min(1),
    retryInterval: seconds,
    degradedAfterMs: milliseconds.nullable(),
    successThreshold: z.int().min(1),
    inverted: z.boolean(),
    paused: z.boolean(),
    pausedUntil: Timestamp.nullable(),
    muted: z.boolean(),
    alertChannelIds: z.array(Id),
    dependsOn: z.array(Id),
    autoIncidentSeverity: Severity.nullable(),
    reminderInterval: seconds.nullable(),
    escalationPolicyId: Id.nullable(),
    priority: z.enum(priorities),
    status: MonitorStatus,
    statusSince: Timestamp,
    lastCheckedAt: Timestamp.nullable(),
    lastMessage: z.string().nullable().meta({
      description:
        "Message of the last check. While the monitor is down, a check that could not be judged does not change it.",
    }),
    notJudgedSince: Timestamp.nullable().meta({
      description:
        "Since when it can't be judged, for trouble of this appliance itself: `status` is then the last known one. Null while its checks are judged.",
    }),
    latencyMs: milliseconds.nullable(),
    uptime24h: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({ description: "0 to 1; null when nothing was measured." }),
    certificateExpiresAt: Timestamp.nullable(),
    details: MonitorDetails,
    numberValue: z.number().nullable().meta({
      description: "Value of its `number` at the last check; null if the check found none.",
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  {
    id: "Monitor",
    description: "One thing being watched. Its secrets are write-only.",
    example: {
      id: "01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35",
      type: "tcp",
      name: "Database",
      description: "",
      groupId: null,
      tags: ["production"],
      interval: 60,
      timeout: 10,
      retries: 1,
      confirmations: 1,
      retryInterval: 10,
      degradedAfterMs: null,
      successThreshold: 1,
      inverted: false,
      paused: false,
      pausedUntil: null,
      muted: false,
      alertChannelIds: [],
      dependsOn: [],
      autoIncidentSeverity: null,
      reminderInterval: null,
      escalationPolicyId: null,
      priority: "normal",
      status: "pending",
      statusSince: "2026-11-20T23:02:00.000Z",
      lastCheckedAt: null,
      lastMessage: null,
      notJudgedSince: null,
      latencyMs: null,
      uptime24h: null,
      certificateExpiresAt: null,
      details: {},
      numberValue: null,
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
      host: "db.lan",
      port: 5432,
      send: null,
      expect: null,
      secretsSet: [],
    },
  },
);
export type Monitor = z.infer<typeof Monitor>;

export const MonitorQuery = z.strictObject({
  ...pageFields,
  status: MonitorStatus.optional(),
  type: z.enum(Object.keys(monitorKinds) as [string]).optional(),
  groupId: Id.optional(),
  tag: line(50).optional(),
  q: searchText().optional().meta({ description: "Text that the name contains, in any case." }),
  paused: z.enum(["true", "false"]).optional(),
});
export type MonitorQuery = z.infer<typeof MonitorQuery>;

/** IDs of several monitors. */
export const monitorIds = idSet(5_000);

/** All monitors of a group in dashboard order. A null `groupId` means the ungrouped list. */
export const MonitorOrder = z.strictObject({ groupId: Id.nullable(), monitorIds });
export type MonitorOrder = z.infer<typeof MonitorOrder>;
