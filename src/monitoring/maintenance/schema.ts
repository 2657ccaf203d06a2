import { z } from "zod";
import {
  bodyOf,
  Id,
  idSet,
  line,
  optionalParagraphs,
  patchOf,
  TimeZone,
  Timestamp,
} from "../../core/fields.ts";
import { pageFields } from "../../core/paging.ts";

export const MaintenanceState = z
  .enum(["scheduled", "running", "over"])
  .meta({ id: "MaintenanceState" });
export type MaintenanceState = z.infer<typeof MaintenanceState>;

const frequencies = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"] as const;
type Frequency = (typeof frequencies)[number];

/** What a rule says that has no more than its frequency: an empty list restricts nothing, weekdays count from Monday as 0. */
const unrestricted = {
  interval: 1,
  count: null as number | null,
  /** In Unix milliseconds, or in those of the local clock read as UTC. */
  until: null as { at: number; isUtc: boolean } | null,
  months: [] as number[],
  weeks: [] as number[],
  yearDays: [] as number[],
  monthDays: [] as number[],
  /** `nth` 0 stands for every such weekday. */
  weekdays: [] as { day: number; nth: number }[],
  hours: [] as number[],
  minutes: [] as number[],
  positions: [] as number[],
  weekStart: 0,
};
/** A recurrence rule of RFC 5545 §3.3.10. */
export type Recurrence = typeof unrestricted & { frequency: Frequency };

const weekdayNames = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
/** So many intervals of a frequency are ten years. */
const longest = { YEARLY: 10, MONTHLY: 120, WEEKLY: 520, DAILY: 3_650, HOURLY: 87_600 };
const maxCount = 1_000;

/** Smallest and largest number that a part may list; negative ones count from the end. */
const numbered: Record<string, [key: keyof Recurrence, min: number, max: number]> = {
  BYMONTH: ["months", 1, 12],
  BYWEEKNO: ["weeks", -53, 53],
  BYYEARDAY: ["yearDays", -366, 366],
  BYMONTHDAY: ["monthDays", -31, 31],
  BYHOUR: ["hours", 0, 23],
  BYMINUTE: ["minutes", 0, 59],
  BYSETPOS: ["positions", -366, 366],
};

/** What an RRULE value means, or why it can't be taken, as the end of a sentence that begins with its field. */
export function recurrenceOf(text: string): Recurrence | string {
  const parts = new Map<string, string>();
  for (const part of text.toUpperCase().split(";")) {
    const [, name, value] = /^([A-Z]+)=([A-Z0-9,+-]+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined)
      return "must be the value of an RRULE (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU";
    if (parts.has(name)) return `must have ${name} only once`;
    parts.set(name, value);
  }
  const named = parts.get("FREQ") ?? "";
  if (named === "SECONDLY" || named === "MINUTELY") return tooOften;
  const frequency = frequencies.find((name) => name === named);
  if (frequency === undefined) return `must have a FREQ of ${frequencies.join(", ")}`;
  const rule: Recurrence = { ...unrestricted, frequency };
  for (const [name, value] of parts) {
    const issue = name === "FREQ" ? null : take(rule, name, value);
    if (issue !== null) return issue;
  }
  return validateTogether(rule) ?? rule;
}

export const tooOften = "must not repeat more often than every hour";

/** Writes one part into the rule; answers why it can't. */
function take(rule: Recurrence, name: string, value: string): string | null {
  const list = numbered[name];
  if (list !== undefined) {
    const [key, min, max] = list;
    const numbers = numbersIn(value, min, max);
    Object.assign(rule, { [key]: numbers });
    if (numbers !== null) return null;
    const zero = min < 0 ? " but 0" : "";
    return `must list whole numbers from ${min} to ${max}${zero} in ${name}`;
  }
  if (name === "INTERVAL") {
    const max = longest[rule.frequency];
    rule.interval = numbersIn(value, 1, max)?.[0] ?? 0;
    return rule.interval > 0 ? null : `must have an INTERVAL from 1 to ${max}, which is ten years`;
  }
  if (name === "COUNT") {
    rule.count = numbersIn(value, 1, maxCount)?.[0] ?? null;
    return rule.count === null ? `must have a COUNT from 1 to ${maxCount}` : null;
  }
  if (name === "UNTIL") {
    rule.until = untilOf(value);
    return rule.until === null ? "must have an UNTIL such as 20270131 or 20270131T220000Z" : null;
  }
  if (name === "WKST") {
    rule.weekStart = weekdayNames.indexOf(value);
    return rule.weekStart === -1 ? "must have a weekday such as MO in WKST" : null;
  }
  if (name === "BYDAY") {
    const days = value.split(",").map((one) => {
      const [, nth = "0", day = ""] = /^([+-]?[1-9]\d?)?([A-Z]{2})$/.exec(one) ?? [];
      return { day: weekdayNames.indexOf(day), nth: Number(nth) };
    });
    rule.weekdays = days;
    const isRight = days.every(({ day, nth }) => day !== -1 && Math.abs(nth) <= 53);
    return isRight ? null : "must list weekdays such as SU, 1MO or -1FR in BYDAY";
  }
  return "must have only parts that RFC 5545 knows, without BYSECOND";
}

function numbersIn(value: string, min: number, max: number): number[] | null {
  const numbers = value.split(",").map((one) => (/^[+-]?\d{1,5}$/.test(one) ? Number(one) : NaN));
  const isRight = (number: number) => number >= min && number <= max && (min >= 0 || number !== 0);
  return numbers.every(isRight) ? [...new Set(numbers)] : null;
}

