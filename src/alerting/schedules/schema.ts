/** Wire format of on-call schedules: layers, overrides, shifts and who is on call. */
import { z } from "zod";
import {
  bodySchema,
  Id,
  InputTimestamp,
  instant,
  integer,
  line,
  nullable,
  optionalParagraphs,
  TimeZone,
  Timestamp,
  toPatchShape,
} from "../../core/fields.ts";
import { scheduleBounds } from "../../core/limits.ts";
import { ScheduleHours } from "../hours/schema.ts";

export const rotationUnits = ["hours", "days", "weeks"] as const;
export type RotationUnit = (typeof rotationUnits)[number];

/** A local time such as `2026-11-30T09:00`, without an offset. */
const LocalTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/, "must be a local time such as 2026-11-30T09:00")
  .refine((text) => {
    const at = Date.parse(`${text}Z`);
    return at >= 0 && at < Date.UTC(9000, 0) && new Date(at).toISOString().startsWith(text);
  }, "must be an existing time from 1970 to 8999")
  .meta({ example: "2026-11-30T09:00" });

const about = {
  layers:
    "At any time, the last layer that has a person on call decides. Nobody is on call in the gaps that all layers leave.",
  start:
    "The first hand-over, in local time of `timeZone`. Later hand-overs are at the same local time; of weeks, on the same weekday. A time that a clock change skips is that much later, a repeated one is the first of both.",
  every: "Length of a shift, in `unit`.",
  hours:
    "Times of the week in which the layer applies. Empty for always. A rotation continues outside of them.",
  noticeHours:
    "Hours before the start of each shift at which its person is notified once through their contact methods; null for no notices.",
  calendarUrl:
    "Address of the shifts as iCalendar. Everyone who knows it can read them. Null without write access.",
};

/** Maximum length of a shift, in its unit. */
const maxEvery = 365;

export const ScheduleLayer = z
  .strictObject({
    name: line(100).default("Rotation"),
    personIds: z
      .array(Id)
      .min(1)
      .max(scheduleBounds.people.value)
      .meta({ description: "In the order of the rotation. A person can be in it several times." }),
    every: integer(1, maxEvery).default(1).meta({ description: about.every }),
    unit: z.enum(rotationUnits).default("weeks"),
    start: LocalTime.meta({ description: about.start }),
    end: nullable(LocalTime).meta({
      description: "End of the layer, in local time; null for none.",
    }),
    hours: z
      .array(ScheduleHours)
      .max(scheduleBounds.hours.value)
      .default([])
      .meta({ description: about.hours }),
  })
  .refine(({ start, end }) => end === null || end > start, {
    error: "must be after start",
    path: ["end"],
  })
  .meta({ id: "ScheduleLayer" });
export type ScheduleLayer = z.output<typeof ScheduleLayer>;

const layers = z
  .array(ScheduleLayer)
  .max(scheduleBounds.layers.value)
  .default([])
  .meta({ description: about.layers });

/** Editable fields of a schedule. */
export const scheduleFields = {
  name: line(100).meta({ example: "Platform" }),
  description: optionalParagraphs(2000).default("").meta({ description: "As Markdown." }),
  timeZone: TimeZone.default("UTC").meta({
    description: "IANA time zone of all local times.",
    example: "Europe/Berlin",
  }),
  layers,
  noticeHours: nullable(integer(1, scheduleBounds.noticeHours.value)).meta({
    description: about.noticeHours,
    example: 24,
  }),
};

const readOnly = ["id", "calendarUrl", "createdAt", "updatedAt"];

const example = {
  name: "Platform",
  timeZone: "Europe/Berlin",
  layers: [
    {
      name: "Weekly rotation",
      personIds: ["01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4c", "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4d"],
      every: 1,
      unit: "weeks" as const,
      start: "2026-11-30T09:00",
    },
  ],
};

export const NewSchedule = bodySchema(
  readOnly,
  z.strictObject(scheduleFields).meta({ id: "NewSchedule", example }),
);
export type NewSchedule = z.output<typeof NewSchedule>;

export const SchedulePatch = bodySchema(
  readOnly,
  z
    .strictObject(toPatchShape(scheduleFields))
    .meta({ id: "SchedulePatch", example: { timeZone: "Europe/London" } }),
);
export type SchedulePatch = z.output<typeof SchedulePatch>;

