/** Converts between a maintenance window and the values of its editor. */
import { hourMs } from "../../../src/core/time/clock.ts";
import { changeInstant, parseLocal, toClock } from "../../components/forms/date-time-rules.ts";
import type { Times } from "../../../src/monitoring/maintenance/rules.ts";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import {
  type Plan,
  createDefaultPlan,
  parseRule,
  formatRule,
} from "../../../src/monitoring/maintenance/recurrence-rules.ts";
import { t } from "../../language/text.ts";

/** Values of the editor. Times are local to the window's time zone, such as `2026-11-22T02:00`. */
export type Values = {
  title: string;
  description: string;
  start: string;
  end: string;
  /** Times of the window before the edit; null for a new one. */
  before: { startsAt: string; endsAt: string } | null;
  timeZone: string;
  plan: Plan;
  monitorIds: string[];
  groupIds: string[];
  countsUptime: boolean;
  public: boolean;
  reminderHours: number | null;
  progressNotices: boolean;
};

type Start = { date?: string; monitorIds?: readonly string[]; isQuiet?: boolean };

/**
 * Values of a new window: two hours from the next full hour, or from 02:00 on `date`. A quiet
 * window starts now, and no status page announces it.
 */
export function createValues(
  now: number,
  zone: string,
  { date, monitorIds = [], isQuiet = false }: Start = {},
): Values {
  const next = toClock(isQuiet ? now : Math.ceil((now + 1) / hourMs) * hourMs, zone);
  const start = date === undefined ? next : `${date}T02:00`;
  const end = new Date(parseLocal(start) + 2 * hourMs).toISOString().slice(0, 16);
  return {
    title: isQuiet ? t("Alerts on hold") : "",
    description: "",
    start,
    end,
    before: null,
    timeZone: zone,
    plan: createDefaultPlan(parseLocal(start)),
    monitorIds: [...monitorIds],
    groupIds: [],
    countsUptime: false,
    public: !isQuiet,
    reminderHours: isQuiet ? null : 24,
    progressNotices: !isQuiet,
  };
}

export function toValues(window: MaintenanceWindow): Values {
  const { title, description, timeZone, monitorIds, groupIds, countsUptime } = window;
  const start = toClock(Date.parse(window.startsAt), timeZone);
  return {
    title,
    description,
    start,
    end: toClock(Date.parse(window.endsAt), timeZone),
    before: { startsAt: window.startsAt, endsAt: window.endsAt },
    timeZone,
    plan: parseRule(window.rrule, parseLocal(start)),
    monitorIds,
    groupIds,
    countsUptime,
    public: window.public,
    reminderHours: window.reminderHours,
    progressNotices: window.progressNotices,
  };
}

export function buildWindowBody({ start, end, before, plan, ...values }: Values) {
  const { startsAt, endsAt } = readInstants({ start, end, before, timeZone: values.timeZone });
  return {
    ...values,
    startsAt: startsAt ?? start,
    endsAt: endsAt ?? end,
    rrule: formatRule(plan),
  };
}

const readInstants = ({
  start,
  end,
  before,
  timeZone,
}: Pick<Values, "start" | "end" | "before" | "timeZone">) => ({
  startsAt: changeInstant(start, timeZone, before?.startsAt ?? null),
  endsAt: changeInstant(end, timeZone, before?.endsAt ?? null),
});

/** Times for the preview; null while they are incomplete. */
export function buildTimes(values: Values): Times | null {
  const { timeZone, plan } = values;
  const { startsAt, endsAt } = readInstants(values);
  return startsAt === null || endsAt === null
    ? null
    : { startsAt, endsAt, timeZone, rrule: formatRule(plan) };
}

/** Moves the start and preserves the duration. An unused recurrence gets new defaults. */
export function moveStart(values: Values, start: string): Partial<Values> {
  const length = parseLocal(values.end) - parseLocal(values.start);
  const local = parseLocal(start);
  if (Number.isNaN(local) || Number.isNaN(length)) return { start };
  const end = new Date(local + length).toISOString().slice(0, 16);
  const { plan } = values;
  return plan.repeats === "never" ? { start, end, plan: createDefaultPlan(local) } : { start, end };
}
