/** Wire format of monthly reports. */
import { z } from "zod";
import { Id, nullable, Origin, Timestamp, TimeZone } from "../core/fields.ts";
import { pageLanguages } from "../core/languages.ts";
import { MaintenanceTime, type ReportMail } from "../accounts/settings/schema.ts";
import { monthPattern } from "../core/time/clock.ts";

const Month = z.string().regex(monthPattern, "must be a month such as 2026-11");

const hasOneSubject = (query: {
  [K in "monitorId" | "groupId" | "statusPageId"]?: string | undefined;
}) =>
  [query.monitorId, query.groupId, query.statusPageId].filter((id) => id !== undefined).length <= 1;
const severalSubjects = {
  path: ["monitorId"],
  message: "cannot be combined with groupId or statusPageId",
};

const reportTerms = {
  monitorId: Id.optional(),
  groupId: Id.optional(),
  statusPageId: Id.optional(),
  timeZone: TimeZone.optional().meta({
    description: "Time zone of the month or year. Default: the time zone of the organization.",
  }),
  slaTarget: z
    .string()
    .regex(/^(0\.\d{1,9}|1(\.0{1,9})?)$/, "must be a share such as 0.999")
    .transform(Number)
    .refine((share) => share > 0, "must be more than 0")
    .optional()
    .meta({
      override: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: 1,
        description:
          "Default: the target of the page, the group or the monitor's group, or that of the organization.",
      },
    }),
  maintenance: MaintenanceTime.default("excluded"),
};

/** Query of a report about a monitor, a group or a status page, by default about the whole organization. */
export const ReportQuery = z
  .strictObject({
    month: Month.optional().meta({ description: "Default: the current month." }),
    ...reportTerms,
  })
  .refine(hasOneSubject, severalSubjects);
export type ReportQuery = z.output<typeof ReportQuery>;

/** Query of a report about a year. */
export const YearReportQuery = z
  .strictObject({
    year: z
      .string()
      .regex(/^(19[7-9]|20\d|21\d)\d$/, "must be a year such as 2026")
      .optional()
      .meta({ description: "Default: the current year." }),
    ...reportTerms,
  })
  .refine(hasOneSubject, severalSubjects);
export type YearReportQuery = z.output<typeof YearReportQuery>;

export const ReportPdfQuery = z
  .strictObject({
    ...ReportQuery.shape,
    language: z.enum(pageLanguages).default("en").meta({ description: "Language of the words." }),
  })
  .refine(hasOneSubject, severalSubjects);
export type ReportPdfQuery = z.output<typeof ReportPdfQuery>;

/** Identifies a report by mail: an organization has one per interval and subject. */
export type MailSubject = Pick<ReportMail, "interval" | "groupId" | "statusPageId">;
/** A report that a person sent, with the time in Unix milliseconds. */
export type SentReport = MailSubject & { at: number };

const Interval = z.enum(["weekly", "monthly"]);

const hasOneMailSubject = ({
  groupId,
  statusPageId,
}: {
  groupId?: string | null | undefined;
  statusPageId?: string | null | undefined;
}) => groupId == null || statusPageId == null;
const severalMailSubjects = {
  path: ["groupId"],
  message: "cannot be combined with statusPageId",
};

/** Query of the mail of a report. The report need not be set up yet. */
export const ReportMailQuery = z
  .strictObject({
    interval: Interval.default("monthly"),
    groupId: Id.optional(),
    statusPageId: Id.optional(),
    slaTarget: ReportQuery.shape.slaTarget,
    maintenance: MaintenanceTime.optional().meta({
      description: "Default: as the report is set up, or `excluded`.",
    }),
    language: z.enum(pageLanguages).optional().meta({
      description: "Default: the language of the status page, or English.",
    }),
  })
  .refine(hasOneMailSubject, severalMailSubjects);
export type ReportMailQuery = z.output<typeof ReportMailQuery>;