export const Schedule = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string(),
    timeZone: z.string().meta({ description: "IANA time zone of all local times." }),
    layers: z.array(ScheduleLayer).meta({ description: about.layers }),
    noticeHours: z.int().nullable().meta({ description: about.noticeHours }),
    calendarUrl: z.string().nullable().meta({ description: about.calendarUrl }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "Schedule",
    description: "Who is on call at which time.",
    example: {
      id: "01a1fb99-6b2d-7e31-9f52-1a2b3c4d5e6f",
      description: "",
      ...example,
      layers: [{ ...example.layers[0], end: null, hours: [] }],
      noticeHours: 24,
      calendarUrl: "https://signalbox.example/calendars/Q0…",
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type Schedule = z.infer<typeof Schedule>;

const span = {
  startsAt: InputTimestamp.meta({ description: "A past time counts as now." }),
  endsAt: InputTimestamp,
};

export const NewScheduleOverride = bodySchema(
  ["id", "createdAt"],
  z.strictObject({ personId: Id, ...span }).meta({
    id: "NewScheduleOverride",
    example: {
      personId: "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4d",
      startsAt: "2026-12-01T17:00:00+01:00",
      endsAt: "2026-12-01T19:00:00+01:00",
    },
  }),
);
export type NewScheduleOverride = z.output<typeof NewScheduleOverride>;

export const ScheduleOverride = z
  .object({ id: Id, personId: Id, startsAt: Timestamp, endsAt: Timestamp, createdAt: Timestamp })
  .meta({
    id: "ScheduleOverride",
    description: "A time in which a person is on call instead of the people in the layers.",
    example: {
      id: "01a1fb99-8c3e-7f42-8a63-2b3c4d5e6f70",
      personId: "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4d",
      startsAt: "2026-12-01T16:00:00.000Z",
      endsAt: "2026-12-01T18:00:00.000Z",
      createdAt: "2026-11-30T23:02:00.000Z",
    },
  });
export type ScheduleOverride = z.infer<typeof ScheduleOverride>;

const SwappedShift = z.strictObject(span);

export const ScheduleSwap = z.strictObject({ first: SwappedShift, second: SwappedShift }).meta({
  id: "ScheduleSwap",
  description: "Two times. The person on call in each is on call in the other.",
  example: {
    first: { startsAt: "2026-12-07T08:00:00.000Z", endsAt: "2026-12-14T08:00:00.000Z" },
    second: { startsAt: "2026-12-14T08:00:00.000Z", endsAt: "2026-12-21T08:00:00.000Z" },
  },
});
export type ScheduleSwap = z.output<typeof ScheduleSwap>;

const shiftExample = {
  startsAt: "2026-12-07T08:00:00.000Z",
  endsAt: "2026-12-14T08:00:00.000Z",
  personId: "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4d",
  personName: "Ben",
  overrideId: null,
};

/** A time with one person on call, or with nobody. */
export const Shift = z
  .object({
    startsAt: Timestamp,
    endsAt: Timestamp,
    personId: Id.nullable().meta({ description: "Null for a gap: nobody is on call." }),
    personName: z.string().nullable(),
    overrideId: Id.nullable().meta({ description: "Null without an override." }),
  })
  .meta({ id: "Shift", example: shiftExample });
export type Shift = z.infer<typeof Shift>;

export const OnCall = z
  .object({
    scheduleId: Id,
    scheduleName: z.string(),
    at: Timestamp,
    personId: Id.nullable().meta({ description: "Null if nobody is on call." }),
    personName: z.string().nullable(),
    overrideId: Id.nullable(),
    until: Timestamp.nullable().meta({
      description: "When another person, or nobody, is on call; null if later than 62 days.",
    }),
    next: Shift.nullable().meta({ description: "The next shift of a person." }),
    nextGapAt: Timestamp.nullable().meta({
      description: "Start of the next gap within 14 days, in which nobody is on call.",
    }),
  })
  .meta({
    id: "OnCall",
    example: {
      scheduleId: "01a1fb99-6b2d-7e31-9f52-1a2b3c4d5e6f",
      scheduleName: "Platform",
      at: "2026-12-01T23:02:00.000Z",
      personId: "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4c",
      personName: "Ada",
      overrideId: null,
      until: "2026-12-07T08:00:00.000Z",
      next: shiftExample,
      nextGapAt: null,
    },
  });
export type OnCall = z.infer<typeof OnCall>;

const createTimeField = (description: string) =>
  instant.optional().meta({ override: { type: "string", format: "date-time", description } });

export const OnCallQuery = z.strictObject({ at: createTimeField("A time; without it, now.") });
export type OnCallQuery = z.output<typeof OnCallQuery>;

export const ShiftsQuery = z.strictObject({
  from: createTimeField("Start; without it, now."),
  until: createTimeField("End, at most 62 days later; without it, 14 days later."),
});
export type ShiftsQuery = z.output<typeof ShiftsQuery>;

/** Unsaved layers, for the preview of the editor. `id` adds the overrides of a stored schedule. */
export const SchedulePreview = z.strictObject({
  id: Id.optional(),
  timeZone: TimeZone,
  layers,
  from: InputTimestamp.optional(),
  until: InputTimestamp.optional(),
});
export type SchedulePreview = z.output<typeof SchedulePreview>;
