/** Lists, searches and downloads the audit log. */
import type { FieldChange } from "../../core/field-changes.ts";
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
import { readAllEntries, type EntryRow, findEntryPage, findNames } from "./store.ts";

/** Returns a page of the organization's audit log, newest first. */
export async function listAuditEntries(scope: Scope, query: AuditQuery) {
  const readEntryPage = () => findEntryPage(scope, query);
  const { rows, total } = await (query.q === undefined && !query.fold
    ? readEntryPage()
    : runInSearchTurn(scope, readEntryPage));
  return buildPage(query, await toAuditEntries(scope, rows), total);
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
  for await (const rows of readAllEntries(tenant, filters, entriesPerPortion)) {
    const entries = await toAuditEntries(tenant, rows);
    yield entries.map((entry) => formatLine(format, entry)).join("");
  }
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

async function toAuditEntries(tenant: Tenant, rows: readonly EntryRow[]): Promise<AuditEntry[]> {
  const changesOf = rows.map(({ changes }) =>
    changes === null ? [] : (JSON.parse(changes) as FieldChange[]),
  );
  const idsOf = changesOf.map((changes) => [
    ...new Set(changes.flatMap(({ before, after }) => findIds([before, after]))),
  ]);
  const isUnnamed = (row: EntryRow) => (row.currentName ?? row.subjectName) === null;
  const unnamed = rows.filter(isUnnamed).map(({ subjectId }) => subjectId);
  const names = await findNames(tenant, [...idsOf.flat(), ...unnamed]);
  return rows.map((row, index) => ({
    id: String(row.seq),
    at: row.at,
    actor: { type: row.actorType, id: row.actorId, name: row.actorName },
    action: row.action,
    tool: row.tool,
    subjectId: row.subjectId,
    subjectName: row.currentName ?? row.subjectName ?? names.get(row.subjectId) ?? null,
    subjectOrigin: row.subjectOrigin,
    subjectExists:
      row.currentName !== null || row.isSubscriber === 1 || row.action.startsWith("alert."),
    restorable: row.isRestorable === 1,
    fields: row.fields === null ? [] : (JSON.parse(row.fields) as string[]),
    changes: changesOf[index] ?? [],
    names: Object.fromEntries(
      (idsOf[index] ?? []).flatMap((id) => {
        const name = names.get(id);
        return name === undefined ? [] : [[id, name]];
      }),
    ),
    repeated: row.repeated ?? null,
  }));
}

/** Returns the IDs in these values. */
const findIds = (values: readonly unknown[]): string[] =>
  JSON.stringify(values).match(/(?<=")[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=")/g) ?? [];
