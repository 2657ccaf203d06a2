/** Reads the monitors of a bulk change, and writes their planned values in a few statements. */
import { sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import type { Severity } from "../../core/fields.ts";
import type { Tenant } from "../../database/rows.ts";
import { buildIdTable } from "../../database/references.ts";
import { guardCondition, splitIntoPortions, type Prepared } from "../../database/store.ts";
import { limitToGroups } from "../../database/group-limit.ts";
import { configurationPrefix } from "../../database/tables/imports.ts";
import { monitorGroups } from "../../database/tables/monitoring.ts";
import { circleError, guardNoCycle } from "../dependencies/store.ts";
import { parseSettings } from "../../core/kinds.ts";
import {
  type BulkJobFields,
  bulkJobFields,
  type BulkMonitor,
  type PlannedChange,
} from "./bulk-rules.ts";
import { monitorKinds } from "./kinds-schema.ts";

/** Monitors per read. Other work can run between two reads. */
const monitorsPerRead = 500;

const monitorsSql = `select m.id, m.name, m.type, m.version, m.updated_at as updatedAt, m.position, m.paused,
    m.paused_until as pausedUntil, m.muted, m.group_id as groupId, m.tags, m.interval_seconds as interval,
    m.timeout_seconds as timeout, m.retries, m.degraded_after_ms as degradedAfterMs,
    m.auto_incident_severity as autoIncidentSeverity,
    m.escalation_policy_id as escalationPolicyId,
    case m.type when 'push' then m.settings end as jobSettings,
    (select json_group_array(c.channel_id order by c.position) from monitor_channels c
      where c.organization_id = m.organization_id and c.monitor_id = m.id) as alertChannelIds
  from json_each(?) wanted
  cross join monitors m on m.organization_id = ? and m.id = wanted.value`;

const managedSql = `select record_id as id, source from external_records
  where organization_id = ? and noun = 'monitor' and source like '${configurationPrefix}%'`;

type Row = Omit<
  BulkMonitor,
  "paused" | "muted" | "tags" | "alertChannelIds" | "managedBy" | keyof BulkJobFields
> & { jobSettings: string | null } & Record<"paused" | "muted", 0 | 1> &
  Record<"tags" | "alertChannelIds", string> & { autoIncidentSeverity: Severity | null };

/** Finds the monitors with these IDs, by ID. */
export async function findBulkMonitors(
  tenant: Tenant,
  ids: readonly string[],
): Promise<Map<string, BulkMonitor>> {
  const { store, organizationId } = tenant;
  const limit = limitToGroups(tenant);
  const found = new Map<string, BulkMonitor>();
  const links = await store.query<{ id: string; source: string }>(managedSql, [organizationId]);
  const sources = new Map(links.map(({ id, source }) => [id, source]));
  for (let from = 0; from < ids.length; from += monitorsPerRead) {
    if (from > 0) await yieldToEventLoop();
    const portion = JSON.stringify(ids.slice(from, from + monitorsPerRead));
    for (const { jobSettings, ...row } of await store.query<Row>(`${monitorsSql}${limit.text}`, [
      portion,
      organizationId,
      ...limit.parameters,
    ]))
      found.set(row.id, {
        ...row,
        ...parseJobFields(jobSettings),
        paused: row.paused === 1,
        muted: row.muted === 1,
        tags: JSON.parse(row.tags) as string[],
        alertChannelIds: JSON.parse(row.alertChannelIds) as string[],
        managedBy: sources.get(row.id)?.slice(configurationPrefix.length) ?? null,
      });
  }
  return found;
}

function parseJobFields(settings: string | null): BulkJobFields {
  const found = settings === null ? {} : parseSettings(monitorKinds, "push", settings);
  return Object.fromEntries(
    bulkJobFields.map((name) => [name, found[name] ?? null]),
  ) as BulkJobFields;
}

type Monitors = readonly { id: string; version: number }[];

/** Guards that all monitors still have these versions. Fails with StaleRead. */
export const guardVersions = (organizationId: string, monitors: Monitors): Prepared[] =>
  splitIntoPortions(monitors, (portion) => [
    guardCondition(
      `not exists (select 1 from json_each(?) wanted
        left join monitors m on m.organization_id = ? and m.id = wanted.value ->> 0
        where m.version is not wanted.value ->> 1)`,
      [JSON.stringify(portion.map(({ id, version }) => [id, version])), organizationId],
    ),
  ]);

const updateSql = `with wanted as materialized (select value ->> 0 as id, value from json_each(?1))
  update monitors set version = version + 1, updated_at = ?2,
    interval_seconds = wanted.value ->> 1, timeout_seconds = wanted.value ->> 2,
    retries = wanted.value ->> 3, degraded_after_ms = wanted.value ->> 4,
    auto_incident_severity = wanted.value ->> 5, tags = wanted.value ->> 6,
    paused = wanted.value ->> 7, muted = wanted.value ->> 8,
    escalation_policy_id = wanted.value ->> 9, paused_until = wanted.value ->> 10,
    settings = case type when 'push'
      then json_set(settings, '$.schedule', wanted.value ->> 11, '$.timeZone', wanted.value ->> 12,
        '$.grace', wanted.value ->> 13, '$.maximumRunTime', wanted.value ->> 14)
      else settings end
  from wanted where monitors.organization_id = ?3 and monitors.id = wanted.id`;

/** Writes all fields but the group and the channels. */
export const updateMonitors = (
  organizationId: string,
  changed: readonly PlannedChange[],
  at: string,
): Prepared[] =>
  splitIntoPortions(changed, (portion) => {
    const rows = portion.map(({ before: { id }, after }) => [
      id,
      after.interval,
      after.timeout,
      after.retries,
      after.degradedAfterMs,
      after.autoIncidentSeverity,
      after.tags,
      after.paused,
      after.muted,
      after.escalationPolicyId,
      after.pausedUntil,
      ...bulkJobFields.map((name) => after[name]),
    ]);
    return [{ text: updateSql, parameters: [JSON.stringify(rows), at, organizationId] }];
  });

const removeChannelsSql = `delete from monitor_channels
  where organization_id = ?1 and monitor_id in (select value ->> 0 from json_each(?2))`;
const addChannelsSql = `insert into monitor_channels (organization_id, monitor_id, channel_id, position)
  select ?1, wanted.value ->> 0, channel.value, channel.key
  from json_each(?2) wanted, json_each(wanted.value, '$[1]') channel`;

/** Replaces the alert channels of monitors. */
export const replaceChannels = (
  organizationId: string,
  changed: readonly PlannedChange[],
): Prepared[] =>
  splitIntoPortions(changed, (portion) => {
    const rows = portion.map(({ before, after }) => [before.id, after.alertChannelIds]);
    const parameters = [organizationId, JSON.stringify(rows)];
    return [removeChannelsSql, addChannelsSql].map((text) => ({ text, parameters }));
  });

const placeSql = `with wanted as materialized (
    select value ->> 0 as id, value ->> 1 as group_id, value ->> 2 as position from json_each(?1))
  update monitors set group_id = wanted.group_id, position = wanted.position
  from wanted where monitors.organization_id = ?2 and monitors.id = wanted.id`;

/** Returns monitors to their positions in a group. Must be followed by `applyPauses`. */
export function restorePositions(
  organizationId: string,
  changed: readonly PlannedChange[],
  at: string,
) {
  const groupIds = changed.flatMap(({ before, after }) => [before.groupId, after.groupId]);
  const known = [...new Set(groupIds)].filter((id) => id !== null);
  return [
    sql`update ${monitorGroups} set version = version + 1, updated_at = ${at}
      where organization_id = ${organizationId} and id in (select value from ${buildIdTable(known)})`,
    ...splitIntoPortions(changed, (portion) => {
      const rows = portion.map(({ before, after, position }) => [
        before.id,
        after.groupId,
        position,
      ]);
      const ids = portion.map(({ before }) => before.id);
      return [
        { text: placeSql, parameters: [JSON.stringify(rows), organizationId] },
        guardNoCycle(organizationId, ids, circleError),
      ];
    }),
  ];
}
