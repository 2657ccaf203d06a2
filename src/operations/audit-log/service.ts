/** Lists, searches and downloads the audit log. */
import { formatTimestamp } from "../../core/time/clock.ts";
import type { Scope } from "../../events/scope.ts";
import { runInSearchTurn } from "../../events/organization-turns.ts";
import type { Tenant } from "../../database/rows.ts";
import { buildPage } from "../../core/paging.ts";
import {
  type AuditEntry,
  type AuditFilters,
  type AuditQuery,
  type ExportFormat,
  exportFormats,
} from "./schema.ts";
import { csvHead, formatLine } from "./rules.ts";
import { readAllEntries, type EntryRow, findEntryPage } from "./store.ts";

/** Returns a page of the organization's audit log, newest first. */
export async function listAuditEntries(scope: Scope, query: AuditQuery) {
  const readEntryPage = () => findEntryPage(scope, query);
  const { rows, total } = await (query.q === undefined
    ? readEntryPage()
    : runInSearchTurn(scope, readEntryPage));
  return buildPage(query, rows.map(toAuditEntry), total);
}

/** Maximum entries per query. */
const entriesPerPortion = 200;

/** Yields the filtered audit log of an organization as lines of a file, oldest first. */
export async function* exportLines(
  tenant: Tenant,
  format: ExportFormat,
  filters: AuditFilters = {},
): AsyncGenerator<string> {
  if (format === "csv") yield csvHead;
  for await (const rows of readAllEntries(tenant, filters, entriesPerPortion))
    yield rows.map((row) => formatLine(format, toAuditEntry(row))).join("");
}

/** Streams the log at the client's speed, and stops if the client loses the permission. */
export function downloadAuditLog(
  scope: Scope,
  format: ExportFormat,
  filters: AuditFilters,
  mayGoOn: () => Promise<boolean>,
): Response {
  const encoder = new TextEncoder();
  const lines = exportLines(scope, format, filters);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!(await mayGoOn()))
        return controller.error(new Error("You may no longer download this."));
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
  const day = formatTimestamp(scope.clock()).slice(0, 10);
  return new Response(body, {
    headers: {
      "Content-Type": exportFormats[format],
      "Content-Disposition": `attachment; filename="audit-log-${day}.${format}"`,
      "X-Content-Type-Options": "nosniff",
    },
  });
}

function toAuditEntry({
  seq,
  actorType,
  actorId,
  actorName,
  fields,
  ...row
}: EntryRow): AuditEntry {
  return {
    ...row,
    id: String(seq),
    actor: { type: actorType, id: actorId, name: actorName },
    fields: fields === null ? [] : (JSON.parse(fields) as string[]),
  };
}
