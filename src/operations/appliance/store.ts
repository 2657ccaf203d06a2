/** Queries of administrators and totals, and the removal of deleted organizations. */
import { asc, eq, sql } from "drizzle-orm";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { SweepContext } from "../../database/backup/sweeping.ts";
import { guard, type Prepared, type Statement, type Store } from "../../database/store.ts";
import { people } from "../../database/tables/accounts.ts";
import type { Administrator, OrganizationEntry } from "./schema.ts";

export function findAdministrators(store: Store): Promise<Administrator[]> {
  return store.db
    .select({ id: people.id, name: people.name, email: people.email })
    .from(people)
    .where(eq(people.administrator, true))
    .orderBy(asc(people.name), asc(people.id));
}

export function setAdministrator(store: Store, personId: string, administrator: boolean) {
  return store.db.update(people).set({ administrator }).where(eq(people.id, personId));
}

/** Guards that this person is an administrator, or is none if `is` is false. */
export function guardAdministratorState(
  personId: string,
  isAdministrator: boolean,
  otherwise: () => AppError,
): Prepared {
  return guard(
    sql`exists (select 1 from ${people} where id = ${personId} and administrator = ${isAdministrator ? 1 : 0})`,
    otherwise,
  );
}

/** Guards that an administrator is left. Append it to writes that can remove one. */
export const administratorGuard: Prepared = guard(
  sql`exists (select 1 from ${people} where administrator)`,
  () =>
    new AppError(
      "CONFLICT",
      "The appliance needs an administrator. Make another person an administrator first.",
    ),
);

const livingOrganizationsSql = "from organizations o where o.deleted_at is null";

export function findOrganizationEntries(store: Store): Promise<OrganizationEntry[]> {
  return store.query(
    `select o.id, o.slug, o.name, o.created_at as createdAt,
       (select count(*) from memberships c where c.organization_id = o.id) as people,
       (select count(*) from monitors c where c.organization_id = o.id) as monitors,
       (select count(*) from status_pages c where c.organization_id = o.id) as statusPages
     ${livingOrganizationsSql} order by o.name, o.slug`,
    [],
  );
}

export async function countAll(store: Store) {
  const [row] = await store.query<{ organizations: number; people: number; monitors: number }>(
    `select (select count(*) ${livingOrganizationsSql}) as organizations, (select count(*) from people) as people,
       (select count(*) from monitors m where exists (select 1 ${livingOrganizationsSql} and o.id = m.organization_id)) as monitors`,
    [],
  );
  return row ?? { organizations: 0, people: 0, monitors: 0 };
}

const prepareForOrganization = (text: string, id: string): Prepared => ({ text, parameters: [id] });

/**
 * Hides an organization in one write: removes its members, keys, channels and status pages, stops
 * its checks, and frees its slug. `sweepOrganizations` removes the other rows.
 */
export function closeOrganization(id: string, at: string): Statement[] {
  return [
    guard(
      sql`exists (select 1 from organizations where id = ${id} and deleted_at is null)`,
      () => new AppError("NOT_FOUND", "There is no organization with this id."),
    ),
    prepareForOrganization("delete from invitations where organization_id = ?", id),
    prepareForOrganization("delete from api_keys where organization_id = ?", id),
    prepareForOrganization("delete from escalation_policies where organization_id = ?", id),
    prepareForOrganization("delete from schedules where organization_id = ?", id),
    prepareForOrganization("delete from memberships where organization_id = ?", id),
    prepareForOrganization(
      "delete from identity_provider_organizations where organization_id = ?",
      id,
    ),
    prepareForOrganization("delete from status_pages where organization_id = ?", id),
    prepareForOrganization("delete from alert_sources where organization_id = ?", id),
    prepareForOrganization("delete from alert_channels where organization_id = ?", id),
    prepareForOrganization("delete from alert_memory where organization_id = ?", id),
    {
      text: `update alert_records set resolved_at = ?, resolved_because = 'deleted', due_at = null
        where organization_id = ? and resolved_at is null`,
      parameters: [at, id],
    },
    prepareForOrganization("delete from maintenance_windows where organization_id = ?", id),
    // Removes the progress of maintenance windows, and of followers that have not finished the
    // organization's events.
    prepareForOrganization("delete from followers where name like 'maintenance ' || ? || ' %'", id),
    prepareForOrganization("delete from followers where name like '%/' || ?", id),
    prepareForOrganization("delete from housekeeping where name like '%/' || ?", id),
    prepareForOrganization(
      "update monitors set push_token_hash = null where organization_id = ?",
      id,
    ),
    prepareForOrganization(
      "update monitor_states set paused = 1, epoch = epoch + 1 where organization_id = ?",
      id,
    ),
    {
      text: "update organizations set deleted_at = ?, slug = '~' || id, name = '' where id = ?",
      parameters: [at, id],
    },
  ];
}

