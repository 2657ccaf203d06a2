/** Conditions for the monitors and other records that a caller limited to monitor groups can see. */
import { type SQL, sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { membership } from "./deleted-records.ts";
import type { Tenant } from "./rows.ts";
import type { Parameter } from "./store.ts";

type Limit = Pick<Tenant, "groupIds">;

/**
 * SQL condition, starting with ` and `, that the group of a monitor is visible; empty for an unlimited caller.
 * `column` is the column of the group.
 */
export const limitToGroups = (
  { groupIds }: Limit,
  column = "m.group_id",
): { text: string; parameters: Parameter[] } =>
  groupIds == null
    ? { text: "", parameters: [] }
    : {
        text: ` and ${column} in (select value from json_each(?))`,
        parameters: [JSON.stringify(groupIds)],
      };

/** SQL condition, starting with ` and `, that the monitor `monitor_id` is visible. */
export function limitMonitors(tenant: Pick<Tenant, "organizationId" | "groupIds">) {
  const groupLimit = limitToGroups(tenant);
  if (groupLimit.text === "") return groupLimit;
  return {
    text: ` and monitor_id in (select m.id from monitors m where m.organization_id = ?${groupLimit.text})`,
    parameters: [tenant.organizationId, ...groupLimit.parameters],
  };
}

/** `limitToGroups` for a query builder; undefined for an unlimited caller. */
export const matchGroups = ({ groupIds }: Limit, column: SQL): SQL | undefined =>
  groupIds == null
    ? undefined
    : sql`${column} in (select value from json_each(${JSON.stringify(groupIds)}))`;

/** Whether a group is visible. */
export const canSeeGroup = ({ groupIds }: Limit, groupId: string | null): boolean =>
  groupIds == null || (groupId !== null && groupIds.includes(groupId));

/** Error for a limited caller who would leave a monitor without a group. */
export const ungroupedError = (path: string) =>
  new AppError("FORBIDDEN", "You are limited to some monitor groups. Choose one of them.", {
    details: [{ path, message: "must be one of your monitor groups" }],
  });

/** Error for a limited caller whose record would concern none of their monitors. */
export const noMonitorError = () =>
  new AppError("FORBIDDEN", "You are limited to some monitor groups. Name a monitor of them.", {
    details: [{ path: "monitorIds", message: "must name a monitor of your groups" }],
  });

const inGroups = "in (select value from json_each(?3))";
/** An incident that a monitor opened is about this monitor, even if it concerns others. */
const buildAboutCondition = (incident: string) =>
  `(${incident}.origin <> 'monitor' or ${incident}.monitor_id = m.id)`;
const incidentSql = `select m.group_id ${inGroups} as own, ${buildAboutCondition("i")} as about
  from incidents i
    join incident_monitors l on l.organization_id = i.organization_id and l.incident_id = i.id
    join monitors m on m.organization_id = l.organization_id and m.id = l.monitor_id
  where i.organization_id = ?1 and i.id = ?2`;
const windowSql = `select m.group_id ${inGroups} as own, true as about from maintenance_monitors w
    join monitors m on m.organization_id = w.organization_id and m.id = w.monitor_id
    where w.organization_id = ?1 and w.window_id = ?2
  union all select w.group_id ${inGroups}, true from maintenance_groups w
    where w.organization_id = ?1 and w.window_id = ?2`;

/** SQL condition that an alert is the drill of a person, which concerns no monitor. */
export const buildPersonDrillCondition = (record: string) =>
  `${record}.family = 'drill' and ${record}.policy_id is null`;

/** Alerts about a state or certificate, and about an incident. The ID can be that of one of their messages. */
const alertSql = `with wanted as (select r.family, r.subject_id, r.policy_id from alert_records r
    where r.organization_id = ?1 and r.id = coalesce((select record_id from alerts
      where organization_id = ?1 and id = ?2), ?2))
  select m.group_id ${inGroups} as own, true as about from wanted
    join monitors m on m.organization_id = ?1 and m.id = wanted.subject_id
    where wanted.family in ('state', 'certificate')
  union all select min(coalesce(m.group_id ${inGroups}, 0)), true from wanted
    join incident_monitors l on l.organization_id = ?1 and l.incident_id = wanted.subject_id
    join monitors m on m.organization_id = ?1 and m.id = l.monitor_id
    where wanted.family = 'incident'
  union all select true, true from wanted where ${buildPersonDrillCondition("wanted")}`;

/** Deleted monitors, by their membership, and deleted records about monitors. */
const deletedSql = `select d.content ->> 'group_id' ${inGroups} as own, true as about from deleted_rows d
    where d.organization_id = ?1 and d.record_id = ?2
      and d.table_name in ('${membership}', 'maintenance_groups')
  union all select m.group_id ${inGroups}, true from deleted_rows d
    join monitors m on m.organization_id = ?1 and m.id = d.content ->> 'monitor_id'
    where d.organization_id = ?1 and d.record_id = ?2
      and d.table_name in ('incident_monitors', 'maintenance_monitors')`;

/**
 * Records with monitors. `text` selects one row per monitor or group that a record concerns: whether it is in the
 * caller's groups, and whether it makes the record visible. Parameters: organization, ID, groups.
 */
export const limitedNouns = {
  monitor: {
    name: "monitor",
    text: `select group_id ${inGroups} as own, true as about from monitors where organization_id = ?1 and id = ?2`,
  },
  group: {
    name: "monitor group",
    text: `select id ${inGroups} as own, true as about from monitor_groups where organization_id = ?1 and id = ?2`,
  },
  incident: { name: "incident", text: incidentSql },
  "maintenance-window": { name: "maintenance window", text: windowSql },
  alert: { name: "alert", text: alertSql },
  "deleted-record": { name: "deleted record", text: deletedSql },
} as const;
export type LimitedNoun = keyof typeof limitedNouns;

/** Whether a limited caller can see a record: one of its monitors is in their groups or, with `wholly`, all are. */
export async function isVisible(
  { store, organizationId, groupIds }: Tenant,
  noun: LimitedNoun,
  id: string,
  extent: "partly" | "wholly" = "partly",
): Promise<boolean> {
  if (groupIds == null) return true;
  const parameters = [organizationId, id, JSON.stringify(groupIds)];
  const found = extent === "wholly" ? "min(coalesce(own, 0))" : "max(own and about)";
  const [row] = await store.query<{ found: number | null }>(
    `select ${found} as found from (${limitedNouns[noun].text})`,
    parameters,
  );
  return row?.found === 1;
}

/**
 * SQL condition, starting with ` and `, that the incident `i` is visible; empty for an unlimited caller.
 */
export const limitIncidents = (limit: Limit) => {
  const groupLimit = limitToGroups(limit);
  if (groupLimit.text === "") return groupLimit;
  return {
    text: ` and exists (select 1 from incidents x
        join incident_monitors l on l.organization_id = x.organization_id and l.incident_id = x.id
        join monitors m on m.organization_id = l.organization_id and m.id = l.monitor_id
      where x.id = i.id and ${buildAboutCondition("x")}${groupLimit.text})`,
    parameters: groupLimit.parameters,
  };
};

/** Filters monitors by the groups of the caller. */
export async function selectVisibleMonitors(
  { store, organizationId, groupIds }: Tenant,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (groupIds == null || ids.length === 0) return ids;
  const rows = await store.query<{ id: string }>(
    `select wanted.value as id from json_each(?2) wanted
       cross join monitors m on m.organization_id = ?1 and m.id = wanted.value
       where m.group_id ${inGroups} order by wanted.key`,
    [organizationId, JSON.stringify(ids), JSON.stringify(groupIds)],
  );
  return rows.map(({ id }) => id);
}
