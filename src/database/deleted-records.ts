/** Moves rows of deleted records out of their tables, and back on a restore. Derives the rows from the foreign keys. */
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { getTableConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { DeletableNoun } from "../core/deletable-nouns.ts";
import { splitIntoPortions, type Prepared } from "./store.ts";
import * as alertSources from "./tables/alert-sources.ts";
import * as alerting from "./tables/alerting.ts";
import * as incidents from "./tables/incidents.ts";
import * as monitoring from "./tables/monitoring.ts";
import * as statusPages from "./tables/status-pages.ts";

const allTables = [alerting, alertSources, incidents, monitoring, statusPages]
  .flatMap((file) => Object.values(file))
  .filter((value): value is SQLiteTable => is(value, SQLiteTable));

/** Table and name column of each noun. */
export const deletableTables = {
  monitor: [monitoring.monitors, "name"],
  group: [monitoring.monitorGroups, "name"],
  "alert-channel": [alerting.alertChannels, "name"],
  "alert-source": [alertSources.alertSources, "name"],
  "status-page": [statusPages.statusPages, "title"],
  incident: [incidents.incidents, "title"],
  maintenance: [monitoring.maintenanceWindows, "title"],
} as const satisfies Record<DeletableNoun, readonly [SQLiteTable, string]>;

/**
 * Tables whose rows are lost on a deletion: problems and cases that are open at the moment. A restored record starts
 * without them.
 */
export const momentaryTables: readonly SQLiteTable[] = [
  alerting.openAlerts,
  alerting.openCases,
  alertSources.sourceAlerts,
];

/** The organization, and the person or key that deletes. */
export type Remover = { organizationId: string; actor: { name: string } };
type Parent = { column: string; table: string };

/** A table with rows that a record takes along, and the tables that its rows need. */
type OwnedTable = { table: SQLiteTable; name: string; owner: string; parents: readonly Parent[] };

const nounOfTable = new Map(
  Object.entries(deletableTables).map(([noun, [table]]) => [
    getTableName(table as SQLiteTable),
    noun as DeletableNoun,
  ]),
);

/** Memberships of groups. They are columns of the monitor, but behave like rows of a table. */
export const membership = "group members";
const membershipParents: readonly Parent[] = [
  { column: "group_id", table: "monitor_groups" },
  { column: "monitor_id", table: "monitors" },
];

/** The escalation policy of a restored monitor or group, unless it was deleted meanwhile. */
const policySql = `(select p.id from escalation_policies p
  where p.organization_id = ?1 and p.id = d.content ->> 'escalation_policy_id')`;

/** The group of a monitor's section on a page, which is only in the deleted row. */
const sectionGroup: Parent = { column: "its_group", table: "monitor_groups" };
const sectionGroupSql = `(select s.group_id from status_page_sections s
  where s.organization_id = t.organization_id and s.page_id = t.page_id and s.position = t.section)`;

/** Foreign keys to other records of the organization. */
const listParents = (table: SQLiteTable) =>
  getTableConfig(table).foreignKeys.flatMap((key) => {
    const { columns, foreignTable } = key.reference();
    const column = columns.find(({ name }) => name !== "organization_id")?.name;
    return column === undefined || columns.length !== 2
      ? []
      : [{ column, table: getTableName(foreignTable), cascades: key.onDelete === "cascade" }];
  });

/** Tables whose rows a deletion of a record removes. Tables that others need are first. */
export function listRemovedTables(noun: DeletableNoun): readonly OwnedTable[] {
  const root = getTableName(deletableTables[noun][0]);
  return allTables.flatMap((table) => {
    const name = getTableName(table);
    // Without a group, a page has no place for its monitors.
    if (table === statusPages.statusPageMonitors && noun === "group")
      return [
        { table, name, owner: sectionGroup.column, parents: [...listParents(table), sectionGroup] },
      ];
    const parents =
      table === statusPages.statusPageMonitors
        ? [...listParents(table), { ...sectionGroup, cascades: false }]
        : listParents(table);
    if (momentaryTables.includes(table)) return [];
    return parents
      .filter((parent) => parent.cascades && parent.table === root)
      .map(({ column }) => ({ table, name, owner: column, parents }));
  });
}

/** Computes a value of a noun at its first use, because all of them would take a tenth of the start. */
function createOnUse<T>(create: (noun: DeletableNoun, root: SQLiteTable, name: string) => T) {
  const created = new Map<DeletableNoun, T>();
  return (noun: DeletableNoun): T => {
    const known = created.get(noun);
    if (known !== undefined) return known;
    const [root, nameColumn] = deletableTables[noun];
    const value = create(noun, root, nameColumn);
    created.set(noun, value);
    return value;
  };
}

const findRemovedTables = createOnUse(listRemovedTables);

/** SQL for a row as JSON. A monitor on a page also names its section, because sections change their positions. */
function buildRowSql(table: SQLiteTable): string {
  const values = Object.values(getTableColumns(table)).map(({ name }) => `'${name}', t."${name}"`);
  if (table === statusPages.statusPageMonitors)
    values.push(
      `'its_section', (select json_array(s.name, s.group_id) from status_page_sections s
      where s.organization_id = t.organization_id and s.page_id = t.page_id
        and s.position = t.section)`,
      `'${sectionGroup.column}', ${sectionGroupSql}`,
    );
  return `json_object(${values.join(", ")})`;
}

const buildOwnerSql = (owner: string) =>
  owner === sectionGroup.column ? sectionGroupSql : `t."${owner}"`;

const buildMoveSql = (table: SQLiteTable, owner: string) =>
  `insert into deleted_rows (organization_id, record_id, table_name, content)
    select ?1, ${buildOwnerSql(owner)}, '${getTableName(table)}', ${buildRowSql(table)}
    from "${getTableName(table)}" t
    where t.organization_id = ?1 and ${buildOwnerSql(owner)} in (select value from json_each(?2))`;

const removeSectionMonitorsSql = `delete from status_page_monitors as t where organization_id = ?1
  and ${sectionGroupSql} in (select value from json_each(?2))`;

const buildMoveMembersSql = (column: "id" | "group_id") =>
  `insert into deleted_rows (organization_id, record_id, table_name, content)
    select ?1, ${column}, '${membership}',
      json_object('group_id', group_id, 'monitor_id', id, 'position', position)
    from monitors where organization_id = ?1 and group_id is not null
      and ${column} in (select value from json_each(?2))`;

const findTakeTexts = createOnUse((noun, root) => [
  buildMoveSql(root, "id"),
  ...findRemovedTables(noun).map(({ table, owner }) => buildMoveSql(table, owner)),
  ...(noun === "monitor" ? [buildMoveMembersSql("id")] : []),
  ...(noun === "group" ? [buildMoveMembersSql("group_id"), removeSectionMonitorsSql] : []),
]);

const findRecordSql = createOnUse(
  (noun, root, name) =>
    `insert into deleted_records
      (organization_id, id, noun, name, deleted_at, actor_name, monitor_key, bytes)
    select ?1, t.id, '${noun}', t.${name}, ?3, ?4, ${noun === "monitor" ? "s.key" : "null"}, 0
    from "${getTableName(root)}" t
    ${
      noun === "monitor"
        ? "left join monitor_states s on s.organization_id = ?1 and s.monitor_id = t.id"
        : ""
    }
    where t.organization_id = ?1 and t.id in (select value from json_each(?2))`,
);

const measureSql = `update deleted_records set bytes = (select coalesce(sum(length(content)), 0)
    from deleted_rows r where r.organization_id = ?1 and r.record_id = deleted_records.id)
  where organization_id = ?1 and id in (select value from json_each(?2))`;

/** Deletes records so that they can be restored. */
export function removeRecords(
  remover: Remover,
  noun: DeletableNoun,
  ids: readonly string[],
  at: string,
): Prepared[] {
  const text = `delete from "${getTableName(deletableTables[noun][0])}"
    where organization_id = ?1 and id in (select value from json_each(?2))`;
  return splitIntoPortions(ids, (portion) => [
    ...copyToDeleted(remover, noun, portion, at),
    { text, parameters: [remover.organizationId, JSON.stringify(portion)] },
  ]);
}

/**
 * Copies records before their deletion, with the rows that the foreign keys delete with them. Results of a monitor stay
 * in their tables, because only its state leads to them.
 */
export function copyToDeleted(
  { organizationId, actor }: Remover,
  noun: DeletableNoun,
  ids: readonly string[],
  at: string,
): Prepared[] {
  const parameters = [organizationId, JSON.stringify(ids)];
  return [
    { text: findRecordSql(noun), parameters: [...parameters, Date.parse(at), actor.name] },
    ...findTakeTexts(noun).map((text) => ({ text, parameters })),
    { text: measureSql, parameters },
  ];
}

/** Values that a restored row gets instead of the stored ones. `d` is the deleted row, `?3` the time. */
const replacedValues: Record<string, Record<string, string>> = {
  // The membership follows separately, if the group exists.
  monitors: { group_id: "null", escalation_policy_id: policySql },
  monitor_groups: { escalation_policy_id: policySql },
  alert_sources: { escalation_policy_id: policySql },
  // `applyPauses` starts the checks again, and discards results from before the deletion.
  monitor_states: { paused: "1" },
  // The affected monitors follow from their own table, the totals from triggers.
  incidents: { monitor_id: "null", monitor_ids: "null", entries: "0", text_bytes: "0" },
  // The page can have other sections now.
  status_page_sections: {
    position: `case when exists (select 1 from status_page_sections s
        where s.organization_id = ?1 and s.page_id = d.content ->> 'page_id'
          and s.position = d.content ->> 'position')
      then (select max(s.position) from status_page_sections s
        where s.organization_id = ?1 and s.page_id = d.content ->> 'page_id')
        + row_number() over (order by d.seq)
      else d.content ->> 'position' end`,
  },
  status_page_monitors: { section: buildSectionSql() },
};

/** SQL for the section with the same name and group, or for a position without a section; null for neither. */
function buildSectionSql(): string {
  const sections = `status_page_sections s
    where s.organization_id = ?1 and s.page_id = d.content ->> 'page_id'`;
  const isSamePlace = "s.position = d.content ->> 'section'";
  const isSame = "json_array(s.name, s.group_id) = d.content ->> 'its_section'";
  return `coalesce((select s.position from ${sections} and ${isSamePlace} and ${isSame}),
    (select min(s.position) from ${sections} and ${isSame}),
    case when not exists (select 1 from ${sections} and ${isSamePlace})
      then d.content ->> 'section' end)`;
}

function buildValueSql(table: string, { name, notNull, default: value }: SQLiteColumn) {
  const replaced = replacedValues[table]?.[name];
  if (replaced !== undefined) return replaced;
  const stored = `d.content ->> '${name}'`;
  // A later version can have added the column.
  if (!notNull || value === undefined) return stored;
  const text = typeof value === "object" ? JSON.stringify(value) : value;
  const fallback = typeof text === "string" ? `'${text.replaceAll("'", "''")}'` : Number(text);
  return `coalesce(${stored}, ${fallback})`;
}

const isPresent = ({ column, table }: Parent) =>
  `(d.content ->> '${column}' is null or exists (select 1 from "${table}" p
    where p.organization_id = ?1 and p.id = d.content ->> '${column}'))`;

function buildReturnText(table: SQLiteTable, parents: readonly Parent[]): string {
  const name = getTableName(table);
  const columns = Object.values(getTableColumns(table)) as SQLiteColumn[];
  const values = columns.map((column) => buildValueSql(name, column));
  const isRecord = nounOfTable.has(name);
  const conditions = isRecord ? [] : parents.map(isPresent);
  if (table === statusPages.statusPageMonitors) conditions.push(`${buildSectionSql()} is not null`);
  return `insert into "${name}" (${columns.map((column) => `"${column.name}"`).join(", ")})
    select ${values.join(", ")} from deleted_rows d
    where d.organization_id = ?1 and d.record_id = ?2 and d.table_name = '${name}'
      ${conditions.map((condition) => `and ${condition}`).join(" ")}
    ${isRecord ? "" : "on conflict do nothing"}`;
}

/** Monitors of a restored group that joined no other one meanwhile, or the group of a restored monitor. */
const returnMembersSql = `with members as materialized (
    select content ->> 'monitor_id' as id, content ->> 'group_id' as group_id,
      content ->> 'position' as position
    from deleted_rows d where organization_id = ?1 and record_id = ?2
      and table_name = '${membership}' and ${membershipParents.map(isPresent).join(" and ")})
  update monitors set group_id = members.group_id, position = members.position,
    version = version + 1, updated_at = ?3
  from members where monitors.organization_id = ?1 and monitors.id = members.id
    and monitors.group_id is null`;

/** Passes rows on to another deleted record that they need. They are restored together with that record. */
const buildPassOnSql = (name: string, parent: Parent) =>
  `update deleted_rows as d set record_id = content ->> '${parent.column}'
    where organization_id = ?1 and record_id = ?2 and table_name = '${name}'
      and not ${isPresent(parent)}
      and exists (select 1 from deleted_records r where r.organization_id = ?1
        and r.id = d.content ->> '${parent.column}' and r.deleted_at > 0)`;

/** Counts up the version of records that a link to the restored one changes. */
const buildTouchSql = (table: string, column: string, link: string) =>
  `update "${table}" set version = version + 1, updated_at = ?3 where organization_id = ?1
    and id in (select content ->> '${column}' from deleted_rows where organization_id = ?1
      and record_id = ?2 and table_name = '${link}')`;

const touchTexts: Partial<Record<DeletableNoun, readonly string[]>> = {
  monitor: [
    buildTouchSql("monitor_groups", "group_id", membership),
    buildTouchSql("monitors", "monitor_id", "monitor_dependencies"),
    buildTouchSql("monitor_groups", "group_id", "monitor_group_dependencies"),
  ],
  "alert-channel": [
    buildTouchSql("monitors", "monitor_id", "monitor_channels"),
    buildTouchSql("monitor_groups", "group_id", "monitor_group_channels"),
    buildTouchSql("alert_sources", "source_id", "alert_source_channels"),
  ],
};

/** Lists the affected monitors of incidents again, after one of them or the incident was restored. */
const relinkSql = `update incidents set version = version + 1, updated_at = ?3,
    (monitor_id, monitor_ids) = (
      select all_ids ->> 0, iif(json_array_length(all_ids) > 1, all_ids, null) from (
        select json_group_array(linked.monitor_id order by linked.position) as all_ids
        from incident_monitors linked where linked.organization_id = incidents.organization_id
          and linked.incident_id = incidents.id))
  where organization_id = ?1 and id in (select content ->> 'incident_id' from deleted_rows
    where organization_id = ?1 and record_id = ?2 and table_name = 'incident_monitors')`;

const buildNewVersionSql = (root: SQLiteTable) =>
  `update "${getTableName(root)}" set version = version + 1, updated_at = ?3
    where organization_id = ?1 and id = ?2`;

const findRestoreTexts = createOnUse((noun, root) => {
  const taken = findRemovedTables(noun);
  const hasMembers = noun === "monitor" || noun === "group";
  return [
    buildReturnText(root, []),
    ...taken.map(({ table, parents }) => buildReturnText(table, parents)),
    ...(hasMembers ? [returnMembersSql] : []),
    ...(touchTexts[noun] ?? []),
    ...(taken.some(({ name }) => name === "incident_monitors") ? [relinkSql] : []),
    buildNewVersionSql(root),
    ...taken.flatMap(({ name, owner, parents }) =>
      parents
        .filter(({ column, table }) => nounOfTable.has(table) && column !== owner)
        .map((parent) => buildPassOnSql(name, parent)),
    ),
    ...(hasMembers ? membershipParents.map((parent) => buildPassOnSql(membership, parent)) : []),
    "delete from deleted_records where organization_id = ?1 and id = ?2",
  ];
});

/** Puts the rows of a deleted record back. Rows that need a missing record are left out. */
export const restoreRecord = (
  organizationId: string,
  noun: DeletableNoun,
  id: string,
  at: string,
): Prepared[] =>
  findRestoreTexts(noun).map((text) => ({
    text,
    parameters: text.includes("?3") ? [organizationId, id, at] : [organizationId, id],
  }));

/** Changes a value of a deleted record, such as its name. */
export const changeDeletedValue = (
  organizationId: string,
  noun: DeletableNoun,
  id: string,
  column: string,
  value: string,
): Prepared => ({
  text: `update deleted_rows set content = json_set(content, ?4, ?5)
    where organization_id = ?1 and record_id = ?2 and table_name = ?3`,
  parameters: [organizationId, id, getTableName(deletableTables[noun][0]), `$.${column}`, value],
});
