/** Wire format of times of the week, for schedules and quiet hours. */
import { z } from "zod";

export const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const;
export type Weekday = (typeof weekdays)[number];

export const ClockTime = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day such as 09:00")
  .meta({ example: "09:00" });

export const ScheduleHours = z
  .strictObject({
    days: z
      .array(z.enum(weekdays))
      .max(weekdays.length)
      .min(1)
      .transform((days) => weekdays.filter((day) => days.includes(day)))
      .meta({ description: "Days on which `from` is.", example: ["monday", "friday"] }),
    from: ClockTime,
    until: ClockTime.meta({
      description: "At or before `from`, it is on the next day; the same time is a whole day.",
      example: "17:00",
    }),
  })
  .meta({ id: "ScheduleHours" });
export type ScheduleHours = z.output<typeof ScheduleHours>;
