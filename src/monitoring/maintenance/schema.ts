/** Wire format of maintenance windows, and of their preview and calendar on the admin page. */
import { z } from "zod";
import {
  bodySchema,
  Id,
  idSet,
  InputTimestamp,
  integer,
  line,
  nullable,
  optionalParagraphs,
  PartialRecord,
  toPatchShape,
  TimeZone,
  Timestamp,
} from "../../core/fields.ts";
import { createCountField, pageFields } from "../../core/paging.ts";
import { findRruleIssue } from "./rrule-rules.ts";

export const MaintenanceState = z
  .enum(["scheduled", "running", "over"])
  .meta({ id: "MaintenanceState" });
export type MaintenanceState = z.infer<typeof MaintenanceState>;

/** Text with a maximum length. If the length is invalid, no further validation runs. */
const createTextField = (max: number) =>
  z.string().min(1, { abort: true }).max(max, { abort: true });

const rrule = createTextField(500).superRefine((text, context) => {
  const message = findRruleIssue(text);
  if (message !== null) context.addIssue({ code: "custom", message });
});

const about = {
  startsAt: "Start of the first occurrence; with `rrule`, start of the rule.",
  timeZone:
    "IANA time zone of the days and hours in `rrule`, so that 02:00 stays 02:00 when clocks change. An occurrence in a skipped hour starts that much later; in a repeated hour, it starts the first time.",
  rrule:
    "RFC 5545 recurrence rule without DTSTART, which is `startsAt` in `timeZone`; null for a single window. At most hourly. An occurrence ends when the next one starts, or earlier.",
  countsUptime: "Whether results of that time count in figures of uptime.",
  public: "Whether status pages announce it.",
  reminderHours:
    "Hours before the next occurrence at which subscribers of status pages are reminded; null for no reminder.",
  progressNotices:
    "Whether subscribers of status pages are notified of the start, changes and the end. A window that was created with `notify: false` has `false`, and no reminder.",
};

/** Editable fields of a maintenance window. */
export const windowFields = {
  title: line(255).meta({ example: "Router firmware" }),
  description: optionalParagraphs(2000)
    .default("")
    .meta({ description: "What will be done, as Markdown." }),
  startsAt: InputTimestamp.meta({ description: about.startsAt }),
  endsAt: InputTimestamp.meta({ description: "At most 31 days after `startsAt`." }),
  timeZone: TimeZone.default("UTC").meta({ description: about.timeZone, example: "Europe/Berlin" }),
  rrule: rrule
    .nullable()
    .default(null)
    .meta({ description: about.rrule, example: "FREQ=WEEKLY;BYDAY=SU" }),
  monitorIds: idSet(5_000).default([]),
  groupIds: idSet(500).default([]).meta({ description: "With all monitors in them at the time." }),
  countsUptime: z.boolean().default(false).meta({ description: about.countsUptime }),
  public: z.boolean().default(true).meta({ description: about.public }),
  reminderHours: nullable(integer(1, 336)).meta({ description: about.reminderHours }),
  progressNotices: z.boolean().default(true).meta({ description: about.progressNotices }),
};

const notify = z.boolean().optional().meta({
  description: "Whether the subscribers of status pages are notified. Default: `true`.",
});

const readOnly = ["id", "partial", "state", "current", "next", "createdAt", "updatedAt"];

export const NewMaintenanceWindow = bodySchema(
  readOnly,
  z.strictObject({ ...windowFields, notify }).meta({
    id: "NewMaintenanceWindow",
    example: {
      title: "Router firmware",
      startsAt: "2026-11-22T02:00:00+01:00",
      endsAt: "2026-11-22T04:00:00+01:00",
      timeZone: "Europe/Berlin",
      rrule: "FREQ=WEEKLY;BYDAY=SU",
    },
  }),
);
export type NewMaintenanceWindow = z.infer<typeof NewMaintenanceWindow>;

export const MaintenanceWindowPatch = bodySchema(
  readOnly,
  z
    .strictObject({ ...toPatchShape(windowFields), notify })
    .meta({ id: "MaintenanceWindowPatch", example: { title: "Router and switch firmware" } }),
);
export type MaintenanceWindowPatch = z.infer<typeof MaintenanceWindowPatch>;

const MaintenanceOccurrence = z
  .object({ startsAt: Timestamp, endsAt: Timestamp })
  .meta({ id: "MaintenanceOccurrence", description: "One time at which the work is done." });

export const MaintenanceWindow = z
  .object({
    id: Id,
    title: z.string(),
    description: z.string(),
    startsAt: Timestamp.meta({ description: about.startsAt }),
    endsAt: Timestamp,
    timeZone: z.string().meta({ description: about.timeZone }),
    rrule: z.string().nullable().meta({ description: about.rrule }),
    monitorIds: z.array(Id),
    groupIds: z.array(Id),
    partial: PartialRecord,
    countsUptime: z.boolean().meta({ description: about.countsUptime }),
    public: z.boolean().meta({ description: about.public }),
    reminderHours: z.int().nullable().meta({ description: about.reminderHours }),
    progressNotices: z.boolean().meta({ description: about.progressNotices }),
    state: MaintenanceState,
    current: MaintenanceOccurrence.nullable(),
    next: MaintenanceOccurrence.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "MaintenanceWindow",
    description: "Planned work: alerts are held, and status pages announce it.",
    example: {
      id: "01a1fb99-4d02-7b15-9a3c-5e7f1b2d4c68",
      title: "Router firmware",
      description: "",
      startsAt: "2026-11-22T01:00:00.000Z",
      endsAt: "2026-11-22T03:00:00.000Z",
      timeZone: "Europe/Berlin",
      rrule: "FREQ=WEEKLY;BYDAY=SU",
      monitorIds: ["01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35"],
      groupIds: [],
      countsUptime: false,
      public: true,
      reminderHours: 24,
      progressNotices: true,
      state: "scheduled",
      current: null,
      next: { startsAt: "2026-11-22T01:00:00.000Z", endsAt: "2026-11-22T03:00:00.000Z" },
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type MaintenanceWindow = z.infer<typeof MaintenanceWindow>;

const Occurrences = z.array(MaintenanceOccurrence);

/** Unsaved times, for the preview of the admin page. */
export const PreviewQuery = z.strictObject({
  startsAt: InputTimestamp,
  endsAt: InputTimestamp,
  timeZone: TimeZone,
  rrule: z.string().max(500).optional(),
  count: createCountField(10, 5, "Occurrences"),
});
export type PreviewQuery = z.infer<typeof PreviewQuery>;

export const MaintenancePreview = z.object({
  issue: z.object({ path: z.string(), message: z.string() }).nullable(),
  occurrences: Occurrences,
});

/** Span of the calendar. The server shortens it to 62 days. */
export const CalendarQuery = z.strictObject({ from: InputTimestamp, to: InputTimestamp });
export type CalendarQuery = z.infer<typeof CalendarQuery>;

export const MaintenanceCalendar = z.array(
  z.object({ id: Id, title: z.string(), occurrences: Occurrences }),
);

export const MaintenanceQuery = z.strictObject({
  ...pageFields,
  state: MaintenanceState.optional(),
  monitorId: Id.optional().meta({ description: "Windows in progress for this monitor." }),
});
export type MaintenanceQuery = z.infer<typeof MaintenanceQuery>;
