import { z } from "zod";
import { Timestamp } from "../../core/fields.ts";
import { pageFields } from "../../core/paging.ts";

export const AuditQuery = z.strictObject(pageFields);
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
