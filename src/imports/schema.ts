import { z } from "zod";
import { Timestamp } from "../core/fields.ts";

export const ImportDecision = z.enum(["created", "updated", "unchanged", "not-taken"]);
export type ImportDecision = z.infer<typeof ImportDecision>;

export const ImportItem = z.object({
  noun: z.string(),
  externalId: z.string(),
  name: z.string(),
  decision: ImportDecision,
  /** Whether it came in paused or disabled, because something that it needs is missing here. */
  isIncomplete: z.boolean(),
  notes: z.array(z.string()),
});
export type ImportItem = z.infer<typeof ImportItem>;

/** Every decision of an import, by name. */
export const ImportReport = z.object({
  source: z.string(),
  product: z.string(),
  items: z.array(ImportItem),
  hints: z.array(z.string()),
  history: z
    .object({ heartbeats: z.int(), hours: z.int(), days: z.int() })
    .meta({ description: "Results that were brought along." }),
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
