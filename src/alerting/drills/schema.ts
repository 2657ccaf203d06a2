/** Wire format of drills: alerts to practice, once or every month. */
import { z } from "zod";
import { integer, TimeZone, Timestamp } from "../../core/fields.ts";
import { priorities } from "../../core/statuses.ts";
import { PreviewedStep } from "../schema.ts";
import { ClockTime, weekdays } from "../hours/schema.ts";

/** Last day of the month that all months have. */
const lastDay = 28;

export const MonthlyDrill = z
  .strictObject({
    day: z.union([integer(1, lastDay), z.enum(weekdays)]).meta({
      description: "Day of the month, or a weekday for the first one in the month.",
      example: "tuesday",
    }),
    from: ClockTime.meta({
      description: "The drill starts at an unannounced time between `from` and `until`.",
      example: "10:00",
    }),
    until: ClockTime.meta({ description: "Later than `from`.", example: "16:00" }),
    timeZone: TimeZone.default("UTC").meta({ example: "Europe/Berlin" }),
  })
  .refine(({ from, until }) => until > from, {
    error: "must be later than from",
    path: ["until"],
  })
  .meta({ id: "MonthlyDrill" });
export type MonthlyDrill = z.output<typeof MonthlyDrill>;

/** The monthly drill of a person. */
export const PersonDrill = z
  .strictObject({
    drill: MonthlyDrill.nullable().meta({
      description: "When the person is drilled every month; null for never.",
    }),
  })
  .meta({
    id: "PersonDrill",
    example: {
      drill: { day: "tuesday", from: "10:00", until: "16:00", timeZone: "Europe/Berlin" },
    },
  });
export type PersonDrill = z.output<typeof PersonDrill>;

const priority = z
  .enum(priorities)
  .default("normal")
  .meta({ description: "Decides which contact methods are used." });

export const NewDrill = z
  .strictObject({ priority })
  .meta({ id: "NewDrill", example: { priority: "critical" } })
  .default({ priority: "normal" });
export type NewDrill = z.output<typeof NewDrill>;

export const DrillQuery = z.strictObject({ priority });

/** Recipients of a drill that starts now. */
export const DrillPreview = z
  .object({
    at: Timestamp,
    name: z.string().meta({ description: "Name of the policy or person." }),
    steps: z.array(PreviewedStep).meta({
      description: "Until someone acknowledges. The last one is for the end, when nobody did.",
    }),
  })
  .meta({
    id: "DrillPreview",
    example: {
      at: "2026-12-01T09:02:00.000Z",
      name: "Shop",
      steps: [
        {
          step: 1,
          round: 0,
          at: "2026-12-01T09:02:00.000Z",
          message: "Ada Lovelace",
          notifications: [
            {
              at: "2026-12-01T09:02:00.000Z",
              held: false,
              channel: { id: "01a1fb99-9c31-7e5f-8d6c-7b8a99c7d6e5", name: "Phone" },
              person: { id: "01a1fb99-5e83-7f22-8d4b-6c8e0f2a4b57", name: "Ada Lovelace" },
            },
          ],
        },
      ],
    },
  });
export type DrillPreview = z.infer<typeof DrillPreview>;
