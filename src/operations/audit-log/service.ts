import type { Scope } from "../../events/scope.ts";
import { page } from "../../core/paging.ts";
import type { AuditEntry, AuditQuery } from "./schema.ts";
import { countEntries, type EntryRow, pageOfEntries } from "./store.ts";

/** A page of the organization's audit log, newest first. */
export async function listAuditEntries({ store, organizationId }: Scope, query: AuditQuery) {
  const [rows, total] = await Promise.all([
    pageOfEntries(store, organizationId, query),
    countEntries(store, organizationId),
  ]);
  return page(query, rows.map(shown), total);
}

function shown({ seq, actorType, actorId, actorName, fields, ...row }: EntryRow): AuditEntry {
  return {
    ...row,
    id: String(seq),
    actor: { type: actorType, id: actorId, name: actorName },
    fields: fields === null ? [] : (JSON.parse(fields) as string[]),
  };
}
