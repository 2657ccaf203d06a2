/** Formats audit entries for files, and decides which entries repeat others. */
import { hourMs } from "../../core/time/clock.ts";
import { formatCsvRow } from "../../core/text/formatting.ts";
import type { AuditEntry, ExportFormat } from "./schema.ts";

const columns: Record<string, (entry: AuditEntry) => string | null> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  actorType: ({ actor }) => actor.type,
  actorId: ({ actor }) => actor.id,
  actorName: ({ actor }) => actor.name,
  action: ({ action }) => action,
  subjectId: ({ subjectId }) => subjectId,
  subjectName: ({ subjectName }) => subjectName,
  fields: ({ fields }) => fields.join(" "),
  changes: ({ changes }) =>
    changes
      .map(
        ({ field, ...values }) =>
          `${field}: ${formatJson(values.before)} → ${formatJson(values.after)}`,
      )
      .join("; "),
  tool: ({ tool }) => tool,
};

const formatJson = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

export const csvHead = formatCsvRow(Object.keys(columns));

export function formatLine(format: ExportFormat, entry: AuditEntry): string {
  if (format === "jsonl") return `${JSON.stringify(entry)}\n`;
  return formatCsvRow(Object.values(columns).map((valueOf) => valueOf(entry) ?? ""));
}

/** The facts that decide whether an entry repeats another one. */
export type FoldableEntry = {
  seq: number;
  at: string;
  actorType: string;
  actorId: string | null;
  action: string;
  subjectId: string;
  requestId: string | null;
  fields: string | null;
  changes: string | null;
};

/** Entries that are listed as one, newest first. */
export type FoldedEntries = {
  newest: FoldableEntry;
  count: number;
  since: string;
  subjects: Set<string>;
};

export const startFold = (newest: FoldableEntry): FoldedEntries => ({
  newest,
  count: 1,
  since: newest.at,
  subjects: new Set([newest.subjectId]),
});

/** Subjects without names, so a single entry has little information. */
const namelessSubjects = /^subscriber\./;

/**
 * Whether an older entry repeats these: the same actor made the same change within an hour. The record, the write or
 * the values must be the same too, except for subscribers.
 */
export function isRepetition({ newest, since }: FoldedEntries, older: FoldableEntry): boolean {
  return (
    older.action === newest.action &&
    older.actorType === newest.actorType &&
    older.actorId === newest.actorId &&
    older.fields === newest.fields &&
    older.changes === newest.changes &&
    Date.parse(since) - Date.parse(older.at) <= hourMs &&
    (older.subjectId === newest.subjectId ||
      (older.at === newest.at && older.requestId === newest.requestId) ||
      older.changes !== null ||
      namelessSubjects.test(older.action))
  );
}
