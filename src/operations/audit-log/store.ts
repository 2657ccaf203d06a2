import { getTableName } from "drizzle-orm";
import { dayMs } from "../../core/clock.ts";
import { offsetOf, type PageRequest } from "../../core/paging.ts";
import { type Sweeping, sweepLog } from "../../database/portions.ts";
import type { Store } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { apiKeys, invitations, people } from "../../database/tables/accounts.ts";
import { auditEntries } from "../../database/tables/events.ts";
import { incidents } from "../../database/tables/incidents.ts";
import { maintenanceWindows, monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { organizations } from "../../database/tables/organizations.ts";
import { statusPages } from "../../database/tables/status-pages.ts";

/** What names a record of each kind. */
const named = [
  [monitors, "name"],
  [monitorGroups, "name"],
  [incidents, "title"],
  [alertChannels, "name"],
  [maintenanceWindows, "title"],
  [statusPages, "title"],
  [apiKeys, "name"],
  [invitations, "email"],
] as const;

const names = named.map(
  ([table, column]) =>
    `(select ${column} from ${getTableName(table)} s where s.organization_id = e.organization_id and s.id = e.subject_id)`,
);

const columns = `select e.seq, e.at, e.actor_type as "actorType", e.actor_id as "actorId",
  e.actor_name as "actorName", e.action, e.subject_id as "subjectId", e.fields,
  coalesce(${names.join(", ")},
    (select name from ${getTableName(people)} where id = e.subject_id),
    (select name from ${getTableName(organizations)} where id = e.organization_id and id = e.subject_id)
  ) as "subjectName"
  from ${getTableName(auditEntries)} e where e.organization_id = ?`;
const newest = `${columns} order by e.seq desc limit ? offset ?`;
const after = `${columns} and e.seq > ? order by e.seq limit ?`;

export type EntryRow = {
  seq: number;
  at: string;
  actorType: string;
  actorId: string | null;
  actorName: string;
  action: string;
  subjectId: string;
  fields: string | null;
  subjectName: string | null;
};

export function pageOfEntries(
  store: Store,
  organizationId: string,
  request: PageRequest,
): Promise<EntryRow[]> {
  return store.query<EntryRow>(newest, [organizationId, request.per_page, offsetOf(request)]);
}

/** The entries after this one, oldest first. */
export function entriesAfter(
  store: Store,
  organizationId: string,
  seq: number,
  limit: number,
): Promise<EntryRow[]> {
  return store.query<EntryRow>(after, [organizationId, seq, limit]);
}

export async function countEntries(store: Store, organizationId: string): Promise<number> {
  const [row] = await store.query<{ total: number }>(
    `select count(*) as total from ${getTableName(auditEntries)} where organization_id = ?`,
    [organizationId],
  );
  return row?.total ?? 0;
}

/** Removes entries that are older than they are to be kept. */
export async function sweepAuditLog(sweeping: Sweeping, days: number): Promise<void> {
  await sweepLog(
    sweeping,
    { name: "audit log", keptMs: days * dayMs },
    "select seq, at from audit_entries where seq > ? order by seq limit ?",
    (from, to) => [
      {
        text: "delete from audit_entries where seq > ? and seq <= ?",
        parameters: [from, to],
      },
    ],
  );
}
