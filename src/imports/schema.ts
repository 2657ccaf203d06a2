/** Request and response schemas of imports, uploads and import reports. */
import { z } from "zod";
import { integer, line, Timestamp } from "../core/fields.ts";

const ImportDecision = z.enum(["created", "updated", "unchanged", "not-taken"]);
type ImportDecision = z.infer<typeof ImportDecision>;

export const ImportItem = z.object({
  noun: z.string(),
  externalId: z.string(),
  name: z.string(),
  decision: ImportDecision,
  /** Whether the record is paused or disabled because a required part is missing. */
  isIncomplete: z.boolean(),
  notes: z.array(z.string()),
});
export type ImportItem = z.infer<typeof ImportItem>;

/** Report of every decision of an import, by record name. */
export const ImportReport = z.object({
  source: z.string(),
  product: z.string(),
  items: z.array(ImportItem),
  hints: z.array(z.string()),
  history: z
    .object({ heartbeats: z.int(), hours: z.int(), days: z.int() })
    .meta({ description: "Number of imported results." }),
});
export type ImportReport = z.infer<typeof ImportReport>;

export const ImportRun = z.object({
  id: z.string(),
  source: z.string(),
  status: z.enum(["running", "done", "undone"]),
  actorName: z.string(),
  createdAt: Timestamp,
  report: ImportReport.nullable(),
});
export type ImportRun = z.infer<typeof ImportRun>;

export const ImportSource = z.enum(["uptime-kuma", "gatus", "healthchecks"]);
export type ImportSource = z.infer<typeof ImportSource>;

export const NewUpload = z.strictObject({ name: line(255), size: integer(1, 2 ** 43) });
export type NewUpload = z.infer<typeof NewUpload>;

export const Upload = z.object({
  id: z.string(),
  received: z.int().meta({ description: "Bytes received so far." }),
});
export type Upload = z.infer<typeof Upload>;

export const UploadPart = z.strictObject({
  offset: z
    .string()
    .regex(/^\d{1,13}$/, "must be a whole number of bytes")
    .transform(Number)
    .meta({
      override: {
        type: "integer",
        minimum: 0,
        description: "Position of the part in the file, in bytes.",
      },
    }),
});

export const UploadSource = z.strictObject({ source: ImportSource });

export const ImportStart = z.strictObject({
  source: ImportSource,
  only: z
    .array(z.string().max(300))
    .max(5_000)
    .nullable()
    .default(null)
    .meta({ description: "Selected records, such as `monitor:17`; null for all." }),
  paused: z.boolean().default(false),
});
