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
};

export const csvHead = formatCsvRow(Object.keys(columns));

export function formatLine(format: ExportFormat, entry: AuditEntry): string {
  if (format === "jsonl") return `${JSON.stringify(entry)}\n`;
  return formatCsvRow(Object.values(columns).map((valueOf) => valueOf(entry) ?? ""));
}
