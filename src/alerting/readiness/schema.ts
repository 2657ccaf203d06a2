/** Wire format of the readiness for alerts: who can be reached how, and what is missing. */
import { z } from "zod";
import { Id, Timestamp } from "../../core/fields.ts";
import { MonthlyDrill } from "../drills/schema.ts";

const readinessProblems = [
  "no-contact-method",
  "not-verified",
  "disabled",
  "failing",
  "none-for-critical",
  "gap",
  "not-used",
  "reaches-nobody",
  "ends-in-nobody",
  "channel-disabled",
  "channel-failing",
  "drill-not-acknowledged",
] as const;

const Use = z.object({
  type: z.enum(["schedule", "policy"]),
  id: Id,
  name: z.string(),
});

const Method = z.object({
  id: Id,
  name: z.string(),
  type: z.string(),
  usedAfterMinutes: z
    .int()
    .nullable()
    .meta({ description: "Minutes after which a page uses it; null if it is not used." }),
  usedForCriticalAfterMinutes: z.int().nullable(),
  provenAt: Timestamp.nullable().meta({
    description: "Time of the last delivered message, or of the last verification.",
  }),
  problem: z.enum(["disabled", "not-verified", "failing"]).nullable(),
});

export const ReadinessPerson = z.object({
  id: Id,
  name: z.string(),
  onCall: z.boolean().meta({
    description:
      "Whether a policy would notify the person now: directly, or as the person on call in a schedule.",
  }),
  uses: z.array(Use).meta({ description: "Schedules and policies that name the person." }),
  reachable: z.boolean().meta({ description: "By alerts of low and normal priority." }),
  reachableForCritical: z.boolean(),
  contactMethods: z.array(Method),
  acknowledgedAt: Timestamp.nullable().meta({
    description: "Time of the last acknowledged alert or drill, within 90 days.",
  }),
  drill: MonthlyDrill.nullable().meta({ description: "When the person is drilled every month." }),
});
export type ReadinessPerson = z.infer<typeof ReadinessPerson>;

export const ReadinessProblem = z.object({
  type: z.enum(readinessProblems),
  severity: z.enum(["error", "warning"]),
  message: z.string().meta({ description: "One sentence." }),
  subject: z
    .object({ type: z.enum(["person", "schedule", "policy", "channel", "alert"]), id: Id })
    .meta({ description: "The record to mend." }),
});
export type ReadinessProblem = z.infer<typeof ReadinessProblem>;

export const Readiness = z
  .object({
    at: Timestamp,
    problems: z.array(ReadinessProblem).meta({ description: "Errors first." }),
    people: z.array(ReadinessPerson).meta({
      description:
        "People whom schedules and policies name, or whom a monthly drill notifies; who can't be reached first.",
    }),
  })
  .meta({
    id: "Readiness",
    description: "Whether alerts reach people.",
    example: {
      at: "2026-12-01T09:02:00.000Z",
      problems: [
        {
          type: "not-verified",
          severity: "error",
          message: "No contact method of Ben is verified.",
          subject: { type: "person", id: "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4d" },
        },
      ],
      people: [
        {
          id: "01a1fb99-7a1c-7d10-8b42-9c0e1f2a3b4c",
          name: "Ada",
          onCall: true,
          uses: [
            { type: "schedule", id: "01a1fb99-6b2d-7e31-9f52-1a2b3c4d5e6f", name: "Platform" },
          ],
          reachable: true,
          reachableForCritical: true,
          contactMethods: [
            {
              id: "01a1fb99-9c31-7e5f-8d6c-7b8a99c7d6e5",
              name: "Phone",
              type: "ntfy",
              usedAfterMinutes: 0,
              usedForCriticalAfterMinutes: 0,
              provenAt: "2026-11-30T08:01:12.000Z",
              problem: null,
            },
          ],
          acknowledgedAt: "2026-11-20T23:04:10.000Z",
          drill: { day: "tuesday", from: "10:00", until: "16:00", timeZone: "Europe/Berlin" },
        },
      ],
    },
  });
export type Readiness = z.infer<typeof Readiness>;
