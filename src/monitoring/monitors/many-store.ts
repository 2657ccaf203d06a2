import { type SQL, sql } from "drizzle-orm";
import { listed } from "../../database/references.ts";
import type { Statement } from "../../database/store.ts";
import { monitorChannels } from "../../database/tables/alerting.ts";
import { monitors } from "../../database/tables/monitoring.ts";

/** Up to so many tags a monitor may have. */
const maxTags = 10;

/** Holds when no monitor of the group, or of the ungrouped list for null, is missing among these. */
export function namesAllOf(
  organizationId: string,
  groupId: string | null,
  monitorIds: readonly string[],
): SQL {
  return sql`not exists (select 1 from ${monitors} where organization_id = ${organizationId}
    and group_id is ${groupId} and id not in (select value from ${listed(monitorIds)}))`;
}

function isAmong(organizationId: string, ids: readonly string[]): SQL {
  return sql`organization_id = ${organizationId} and id in (select value from ${listed(ids)})`;
}

/** A monitor's tags without some and with others behind them, each with its place. */
function tagsAfter(remove: readonly string[], add: readonly string[]): SQL {
  return sql`select tag, min(place) as place from (
      select value as tag, key as place from json_each(monitors.tags)
        where value not in (select value from ${listed(remove)})
      union all select value, 1000 + key from ${listed(add)})
    group by tag`;
}

/** Holds when none of the monitors gets too many tags by that. */
export function fitsTags(
  organizationId: string,
  ids: readonly string[],
  remove: readonly string[],
  add: readonly string[],
): SQL {
  return sql`not exists (select 1 from ${monitors} where ${isAmong(organizationId, ids)}
    and (select count(*) from (${tagsAfter(remove, add)})) > ${maxTags})`;
}

/** Writes what many monitors take alike; absent fields keep their value. */
export function changeMonitors(
  organizationId: string,
  ids: readonly string[],
  change: {
    paused?: boolean | undefined;
    muted?: boolean | undefined;
    tags?: { remove: readonly string[]; add: readonly string[] } | undefined;
  },
  at: string,
): Statement {
  const { paused, muted, tags } = change;
  const columns = [
    sql`version = version + 1, updated_at = ${at}`,
    ...(paused === undefined ? [] : [sql`paused = ${Number(paused)}`]),
    ...(muted === undefined ? [] : [sql`muted = ${Number(muted)}`]),
    ...(tags === undefined
      ? []
      : [
          sql`tags = (select json_group_array(tag order by place)
            from (${tagsAfter(tags.remove, tags.add)}))`,
        ]),
  ];
  return sql`update ${monitors} set ${sql.join(columns, sql`, `)}
    where ${isAmong(organizationId, ids)}`;
}

export function detachChannels(
  organizationId: string,
  ids: readonly string[],
  channelIds: readonly string[],
): Statement {
  return sql`delete from ${monitorChannels} where organization_id = ${organizationId}
    and monitor_id in (select value from ${listed(ids)})
    and channel_id in (select value from ${listed(channelIds)})`;
}

/** Attaches the channels behind those that a monitor has. */
export function attachChannels(
  organizationId: string,
  ids: readonly string[],
  channelIds: readonly string[],
): Statement {
  return sql`insert into ${monitorChannels} (organization_id, monitor_id, channel_id, position)
    select ${organizationId}, m.value, c.value, c.key + (
      select coalesce(max(position) + 1, 0) from monitor_channels has
      where has.organization_id = ${organizationId} and has.monitor_id = m.value)
    from ${listed(ids)} m cross join ${listed(channelIds)} c
    where true on conflict do nothing`;
}
