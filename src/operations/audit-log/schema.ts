/** Schemas of the audit log: filters, entries, and export formats. */
import { z } from "zod";
import { Id, instant, Origin, Timestamp } from "../../core/fields.ts";
import { actorTypes } from "../../core/statuses.ts";
import { FieldChange } from "../../core/field-changes.ts";
import { searchBounds } from "../../core/limits.ts";
import { pageFields } from "../../core/paging.ts";
import { type AuditAction, auditVerbs, type NounOf } from "../../events/catalog.ts";

/** Kinds of subjects, which are the first part of an action's name. */
const auditNouns = Object.keys(auditVerbs) as NounOf<AuditAction>[];

/** Returns the actions on one kind of subject. */
const listActions = (noun: NounOf<AuditAction>): AuditAction[] =>
  auditVerbs[noun].map((verb) => `${noun}.${verb}` as AuditAction);

const filters = {
  /** Searches the sentence of an entry, its action, and its subject's name. */
  q: z.string().trim().min(1).max(searchBounds.text.value).optional(),
  noun: z.enum(auditNouns).optional(),
  action: z.enum(auditNouns.flatMap(listActions)).optional(),
  /** Record that was changed, even if it was deleted. */
  subjectId: Id.optional(),
  actor: z.enum(actorTypes).optional(),
  /** Person or API key that made the change. */
  actorId: Id.optional(),
  from: instant.optional(),
  to: instant.optional(),
};

export const AuditFilters = z.strictObject(filters);
export type AuditFilters = z.output<typeof AuditFilters>;

export const AuditQuery = z.strictObject({
  ...pageFields,
  ...filters,
  /** Whether repeated entries are listed as one, with the facts of the newest. */
  fold: z
    .enum(["true", "false"])
    .transform((fold) => fold === "true")
    .default(false),
});
export type AuditQuery = z.output<typeof AuditQuery>;

/** An entry of the audit log. Values of secret fields are left out. */
export const AuditEntry = z.object({
  /** Position in the log. */
  id: z.string(),
  at: Timestamp,
  actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  action: z.string(),
  /** Tool of the MCP server with which the change was made; null for all other changes. */
  tool: z.string().nullable(),
  subjectId: z.string(),
  /** Current name of the subject, or its last name if it was deleted; null if it has none. */
  subjectName: z.string().nullable(),
  /** Who opened an incident, whose automatic titles can be translated; null for other subjects. */
  subjectOrigin: Origin.nullable(),
  /** Whether the subject exists. */
  subjectExists: z.boolean(),
  /** Whether the subject was deleted and can be restored. */
  restorable: z.boolean(),
  fields: z.array(z.string()),
  /** Values of the changed fields, without secrets. Entries of earlier versions have none. */
  changes: z.array(FieldChange),
  /** Names of the records whose IDs are in `changes`. */
  names: z.record(z.string(), z.string()),
  /** Further entries that this one summarizes; null without any. */
  repeated: z
    .object({
      /** Number of entries, including this one. */
      count: z.int(),
      /** Number of changed records. */
      subjects: z.int(),
      /** Time of the oldest entry. */
      since: Timestamp,
    })
    .nullable(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** Export formats: CSV by RFC 4180 for spreadsheets; JSON Lines for programs, one API entry per line. */
export const exportFormats = { csv: "text/csv", jsonl: "application/x-ndjson" } as const;
export type ExportFormat = keyof typeof exportFormats;