export const ReportMailPreview = z
  .object({
    from: Timestamp,
    to: Timestamp.meta({ description: "End of the last week or month that is over." }),
    timeZone: z.string(),
    language: z.enum(pageLanguages),
    subject: z.string(),
    text: z.string(),
    html: z.string().meta({ description: "The HTML document of the mail. It has no scripts." }),
    attachment: z
      .string()
      .nullable()
      .meta({ description: "Name of the attached PDF; null without Chromium." }),
  })
  .meta({
    id: "ReportMailPreview",
    description: "A mail as each recipient would get it.",
    example: {
      from: "2026-09-30T22:00:00.000Z",
      to: "2026-10-31T23:00:00.000Z",
      timeZone: "Europe/Berlin",
      language: "en",
      subject: "Report of October 2026: Payments, Acme",
      text: "Report of October 2026: Payments, Acme\n\nUptime: 99.95 % (target 99.90 %: met)\n",
      html: "<!doctype html>…",
      attachment: "report-group-2026-10.pdf",
    },
  });
export type ReportMailPreview = z.infer<typeof ReportMailPreview>;

export const ReportToSend = z
  .strictObject({
    interval: Interval,
    groupId: nullable(Id),
    statusPageId: nullable(Id),
  })
  .refine(hasOneMailSubject, severalMailSubjects)
  .meta({ id: "ReportToSend", example: { interval: "monthly" } });
export type ReportToSend = z.output<typeof ReportToSend>;

export const SentReportMail = z
  .object({
    title: z.string().meta({ description: "Subject of the mail, in English." }),
    recipients: z.int().min(1),
    from: Timestamp,
    to: Timestamp,
  })
  .meta({
    id: "SentReportMail",
    description: "A report that was added to the outbox.",
    example: {
      title: "Report of October 2026: Payments, Acme",
      recipients: 2,
      from: "2026-09-30T22:00:00.000Z",
      to: "2026-10-31T23:00:00.000Z",
    },
  });
export type SentReportMail = z.infer<typeof SentReportMail>;

const seconds = z.int().min(0);
const meanSeconds = z.number().min(0).nullable();

const figures = {
  from: Timestamp.meta({
    description:
      "Start of the reported period: later than the start of the month for a younger monitor.",
  }),
  isPartial: z
    .boolean()
    .meta({ description: "Whether the monitors existed for only a part of the month." }),
  ratio: z.number().min(0).max(1).nullable().meta({
    description:
      "Uptime: up and degraded time as a share of all measured time. `unknown` is excluded, and time in maintenance by default. Null without measurements. Never rounded.",
  }),
  upSeconds: seconds,
  degradedSeconds: seconds,
  downSeconds: seconds,
  unknownSeconds: seconds,
  maintenanceSeconds: seconds,
  outages: z.int().min(0).nullable().meta({
    description:
      "Number of periods in which a monitor was `down`, including outages that started before the month. Null if the history of states is incomplete, as for imported results.",
  }),
  mttrSeconds: meanSeconds.meta({
    description:
      "Mean time to restoration (IEC 60050-192, 192-07-23): the mean duration of an outage within the month. Null without an outage.",
  }),
  mtbfSeconds: meanSeconds.meta({
    description:
      "Mean operating time between failures (IEC 60050-192, 192-05-13): up and degraded time divided by the number of outages. Null without an outage.",
  }),
  longestOutageSeconds: z.int().min(0).nullable().meta({
    description: "Duration within the month. Null if outages are unknown.",
  }),
  incidents: z
    .int()
    .min(0)
    .meta({ description: "Number of incidents that were open at any time in the month." }),
  slaTarget: z.number().nullable().meta({
    description:
      "The target that applies: of the query, of the report's subject, of the group, or of the organization. Null for none.",
  }),
  isMet: z.boolean().nullable().meta({
    description: "Whether the ratio reaches the target; null without a target or a ratio.",
  }),
};
export const ReportFigures = z.object(figures).meta({ id: "ReportFigures" });
export type ReportFigures = z.infer<typeof ReportFigures>;

/** The worst status of a day; `maintenance` only if nothing else was measured, `none` without measurements. */
const DayTone = z.enum(["up", "degraded", "down", "maintenance", "none"]);
export type DayTone = z.infer<typeof DayTone>;
const tones = z.array(DayTone).meta({
  description:
    "Worst status of each of the report's `days`. `maintenance`: nothing else was measured; `none`: nothing at all.",
});

