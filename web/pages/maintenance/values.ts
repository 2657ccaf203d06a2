import { toInstant, toLocal } from "../../../src/core/time/time-zones.ts";
import type { Times } from "../../../src/monitoring/maintenance/rules.ts";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { type Plan, plainPlan, planOf, ruleOf } from "./recurrence.ts";

/** A window as its editor has it: times as clocks in its own zone show them, such as `2026-11-22T02:00`. */
export type Values = {
  title: string;
  description: string;
  start: string;
  end: string;
  timeZone: string;
  plan: Plan;
  monitorIds: string[];
  groupIds: string[];
  countsUptime: boolean;
  public: boolean;
};

const hourMs = 3_600_000;

/** The clock of a zone at this time, as an input of date and time takes it. */
const clockOf = (at: number, zone: string) =>
  new Date(toLocal(at, zone)).toISOString().slice(0, 16);

/** Milliseconds of a clock, read as if it were UTC; NaN for what is no time. */
const localOf = (clock: string): number => Date.parse(`${clock}Z`);

/** Null for what is no time: then the server says so. */
function instantOf(clock: string, zone: string): string | null {
  const local = localOf(clock);
  return Number.isNaN(local) ? null : new Date(toInstant(local, zone)).toISOString();
}

/** A new window: from the next full hour on, or on this day at 02:00, for two hours. */
export function newValues(now: number, zone: string, date?: string): Values {
  const next = clockOf(Math.ceil((now + 1) / hourMs) * hourMs, zone);
  const start = date === undefined ? next : `${date}T02:00`;
  const end = new Date(localOf(start) + 2 * hourMs).toISOString().slice(0, 16);
  return {
    title: "",
    description: "",
    start,
    end,
    timeZone: zone,
    plan: plainPlan(localOf(start)),
    monitorIds: [],
    groupIds: [],
    countsUptime: false,
    public: true,
  };
}

export function valuesOf(window: MaintenanceWindow): Values {
  const { title, description, timeZone, monitorIds, groupIds, countsUptime } = window;
  const start = clockOf(Date.parse(window.startsAt), timeZone);
  return {
    title,
    description,
    start,
    end: clockOf(Date.parse(window.endsAt), timeZone),
    timeZone,
    plan: planOf(window.rrule, localOf(start)),
    monitorIds,
    groupIds,
    countsUptime,
    public: window.public,
  };
}

/** The window as the API takes it. */
export function bodyOf({ start, end, plan, ...values }: Values) {
  return {
    ...values,
    startsAt: instantOf(start, values.timeZone) ?? start,
    endsAt: instantOf(end, values.timeZone) ?? end,
    rrule: ruleOf(plan),
  };
}

/** When it would hold; null while its times are not complete. */
export function timesOf(values: Values): Times | null {
  const { timeZone, start, end, plan } = values;
  const [startsAt, endsAt] = [instantOf(start, timeZone), instantOf(end, timeZone)];
  return startsAt === null || endsAt === null
    ? null
    : { startsAt, endsAt, timeZone, rrule: ruleOf(plan) };
}

/** With another beginning the length stays, and a recurrence that nobody chose yet goes along. */
export function withStart(values: Values, start: string): Partial<Values> {
  const length = localOf(values.end) - localOf(values.start);
  const local = localOf(start);
  if (Number.isNaN(local) || Number.isNaN(length)) return { start };
  const end = new Date(local + length).toISOString().slice(0, 16);
  const { plan } = values;
  return plan.repeats === "never" ? { start, end, plan: plainPlan(local) } : { start, end };
}
