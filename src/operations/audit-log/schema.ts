import { z } from "zod";
import { instant, Timestamp } from "../../core/fields.ts";
import { searchBounds } from "../../core/limits.ts";
import { pageFields } from "../../core/paging.ts";
import type { AuditAction, NounOf } from "../../events/catalogue.ts";

/** Kinds of subjects, which are the first part of an action's name. */
export const auditNouns = [
  "monitor",
  "group",
  "incident",
  "incident-template",
  "maintenance",
  "alert-channel",
  "status-page",
  "subscriber",
  "person",
  "invitation",
  "api-key",
  "settings",
  "organization",
  "backup",
] as const satisfies NounOf<AuditAction>[];

/** Types of actors. */
export const auditActors = ["person", "api-key", "command-line", "monitor", "visitor"] as const;

const filters = {
  /** Searches the sentence of an entry, its action, and its subject's name. */
  q: z.string().trim().min(1).max(searchBounds.text.value).optional(),
  noun: z.enum(auditNouns).optional(),
  actor: z.enum(auditActors).optional(),
  from: instant.optional(),
  to: instant.optional(),
};

export const AuditFilters = z.strictObject(filters);
export type AuditFilters = z.output<typeof AuditFilters>;

export const AuditQuery = z.strictObject({ ...pageFields, ...filters });
export type AuditQuery = z.output<typeof AuditQuery>;

/** An entry of the audit log. New values are left out, because they can be secret. */
export const AuditEntry = z.object({
  /** Position in the log. */
  id: z.string(),
  at: Timestamp,
  actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  action: z.string(),
  subjectId: z.string(),
  /** Current name of the subject; null if it is deleted or has no name. */
  subjectName: z.string().nullable(),
  fields: z.array(z.string()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** Export formats: CSV by RFC 4180 for spreadsheets; JSON Lines for programs, one API entry per line. */
export const exportFormats = { csv: "text/csv", jsonl: "application/x-ndjson" } as const;
export type ExportFormat = keyof typeof exportFormats;