/** The days of a monitor or group. */
const rowDays = {
  days: tones,
  downRatios: z.array(z.number()).meta({
    description:
      "Share of the measured time of each of the report's `days` that was down, 0–1. For a group, the mean of its monitors.",
  }),
};

const ReportDay = z.object({
  date: z.string().meta({ format: "date", example: "2026-11-20" }),
  tone: DayTone,
  ratio: figures.ratio,
  upSeconds: seconds,
  degradedSeconds: seconds,
  downSeconds: seconds,
  maintenanceSeconds: seconds,
});
export type ReportDay = z.infer<typeof ReportDay>;

export const ReportRow = z
  .object({ id: Id, name: z.string(), groupId: Id.nullable(), ...figures, ...rowDays })
  .meta({ id: "ReportOfMonitor" });
export type ReportRow = z.infer<typeof ReportRow>;

export const ReportGroup = z
  .object({
    id: Id.nullable(),
    name: z.string(),
    monitors: z.int().min(0),
    ...figures,
    ...rowDays,
  })
  .meta({
    id: "ReportOfGroup",
    description: "A monitor group; `id` is null for monitors without one.",
  });
export type ReportGroup = z.infer<typeof ReportGroup>;

const Outage = z.object({
  monitorId: Id,
  from: Timestamp,
  to: Timestamp.nullable().meta({ description: "Null while the outage continues." }),
  seconds: seconds.meta({ description: "Duration within the month." }),
  message: z.string().nullable(),
});
export type Outage = z.infer<typeof Outage>;

const ReportedIncident = z.object({
  id: Id,
  title: z.string(),
  origin: Origin,
  severity: z.string(),
  status: z.string(),
  createdAt: Timestamp,
  resolvedAt: Timestamp.nullable(),
});
export type ReportedIncident = z.infer<typeof ReportedIncident>;

const days = [
  {
    date: "2026-11-12",
    tone: "down" as const,
    ratio: 0.985,
    upSeconds: 85_104,
    degradedSeconds: 0,
    downSeconds: 1_296,
    maintenanceSeconds: 0,
  },
];

const summary = {
  from: "2026-10-31T23:00:00.000Z",
  isPartial: false,
  ratio: 0.9995,
  upSeconds: 2_590_704,
  degradedSeconds: 0,
  downSeconds: 1_296,
  unknownSeconds: 0,
  maintenanceSeconds: 0,
  outages: 2,
  mttrSeconds: 648,
  mtbfSeconds: 1_295_352,
  longestOutageSeconds: 900,
  incidents: 1,
  slaTarget: 0.999,
  isMet: true,
};

const Subject = z.object({
  type: z.enum(["organization", "monitor", "group", "status-page"]),
  id: Id,
  name: z.string(),
});

const yearRow = {
  ...figures,
  ratios: z.array(figures.ratio).meta({ description: "Uptime in each of the report's `months`." }),
};

const YearMonth = z.object({
  month: Month,
  isRunning: z.boolean(),
  ratio: figures.ratio,
  upSeconds: seconds,
  degradedSeconds: seconds,
  downSeconds: seconds,
  unknownSeconds: seconds,
  maintenanceSeconds: seconds,
  outages: figures.outages,
  isMet: figures.isMet,
});

