/** Wire format of alert sources: their fields, the log of their requests, and the preview of a sample. */
import { z } from "zod";
import {
  bodySchema,
  Id,
  idSet,
  integer,
  line,
  nullable,
  Severity,
  Timestamp,
  toPatchShape,
} from "../../core/fields.ts";
import { sourceBounds } from "../../core/limits.ts";
import { pageFields } from "../../core/paging.ts";
import { priorities } from "../../core/statuses.ts";
import { JsonPath } from "../../monitoring/monitors/assertions-schema.ts";
import { MailRules } from "./mail-schema.ts";

export const sourceTypes = [
  "alertmanager",
  "grafana",
  "pagerduty",
  "opsgenie",
  "uptime-kuma",
  "zabbix",
  "checkmk",
  "sentry",
  "aws-sns",
  "email",
  "json",
] as const;
export type SourceType = (typeof sourceTypes)[number];

const createValuesField = (defaultValues: readonly string[]) =>
  z
    .array(line(100))
    .max(20)
    .default([...defaultValues]);

export const SourceMapping = z
  .strictObject({
    alerts: nullable(JsonPath).meta({
      description:
        "Path of the list of alerts. The other paths then start at an alert of it. Null for a request with one alert.",
      example: "$.alerts",
    }),
    key: JsonPath.meta({
      description: "Identity of the problem. Reports with the same one are the same alert.",
      example: "$.id",
    }),
    status: nullable(JsonPath).meta({
      description: "Null if every request is a problem.",
      example: "$.state",
    }),
    openValues: createValuesField([]).meta({
      description: "Statuses of a problem. If empty, all that the other lists don't name.",
    }),
    acknowledgedValues: createValuesField(["acknowledged"]),
    resolvedValues: createValuesField(["resolved", "ok", "up", "closed"]).meta({
      description: "Statuses of a problem that is over, without regard to case.",
    }),
    title: JsonPath.meta({ example: "$.title" }),
    text: nullable(JsonPath).meta({ example: "$.description" }),
    priority: nullable(JsonPath).meta({
      description:
        "Words such as `critical`, `error`, `warning` and `info` are understood. Any other one is a normal priority.",
      example: "$.severity",
    }),
    link: nullable(JsonPath).meta({ example: "$.url" }),
  })
  .meta({ id: "AlertSourceMapping" });
export type SourceMapping = z.output<typeof SourceMapping>;

export const sourceFields = {
  name: line(255).meta({ example: "Prometheus" }),
  type: z.enum(sourceTypes).meta({ description: "Format of its requests." }),
  enabled: z.boolean().default(true).meta({
    description: "A disabled source ignores requests, and its open alerts end.",
  }),
  alertChannelIds: idSet(50)
    .default([])
    .meta({ description: "Alert channels that are notified, in this order." }),
  escalationPolicyId: nullable(Id).meta({
    description: "Null for none. The default policy is only for monitors.",
  }),
  priority: nullable(z.enum(priorities)).meta({
    description: "Priority of all its alerts. Null for the priority that the sender names.",
  }),
  incidentSeverity: nullable(Severity).meta({
    description:
      "Severity of the incident that each alert opens, and resolves at its end. Null for no incidents.",
  }),
  resolveAfterMinutes: nullable(integer(1, 43_200)).meta({
    description:
      "Minutes without a report after which an alert is resolved, for senders that never report the end. Null for never.",
  }),
  mapping: nullable(SourceMapping).meta({
    description: "Paths that find an alert in a request. Only for the type `json`.",
  }),
  mailRules: nullable(MailRules).meta({
    description:
      "What mails report. Only for the type `email`. Null for the usual words in their subjects.",
  }),
};

type SourceOptions = {
  type: SourceType;
  mapping: SourceMapping | null;
  mailRules: MailRules | null;
};

/** Finds issues that involve several fields of a source. */
function listSourceIssues({ type, mapping, mailRules }: SourceOptions) {
  if (type === "json" && mapping === null)
    return [{ path: "mapping", message: "is required for the type json" }];
  if (type !== "json" && mapping !== null)
    return [{ path: "mapping", message: `must be null for the type ${type}` }];
  if (type !== "email" && mailRules !== null)
    return [{ path: "mailRules", message: `must be null for the type ${type}` }];
  return [];
}

const readOnly = ["id", "address", "openAlerts", "lastRequestAt", "createdAt", "updatedAt"];

export const WholeSource = z
  .strictObject(sourceFields)
  .superRefine((source, context) => {
    for (const { path, message } of listSourceIssues(source))
      context.addIssue({ code: "custom", message, path: [path] });
  })
  .meta({ id: "NewAlertSource", example: { name: "Prometheus", type: "alertmanager" } });

export const NewAlertSource = bodySchema(readOnly, WholeSource);
export type NewAlertSource = z.output<typeof WholeSource>;