function untilOf(value: string): Recurrence["until"] {
  const [, year, month, day, time, utc] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d{6})(Z?))?$/.exec(value) ?? [];
  const clock = (time ?? "235959").replace(/(..)(..)(..)/, "$1:$2:$3");
  const at = Date.parse(`${year}-${month}-${day}T${clock}.999Z`);
  return Number.isNaN(at) ? null : { at, isUtc: utc === "Z" };
}

/** What RFC 5545 §3.3.10 says about parts that stand side by side. */
function validateTogether(rule: Recurrence): string | null {
  const { frequency, weeks, yearDays, monthDays, weekdays, positions } = rule;
  if (rule.count !== null && rule.until !== null) return "must not have both COUNT and UNTIL";
  if (weeks.length > 0 && frequency !== "YEARLY") return "must have BYWEEKNO only with FREQ=YEARLY";
  if (yearDays.length > 0 && !["YEARLY", "HOURLY"].includes(frequency))
    return "must have BYYEARDAY only with FREQ=YEARLY or HOURLY";
  if (monthDays.length > 0 && frequency === "WEEKLY")
    return "must not have BYMONTHDAY with FREQ=WEEKLY";
  const isNumbered = weekdays.some(({ nth }) => nth !== 0);
  if (isNumbered && (!["YEARLY", "MONTHLY"].includes(frequency) || weeks.length > 0))
    return "must have numbered weekdays only with FREQ=MONTHLY, or YEARLY without BYWEEKNO";
  const lists = [rule.months, weeks, yearDays, monthDays, weekdays, rule.hours, rule.minutes];
  if (positions.length > 0 && (frequency === "HOURLY" || lists.every(({ length }) => length === 0)))
    return "must have BYSETPOS only beside another BY part, and not with FREQ=HOURLY";
  return null;
}

const latest = Date.UTC(9000, 0);

const instant = z.iso
  .datetime({ offset: true, error: "must be an RFC 3339 time such as 2026-11-20T23:02:00.000Z" })
  .refine((text) => Date.parse(text) >= 0 && Date.parse(text) < latest, {
    error: "must be a time from 1970 to 8999",
  })
  .transform((text) => new Date(text).toISOString())
  .meta({ override: { type: "string", format: "date-time" } });

/** Text whose own rules are only asked where its length is right. */
const upTo = (max: number) => z.string().min(1, { abort: true }).max(max, { abort: true });

const rrule = upTo(500).superRefine((text, context) => {
  const read = recurrenceOf(text);
  if (typeof read === "string") context.addIssue({ code: "custom", message: read });
});

const about = {
  startsAt: "When the first occurrence begins; with `rrule`, when the rule begins to hold.",
  timeZone:
    "IANA time zone in which `rrule` means its days and hours, so that 02:00 stays 02:00 when clocks change. An occurrence in an hour that a change leaves out begins that much later; in one that comes twice, the first time.",
  rrule:
    "RFC 5545 recurrence rule without DTSTART, which is `startsAt` in `timeZone`; null for once. At most hourly; an occurrence ends at the latest when the next one begins.",
  countsUptime: "Whether results of that time count in figures of uptime.",
  public: "Whether status pages announce it.",
};

/** The fields that people edit. */
export const windowFields = {
  title: line(255).meta({ example: "Router firmware" }),
  description: optionalParagraphs(2000)
    .default("")
    .meta({ description: "What will be done, as Markdown." }),
  startsAt: instant.meta({ description: about.startsAt }),
  endsAt: instant.meta({ description: "At most 31 days after `startsAt`." }),
  timeZone: TimeZone.default("UTC").meta({ description: about.timeZone, example: "Europe/Berlin" }),
  rrule: rrule
    .nullable()
    .default(null)
    .meta({ description: about.rrule, example: "FREQ=WEEKLY;BYDAY=SU" }),
  monitorIds: idSet(5_000).default([]),
  groupIds: idSet(500).default([]).meta({ description: "With all monitors in them at the time." }),
  countsUptime: z.boolean().default(false).meta({ description: about.countsUptime }),
  public: z.boolean().default(true).meta({ description: about.public }),
};

const readOnly = ["id", "state", "current", "next", "createdAt", "updatedAt"];

export const NewMaintenanceWindow = bodyOf(
  readOnly,
  z.strictObject(windowFields).meta({
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

export const MaintenanceWindowPatch = bodyOf(
  readOnly,
  z
    .strictObject(patchOf(windowFields))
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
    countsUptime: z.boolean().meta({ description: about.countsUptime }),
    public: z.boolean().meta({ description: about.public }),
    state: MaintenanceState,
    current: MaintenanceOccurrence.nullable(),
    next: MaintenanceOccurrence.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "MaintenanceWindow",
    description: "Planned work: alerts are held, status pages say so.",
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
      state: "scheduled",
      current: null,
      next: { startsAt: "2026-11-22T01:00:00.000Z", endsAt: "2026-11-22T03:00:00.000Z" },
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type MaintenanceWindow = z.infer<typeof MaintenanceWindow>;

export const MaintenanceQuery = z.strictObject({
  ...pageFields,
  state: MaintenanceState.optional(),
  monitorId: Id.optional().meta({ description: "Windows that hold for this monitor now." }),
});
export type MaintenanceQuery = z.infer<typeof MaintenanceQuery>;
