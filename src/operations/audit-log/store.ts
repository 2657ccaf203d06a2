import { getTableName } from "drizzle-orm";
import { dayMs, timestamp } from "../../core/clock.ts";
import { offsetOf } from "../../core/paging.ts";
import { type Sweeping, sweepLog } from "../../database/portions.ts";
import { containing } from "../../database/references.ts";
import type { Store } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { apiKeys, invitations, memberships, people } from "../../database/tables/accounts.ts";
import { auditEntries } from "../../database/tables/events.ts";
import { incidents, incidentTemplates } from "../../database/tables/incidents.ts";
import { maintenanceWindows, monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { organizations } from "../../database/tables/organizations.ts";
import { statusPages } from "../../database/tables/status-pages.ts";
import type { AuditFilters, AuditQuery } from "./schema.ts";

/** What names a record of each kind. */
const named = [
  [monitors, "name"],
  [monitorGroups, "name"],
  [incidents, "title"],
  [incidentTemplates, "name"],
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

/** Ids of what is called so now. */
const subjectsNamed = [
  ...named.map(
    ([table, column]) =>
      `select id from ${getTableName(table)} where organization_id = ? and ${column} like ? escape '\\'`,
  ),
  `select p.id from ${getTableName(people)} p join ${getTableName(memberships)} m on m.person_id = p.id
   where m.organization_id = ? and p.name like ? escape '\\'`,
];
const searched = `(e.actor_name like ? escape '\\' or e.action like ? escape '\\'
  or e.subject_id in (${subjectsNamed.join(" union all ")}))`;

type Condition = { text: string; parameters: (string | number)[] };

/** What the filters leave of an organization's entries. */
function conditionOf(organizationId: string, filters: AuditFilters): Condition {
  const { q, noun, actor, from, to } = filters;
  const parts: Condition[] = [];
  if (noun !== undefined)
    parts.push({ text: "e.action >= ? and e.action < ?", parameters: [`${noun}.`, `${noun}/`] });
  if (actor !== undefined) parts.push({ text: "e.actor_type = ?", parameters: [actor] });
  if (from !== undefined) parts.push({ text: "e.at >= ?", parameters: [timestamp(from)] });
  if (to !== undefined) parts.push({ text: "e.at < ?", parameters: [timestamp(to)] });
  if (q !== undefined) {
    const pattern = containing(q);
    const names = subjectsNamed.flatMap(() => [organizationId, pattern]);
    parts.push({ text: searched, parameters: [pattern, pattern, ...names] });
  }
  return {
    text: parts.map(({ text }) => ` and ${text}`).join(""),
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

export function pageOfEntries(
  store: Store,
  organizationId: string,
  { page, per_page, ...filters }: AuditQuery,
): Promise<EntryRow[]> {
  const { text, parameters } = conditionOf(organizationId, filters);
  return store.query<EntryRow>(`${columns}${text} order by e.seq desc limit ? offset ?`, [
    organizationId,
    ...parameters,
    per_page,
    offsetOf({ page, per_page }),
  ]);
}

/** The entries after this one, oldest first. */
export function entriesAfter(
  store: Store,
  organizationId: string,
  filters: AuditFilters,
  seq: number,
  limit: number,
): Promise<EntryRow[]> {
  const { text, parameters } = conditionOf(organizationId, filters);
  return store.query<EntryRow>(`${columns}${text} and e.seq > ? order by e.seq limit ?`, [
    organizationId,
    ...parameters,
    seq,
    limit,
  ]);
}

export async function countEntries(
  store: Store,
  organizationId: string,
  filters: AuditFilters,
): Promise<number> {
  const { text, parameters } = conditionOf(organizationId, filters);
  const [row] = await store.query<{ total: number }>(
    `select count(*) as total from ${getTableName(auditEntries)} e where e.organization_id = ?${text}`,
    [organizationId, ...parameters],
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
