import { z } from "zod";
import { instant, Timestamp } from "../../core/fields.ts";
import { searchBounds } from "../../core/limits.ts";
import { pageFields } from "../../core/paging.ts";
import type { AuditAction, NounOf } from "../../events/catalogue.ts";

/** What something can be done to, as an action begins. */
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

/** Who can have done it. */
export const auditActors = ["person", "api-key", "command-line", "monitor", "visitor"] as const;

const filters = {
  /** Found in what an entry says as people read it, in its action, and in the name of what it was done to. */
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

/** Who changed what, and when; never to which value, which may be secret. */
export const AuditEntry = z.object({
  /** Its place in the log. */
  id: z.string(),
  at: Timestamp,
  actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  action: z.string(),
  subjectId: z.string(),
  /** What the subject is called now; null for what is gone or has no name. */
  subjectName: z.string().nullable(),
  fields: z.array(z.string()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** CSV of RFC 4180 for spreadsheets; JSON Lines for programs, each line as the API shows an entry. */
export const exportFormats = { csv: "text/csv", jsonl: "application/x-ndjson" } as const;
export type ExportFormat = keyof typeof exportFormats;