export const YearReport = z
  .object({
    year: z.string().meta({ example: "2026" }),
    timeZone: z.string().meta({
      description:
        "Time zone of the year. Always UTC for older years, whose hours are no longer stored.",
    }),
    from: Timestamp,
    to: Timestamp.meta({ description: "End of the year, or now for the current year." }),
    isRunning: z.boolean(),
    subject: Subject,
    slaTarget: z.number().nullable(),
    maintenance: MaintenanceTime,
    monitorCount: z.int().min(0),
    summary: ReportFigures,
    months: z.array(YearMonth).meta({ description: "The months that have begun, oldest first." }),
    groups: z.array(
      z.object({ id: Id.nullable(), name: z.string(), monitors: z.int().min(0), ...yearRow }),
    ),
    monitors: z
      .array(z.object({ id: Id, name: z.string(), groupId: Id.nullable(), ...yearRow }))
      .meta({
        description:
          "In dashboard order. With more than 2,000 monitors, only the 2,000 with the most down time.",
      }),
  })
  .meta({
    id: "YearReport",
    description: "Uptime and outages of a year, by month.",
    example: {
      year: "2026",
      timeZone: "UTC",
      from: "2026-01-01T00:00:00.000Z",
      to: "2026-02-01T00:00:00.000Z",
      isRunning: true,
      subject: { type: "monitor", id: "01a1f866-0d00-701e-8694-20f3972fa7e9", name: "Checkout" },
      slaTarget: 0.999,
      maintenance: "excluded",
      monitorCount: 1,
      summary: { ...summary, from: "2026-01-01T00:00:00.000Z" },
      months: [
        {
          month: "2026-01",
          isRunning: false,
          ratio: 0.9995,
          upSeconds: 2_590_704,
          degradedSeconds: 0,
          downSeconds: 1_296,
          unknownSeconds: 0,
          maintenanceSeconds: 0,
          outages: 2,
          isMet: true,
        },
      ],
      groups: [],
      monitors: [],
    },
  });
export type YearReport = z.infer<typeof YearReport>;

export const Report = z
  .object({
    month: Month,
    timeZone: z.string().meta({
      description:
        "Time zone of the month. Always UTC for older months, whose hours are no longer stored.",
    }),
    from: Timestamp,
    to: Timestamp.meta({ description: "End of the month, or now for the current month." }),
    isRunning: z.boolean(),
    subject: Subject,
    slaTarget: z.number().nullable(),
    maintenance: MaintenanceTime,
    monitorCount: z.int().min(0),
    summary: ReportFigures,
    days: z.array(ReportDay).meta({
      description: "Days of the month in UTC, until today, with all monitors of the report.",
    }),
    groups: z.array(ReportGroup),
    monitors: z.array(ReportRow).meta({
      description:
        "In dashboard order. With more than 2,000 monitors, only the 2,000 with the most down time. The CSV has all.",
    }),
    outages: z.array(Outage).meta({ description: "The 500 longest outages, sorted by start." }),
    incidents: z.array(ReportedIncident).meta({ description: "The newest 500 incidents." }),
  })
  .meta({
    id: "Report",
    description: "Uptime, outages and incidents of a month.",
    example: {
      month: "2026-11",
      timeZone: "Europe/Berlin",
      from: "2026-10-31T23:00:00.000Z",
      to: "2026-11-30T23:00:00.000Z",
      isRunning: false,
      subject: { type: "monitor", id: "01a1f866-0d00-701e-8694-20f3972fa7e9", name: "Checkout" },
      slaTarget: 0.999,
      maintenance: "excluded",
      monitorCount: 1,
      summary,
      days,
      groups: [
        {
          id: null,
          name: "Ungrouped",
          monitors: 1,
          ...summary,
          days: ["down"],
          downRatios: [0.015],
        },
      ],
      monitors: [
        {
          id: "01a1f866-0d00-701e-8694-20f3972fa7e9",
          name: "Checkout",
          groupId: null,
          ...summary,
          days: ["down"],
          downRatios: [0.015],
        },
      ],
      outages: [
        {
          monitorId: "01a1f866-0d00-701e-8694-20f3972fa7e9",
          from: "2026-11-12T08:00:00.000Z",
          to: "2026-11-12T08:15:00.000Z",
          seconds: 900,
          message: "HTTP 502",
        },
      ],
      incidents: [
        {
          id: "01a1f866-0d00-702b-9d71-0d3c7a1b2c4d",
          title: "Checkout is not responding",
          origin: "manual",
          severity: "major",
          status: "resolved",
          createdAt: "2026-11-12T08:01:00.000Z",
          resolvedAt: "2026-11-12T08:16:00.000Z",
        },
      ],
    },
  });
export type Report = z.infer<typeof Report>;
