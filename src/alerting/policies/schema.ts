/** Wire format of escalation policies: their steps, and when they apply. */
import { z } from "zod";
import {
  bodySchema,
  Id,
  integer,
  line,
  nullable,
  optionalParagraphs,
  Severity,
  Timestamp,
  toPatchShape,
} from "../../core/fields.ts";
import { escalationBounds } from "../../core/limits.ts";
import { MonthlyDrill } from "../drills/schema.ts";

const targetTypes = ["person", "schedule", "channel"] as const;

export const EscalationTarget = z.strictObject({ type: z.enum(targetTypes), id: Id }).meta({
  id: "EscalationTarget",
  description:
    "A person by their contact methods, the person on call in a schedule, or an alert channel.",
});
export type EscalationTarget = z.infer<typeof EscalationTarget>;

const targets = z
  .array(EscalationTarget)
  .min(1, "must have at least one target")
  .max(escalationBounds.targets.value)
  .superRefine((all, context) => {
    const seen = new Set<string>();
    for (const [index, { type, id }] of all.entries()) {
      if (seen.has(`${type} ${id}`))
        context.addIssue({ code: "custom", path: [index], message: "is already in this step" });
      seen.add(`${type} ${id}`);
    }
  });

export const EscalationStep = z
  .strictObject({
    afterMinutes: integer(0, escalationBounds.afterMinutes.value).meta({
      description: "Minutes from the start of the alert.",
    }),
    targets,
  })
  .meta({ id: "EscalationStep" });
export type EscalationStep = z.infer<typeof EscalationStep>;

const steps = z
  .array(EscalationStep)
  .max(escalationBounds.steps.value)
  .superRefine((all, context) => {
    for (const [index, { afterMinutes }] of all.entries())
      if (index > 0 && afterMinutes <= (all[index - 1]?.afterMinutes ?? 0))
        context.addIssue({
          code: "custom",
          path: [index, "afterMinutes"],
          message: "must be later than the previous step",
        });
  });

export const policyFields = {
  name: line(255).meta({ example: "Shop" }),
  description: optionalParagraphs(2000).default(""),
  steps: steps.default([]).meta({
    description:
      "Steps until someone acknowledges the alert, each later than the previous one. A policy without steps notifies no one; it exempts monitors from the default policy.",
  }),
  repeat: integer(0, 9)
    .default(0)
    .meta({ description: "Number of repetitions of all steps after the first run." }),
  default: z.boolean().default(false).meta({
    description:
      "Used for monitors without a policy. At most one policy of an organization is the default.",
  }),
  incidentSeverities: z
    .array(Severity)
    .max(Severity.options.length)
    .transform((all) => Severity.options.filter((one) => all.includes(one)))
    .default([])
    .meta({
      description:
        "Severities of incidents that use the policy. A severity belongs to at most one policy.",
    }),
  drill: nullable(MonthlyDrill).meta({
    description: "When the policy is drilled every month; null for never.",
  }),
};

const readOnly = ["id", "createdAt", "updatedAt"];

const example = {
  name: "Shop",
  steps: [
    {
      afterMinutes: 0,
      targets: [{ type: "schedule" as const, id: "01a1fb99-7a10-7c3d-8b4a-59687766a5b4" }],
    },
    {
      afterMinutes: 10,
      targets: [{ type: "channel" as const, id: "01a1fb99-4d72-7e11-9c3a-5b7d9f1e3a46" }],
    },
  ],
  repeat: 2,
};

export const NewEscalationPolicy = bodySchema(
  readOnly,
  z.strictObject(policyFields).meta({
    id: "NewEscalationPolicy",
    example: { name: "Shop", incidentSeverities: ["critical"] },
  }),
);
export type NewEscalationPolicy = z.output<typeof NewEscalationPolicy>;

export const EscalationPolicyPatch = bodySchema(
  readOnly,
  z
    .strictObject(toPatchShape(policyFields))
    .meta({ id: "EscalationPolicyPatch", example: { repeat: 1 } }),
);
export type EscalationPolicyPatch = z.output<typeof EscalationPolicyPatch>;

export const EscalationPolicy = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string(),
    steps: z.array(EscalationStep),
    repeat: z.int(),
    default: z.boolean(),
    incidentSeverities: z.array(Severity),
    drill: MonthlyDrill.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "EscalationPolicy",
    description:
      "Whom to notify of an alert, step by step, until someone acknowledges it or it is over.",
    example: {
      id: "01a1fb99-8b20-7d4e-9c5b-6a7988b6c5d4",
      ...example,
      description: "",
      default: false,
      incidentSeverities: ["critical"],
      drill: { day: "tuesday", from: "10:00", until: "16:00", timeZone: "Europe/Berlin" },
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type EscalationPolicy = z.infer<typeof EscalationPolicy>;
