/** Wire format of a monitor's timeline. */
import { z } from "zod";
import { dayMs, hourMs } from "../core/time/clock.ts";
import { Id, instant, Severity, Origin, Timestamp } from "../core/fields.ts";
import { createCountField } from "../core/paging.ts";

const maxPoints = 500;

export const TimelineQuery = z
  .strictObject({
    from: instant,
    to: instant,
    /** Seconds between two points: whole hours from one hour, whole days from one day. */
    step: createCountField(31 * 86_400, 3_600, "Steps"),
  })
  .refine(({ from, to }) => from < to, { path: ["from"], message: "must be before to" })
  .refine(({ from, to, step }) => (to - from) / (step * 1000) <= maxPoints, {
    path: ["step"],
    message: `must give at most ${maxPoints} points`,
  })
  .refine(({ from, to, step }) => step * 1000 >= hourMs || to - from <= 3 * dayMs, {
    path: ["step"],
    message: "must be an hour or more for more than three days",
  })
  .refine(({ step }) => step < 3_600 || step % (step < 86_400 ? 3_600 : 86_400) === 0, {
    path: ["step"],
    message: "must be whole hours, from a day on whole days",
  });
export type TimelineQuery = z.infer<typeof TimelineQuery>;

const seconds = z.int();
const ms = z.int().nullable();

/** States of a monitor from `at` until the next point. Times without results have no point. */
export const TimelinePoint = z.object({
  at: Timestamp,
  upSeconds: seconds,
  degradedSeconds: seconds,
  downSeconds: seconds,
  unknownSeconds: seconds,
  maintenanceSeconds: seconds,
  checks: z.int(),
  averageMs: z.number().nullable(),
  p50Ms: ms,
  p95Ms: ms,
  p99Ms: ms,
  maxMs: ms,
  /** Reason for being down or degraded. */
  reason: z.string().nullable(),
});
export type TimelinePoint = z.infer<typeof TimelinePoint>;

export const Timeline = z.object({
  from: Timestamp,
  to: Timestamp,
  step: z.int(),
  points: z.array(TimelinePoint),
  /** Incidents of the monitor that were open in the period, newest first. */
  incidents: z.array(
    z.object({
      id: Id,
      title: z.string(),
      origin: Origin,
      severity: Severity,
      createdAt: Timestamp,
      resolvedAt: Timestamp.nullable(),
    }),
  ),
});
export type Timeline = z.infer<typeof Timeline>;
