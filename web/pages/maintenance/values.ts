/** Converts between a maintenance window and the values of its editor. */
import { toInstant, toLocal } from "../../../src/core/time/time-zones.ts";
import type { Times } from "../../../src/monitoring/maintenance/rules.ts";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { type Plan, plainPlan, planOf, ruleOf } from "./recurrence.ts";

/** Values of the editor. Times are local to the window's time zone, such as `2026-11-22T02:00`. */
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

/** Formats a time for a date and time input. */
const clockOf = (at: number, zone: string) =>
  new Date(toLocal(at, zone)).toISOString().slice(0, 16);

/** Parses a local time as if it were UTC. Returns NaN for an incomplete one. */
const localOf = (clock: string): number => Date.parse(`${clock}Z`);

/**
 * Converts a local time to an instant. Returns null for an incomplete one, which the server
 * rejects.
 */
function instantOf(clock: string, zone: string): string | null {
  const local = localOf(clock);
  return Number.isNaN(local) ? null : new Date(toInstant(local, zone)).toISOString();
}

/** Values of a new window: two hours from the next full hour, or from 02:00 on `date`. */
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

export function bodyOf({ start, end, plan, ...values }: Values) {
  return {
    ...values,
    startsAt: instantOf(start, values.timeZone) ?? start,
    endsAt: instantOf(end, values.timeZone) ?? end,
    rrule: ruleOf(plan),
  };
}

/** Times for the preview; null while they are incomplete. */
export function timesOf(values: Values): Times | null {
  const { timeZone, start, end, plan } = values;
  const [startsAt, endsAt] = [instantOf(start, timeZone), instantOf(end, timeZone)];
  return startsAt === null || endsAt === null
    ? null
    : { startsAt, endsAt, timeZone, rrule: ruleOf(plan) };
}

/** Moves the start and preserves the duration. An unused recurrence gets new defaults. */
export function withStart(values: Values, start: string): Partial<Values> {
  const length = localOf(values.end) - localOf(values.start);
  const local = localOf(start);
  if (Number.isNaN(local) || Number.isNaN(length)) return { start };
  const end = new Date(local + length).toISOString().slice(0, 16);
  const { plan } = values;
  return plan.repeats === "never" ? { start, end, plan: plainPlan(local) } : { start, end };
}