export const AlertSourcePatch = bodySchema(
  readOnly,
  z
    .strictObject(toPatchShape(sourceFields))
    .meta({ id: "AlertSourcePatch", example: { priority: "critical" as const } }),
);
export type AlertSourcePatch = z.output<typeof AlertSourcePatch>;

const sourceExample = {
  id: "01a1fb99-c120-7d4e-9c5b-6a7988b6c5d4",
  name: "Prometheus",
  type: "alertmanager" as const,
  enabled: true,
  alertChannelIds: ["01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46"],
  escalationPolicyId: null,
  priority: null,
  incidentSeverity: null,
  resolveAfterMinutes: null,
  mapping: null,
  mailRules: null,
  address: "https://signalbox.example/in/Q0…",
  openAlerts: 1,
  lastRequestAt: "2026-11-20T23:02:00.000Z",
  createdAt: "2026-11-20T23:02:00.000Z",
  updatedAt: "2026-11-20T23:02:00.000Z",
};

export const AlertSource = z
  .object({
    id: Id,
    name: z.string(),
    type: z.enum(sourceTypes),
    enabled: z.boolean(),
    alertChannelIds: z.array(Id),
    escalationPolicyId: Id.nullable(),
    priority: z.enum(priorities).nullable(),
    incidentSeverity: Severity.nullable(),
    resolveAfterMinutes: z.int().nullable(),
    mapping: SourceMapping.nullable(),
    mailRules: MailRules.nullable(),
    address: z.string().nullable().meta({
      description:
        "Where the tool sends its alerts: a URL, or a mail address for the type `email`. The token in it is the credential. Null for callers that can't write.",
    }),
    openAlerts: z.int(),
    lastRequestAt: Timestamp.nullable().meta({
      description: "Time of the last request in the log, which covers 7 days.",
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "AlertSource",
    description: "A tool that sends its alerts to an address of Signalbox.",
    example: sourceExample,
  });
export type AlertSource = z.infer<typeof AlertSource>;

export const SourceRequestQuery = z.strictObject(pageFields);
export type SourceRequestQuery = z.output<typeof SourceRequestQuery>;

export const LoggedSourceRequest = z
  .object({
    id: Id,
    at: Timestamp,
    count: z.int().meta({
      description:
        "Number of equal requests in a row, with the same outcome. Those of an hour are one entry.",
    }),
    lastAt: Timestamp.nullable().meta({
      description: "Time of the last of them; null for a single one.",
    }),
    path: z.string().meta({
      description:
        "The path after the address, with its query. `mail` and the Message-ID of a mail.",
    }),
    body: z.string().nullable().meta({ description: "Null if it was no text, or too long." }),
    bytes: z.int(),
    status: z.int().meta({ description: "HTTP status of the response." }),
    outcome: z.string().meta({ description: "What came of it, as one sentence." }),
    replayOf: Id.nullable().meta({ description: "ID of the request that this entry replays." }),
  })
  .meta({
    id: "AlertSourceRequest",
    example: {
      id: "01a1fb99-d231-7e5f-8d6c-7b8a99c7d6e5",
      at: "2026-11-20T23:02:00.000Z",
      count: 1,
      lastAt: null,
      path: "",
      body: '{"version":"4","alerts":[]}',
      bytes: 27,
      status: 200,
      outcome: "Opened 1 alert.",
      replayOf: null,
    },
  });
export type LoggedSourceRequest = z.infer<typeof LoggedSourceRequest>;

export const NewSourcePreview = z
  .strictObject({
    type: sourceFields.type,
    mapping: sourceFields.mapping,
    mailRules: sourceFields.mailRules,
    body: z.string().min(1).max(sourceBounds.sample.value).meta({
      description: "The body of a request: JSON, or a form. For `email`, a mail with its headers.",
    }),
    path: z.string().max(1_000).default("").meta({
      description: "The path after the address, such as `/v2/alerts/ALIAS/close`.",
    }),
  })
  .superRefine((sample, context) => {
    for (const { path, message } of listSourceIssues(sample))
      context.addIssue({ code: "custom", message, path: [path] });
  })
  .meta({
    id: "NewAlertSourcePreview",
    example: {
      type: "json" as const,
      mapping: { key: "$.id", title: "$.title" },
      body: '{"id":"1","title":"The backup failed"}',
    },
  });
export type NewSourcePreview = z.output<typeof NewSourcePreview>;

const PreviewedReport = z.object({
  key: z.string(),
  status: z.enum(["open", "acknowledged", "resolved"]),
  title: z.string(),
  text: z.string(),
  priority: z.enum(priorities).nullable().meta({ description: "Null if the sender names none." }),
  link: z.string().nullable(),
});

export const SourcePreview = z.object({ alerts: z.array(PreviewedReport) }).meta({
  id: "AlertSourcePreview",
  example: {
    alerts: [
      {
        key: "1",
        status: "open",
        title: "The backup failed",
        text: "",
        priority: null,
        link: null,
      },
    ],
  },
});