/** Deletes people without an organization. */
export const deletePeopleWithoutOrganization: Statement = sql`delete from ${people}
  where not exists (select 1 from memberships where person_id = ${people.id})`;

/** Tables with rows of a deleted organization, each with a key column to delete by. Referring tables are first. */
export const organizationTables = [
  ["deliveries", "seq"],
  ["alerts", "id"],
  ["alert_records", "id"],
  ["alert_memory", "monitor_id"],
  ["idempotent_answers", "actor_id"],
  ["held_changes", "id"],
  ["incidents", "id"],
  ["incident_counts", "status"],
  ["incident_templates", "id"],
  ["maintenance_windows", "id"],
  ["status_pages", "id"],
  ["escalation_policies", "id"],
  ["alert_source_requests", "seq"],
  ["alert_sources", "id"],
  ["alert_channels", "id"],
  ["external_records", "record_id"],
  ["imports", "id"],
  ["monitors", "id"],
  ["monitor_groups", "id"],
  ["api_keys", "id"],
  ["invitations", "id"],
  ["schedules", "id"],
  ["memberships", "person_id"],
  ["identity_provider_organizations", "provider_id"],
  ["audit_entries", "seq"],
  ["events", "seq"],
  ["problems", "name"],
  ["organization_settings", "id"],
  ["deleted_rows", "seq"],
  ["deleted_records", "id"],
  ["organization_usage", "table_name"],
] as const;

/** Maximum rows per write. It is low because deletions in these tables cascade. */
const maxRowsAtOnce = 200;
/** Time after which every follower has processed the deletion. */
const followersDoneMs = 60_000;

/** Removes the remaining rows of deleted organizations in portions. */
export async function sweepOrganizations(context: SweepContext): Promise<void> {
  const { store, now, isOver } = context;
  const deletedOrganizations = await store.query<{ id: string }>(
    "select id from organizations where deleted_at <= ?",
    [formatTimestamp(now - followersDoneMs)],
  );
  for (const { id } of deletedOrganizations) {
    for (const [table, key] of organizationTables) await sweepTable(context, id, table, key);
    if (isOver()) return;
    await store.atomic([prepareForOrganization("delete from organizations where id = ?", id)]);
  }
}

async function sweepTable(
  { store, inPortions }: SweepContext,
  organizationId: string,
  table: string,
  key: string,
) {
  const next = `select distinct ${key} as key from ${table} where organization_id = ? limit ?`;
  await inPortions(async (size) => {
    const rows = await store.query<{ key: string | number }>(next, [
      organizationId,
      Math.min(size, maxRowsAtOnce),
    ]);
    if (rows.length === 0) return false;
    const parameters = [organizationId, JSON.stringify(rows.map((row) => row.key))];
    const rowCondition = `organization_id = ? and ${key} in (select value from json_each(?))`;
    await store.atomic([
      // Check results are removed later, based on these rows.
      ...(table === "monitors"
        ? [
            {
              text: `insert into removed_monitors (key) select key from monitor_states
                where organization_id = ? and monitor_id in (select value from json_each(?))`,
              parameters,
            },
          ]
        : []),
      ...(table === "deleted_records"
        ? [
            {
              text: `insert into removed_monitors (key) select monitor_key from deleted_records
                where ${rowCondition} and monitor_key is not null`,
              parameters,
            },
          ]
        : []),
      { text: `delete from ${table} where ${rowCondition}`, parameters },
    ]);
    return true;
  });
}

/** Returns the size of the whole database in bytes. */
export async function readDataBytes(store: Store): Promise<number> {
  const [row] = await store.query<{ bytes: number }>(
    "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()",
    [],
  );
  return row?.bytes ?? 0;
}

/** Reads how many checks the monitors of all organizations require, and how many deliveries are pending. */
export async function readLoad(store: Store) {
  const [row] = await store.query<{ checksPerSecond: number; pendingDeliveries: number }>(
    `select
      (select coalesce(sum(1.0 / m.interval_seconds), 0) from monitors m
        join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id
        where not s.paused and m.type <> 'push') as checksPerSecond,
      (select count(*) from deliveries where due_at is not null) as pendingDeliveries`,
    [],
  );
  return row ?? { checksPerSecond: 0, pendingDeliveries: 0 };
}
