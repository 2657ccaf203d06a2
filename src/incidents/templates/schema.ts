/** Wire format of incident templates. */
import { z } from "zod";
import {
  bodySchema,
  Id,
  line,
  paragraphs,
  toPatchShape,
  Severity,
  Timestamp,
  limitPlaceholders,
} from "../../core/fields.ts";
import { formatPlaceholders } from "../../core/text/formatting.ts";
import { IncidentStatus } from "../schema.ts";
import { templatePlaceholders } from "../rules.ts";

const readOnly = ["id", "createdAt", "updatedAt"];
const placeholders = `Placeholders, which the composer fills in: ${formatPlaceholders(
  templatePlaceholders,
)
  .map((name) => `\`${name}\``)
  .join(" ")}`;

const fields = {
  name: line(100).meta({ description: "Name in the list of templates." }),
  status: IncidentStatus.default("investigating").meta({
    description: "Status of the update.",
  }),
  title: limitPlaceholders(line(500), templatePlaceholders)
    .nullable()
    .default(null)
    .meta({ description: `Title of a new incident. ${placeholders}` }),
  severity: Severity.nullable().default(null).meta({ description: "Severity of a new incident." }),
  message: limitPlaceholders(paragraphs(5000), templatePlaceholders).meta({
    description: `Text of the update. ${placeholders}`,
  }),
};

const example = {
  name: "Payment provider down",
  status: "identified",
  title: "{{monitors}}: payments fail",
  severity: "major",
  message:
    "Our payment provider has had an outage since {{time}}. Orders are stored and paid later.",
} as const;

export const NewIncidentTemplate = bodySchema(
  readOnly,
  z.strictObject(fields).meta({ id: "NewIncidentTemplate", example }),
);
export type NewIncidentTemplate = z.output<typeof NewIncidentTemplate>;

export const IncidentTemplatePatch = bodySchema(
  readOnly,
  z
    .strictObject(toPatchShape(fields))
    .refine((patch) => Object.values(patch).some((value) => value !== undefined), {
      error: "must have at least one field",
    })
    .meta({ id: "IncidentTemplatePatch", minProperties: 1, example: { severity: "critical" } }),
);
export type IncidentTemplatePatch = z.output<typeof IncidentTemplatePatch>;

export const IncidentTemplate = z
  .object({
    id: Id,
    name: z.string(),
    status: IncidentStatus,
    title: z.string().nullable(),
    severity: Severity.nullable(),
    message: z.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "IncidentTemplate",
    description: "Text from which an incident or an update can start.",
    example: {
      id: "01a1fb99-5a10-7f42-8d21-6b0c9e8f7a65",
      ...example,
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type IncidentTemplate = z.infer<typeof IncidentTemplate>;
