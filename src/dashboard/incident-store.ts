/** Reads the authors, changes, alerts and recipients of an incident for the admin page. */
import type { PageLanguage } from "../core/languages.ts";
import { createId } from "../core/ids.ts";
import type { Tenant } from "../database/rows.ts";
import type { AuditAction } from "../events/catalog.ts";
import { buildShownSql } from "../status-pages/store.ts";
import type { IncidentAudience, IncidentTraces, Receiver } from "./incident-schema.ts";

/** An incident, or a maintenance window, which the default page always shows. */
type PublicSubject = {
  monitorIds: readonly string[];
  groupIds?: readonly string[];
  origin: string;
};

/** Builds the SQL condition that page `p` shows one of the affected monitors or groups to one of these audiences. */
const buildAffectedSql = (...shownTo: Parameters<typeof buildShownSql>) => `(exists (
    select 1 from json_each(?4) linked cross join monitors m
      on m.organization_id = p.organization_id and m.id = linked.value and ${buildShownSql(...shownTo)})
  or exists (select 1 from json_each(?5) linked cross join monitors m
      on m.organization_id = p.organization_id and m.group_id = linked.value
        and ${buildShownSql(...shownTo)}))`;

const pagesSql = `select p.id, p.slug, p.title, p.language, p.languages, case when p.visibility = 'signed-in'
      or ${buildAffectedSql("everyone")}
      or (?2 = 'manual' and (?3 or (p.is_default and not ${buildAffectedSql("signed-in")})))
    then (select count(*) from subscribers s
      where s.organization_id = p.organization_id and s.page_id = p.id
        and s.confirmed_at is not null and s.quarantined_at is null) else 0 end as subscribers
  from status_pages p where p.organization_id = ?1 and p.visibility <> 'hidden'
    and ((?2 = 'manual' and (?3 or p.is_default)) or ${buildAffectedSql("everyone", "signed-in")})
  order by p.is_default desc, p.id desc`;

/**
 * Reads the status pages that would show an incident or maintenance window, with their numbers of confirmed
 * subscribers. Sections for signed-in people notify no one.
 */
export async function findPagesShowing(
  { store, organizationId }: Tenant,
  { monitorIds, groupIds = [], origin }: PublicSubject,
): Promise<IncidentAudience["pages"]> {
  const pages = await store.query<PageShowing>(pagesSql, [
    organizationId,
    origin,
    monitorIds.length + groupIds.length === 0 ? 1 : 0,
    JSON.stringify(monitorIds),
    JSON.stringify(groupIds),
  ]);
  return pages.map(({ language, languages, ...page }) => ({
    ...page,
    languages: [...new Set([language, ...(JSON.parse(languages) as PageLanguage[])])],
  }));
}

type PageShowing = Omit<IncidentAudience["pages"][number], "languages"> & {
  language: PageLanguage;
  languages: string;
};

type Author = Omit<IncidentTraces["authors"][number], "updateId">;

const quoteActions = (actions: readonly AuditAction[]) =>
  actions.map((one) => `'${one}'`).join(", ");
const postingActions: AuditAction[] = [
  "incident.opened",
  "incident.updated",
  "incident.resolved",
  "incident.reopened",
];
const changingActions: AuditAction[] = [
  "incident.postmortem-published",
  "incident.postmortem-deleted",
];
const authorSql = `select actor_type as type, actor_id as id, actor_name as name from audit_entries
  where organization_id = ? and subject_id = ?
    and action in (${quoteActions(postingActions)})
    and (fields is null or fields like '%"status"%' or fields like '%"message"%')
  order by seq`;

/** Reads the author of each update of an incident, oldest first. */
export function findAuthors({ store, organizationId }: Tenant, incidentId: string) {
  return store.query<Author>(authorSql, [organizationId, incidentId]);
}

const changeSql = `select at, action, fields, actor_type as type, actor_id as id, actor_name as name
  from audit_entries where organization_id = ? and subject_id = ?
    and action in (${quoteActions([...changingActions, "incident.updated"])})
    and not (action = 'incident.updated'
      and (fields is null or fields like '%"status"%' or fields like '%"message"%'))
  order by seq desc limit ?`;

type IncidentChangeRow = Author & { at: string; action: string; fields: string | null };

/** Reads the changes to an incident other than its updates, newest first. */
export function findChanges({ store, organizationId }: Tenant, incidentId: string, limit: number) {
  return store.query<IncidentChangeRow>(changeSql, [organizationId, incidentId, limit]);
}

type ReceiverRow = Receiver & { at: string };

const stateSql = `case when d.status in ('delivered', 'failed') then d.status
  when d.error is not null then 'retrying' else 'waiting' end as state,
  case when d.status <> 'delivered' then d.error end as reason`;

// IDs are ordered by time, so the notices of an incident are in a range of their primary key.
const receiversSql = `select a.at, c.name, 1 as count, ${stateSql}
  from alerts a
    cross join delivery_alerts t on t.organization_id = ?1 and t.alert_id = a.id and not t.withheld
    cross join deliveries d on d.organization_id = ?1 and d.id = t.delivery_id
    cross join alert_channels c on c.organization_id = ?1 and c.id = d.receiver_id
  where a.organization_id = ?1 and a.incident_id = ?2
    and d.receiver_type = 'channel' and d.status <> 'skipped'
  union all
  select n.at, null, count(*), ${stateSql}
  from notices n
    cross join deliveries d on d.organization_id = ?1 and d.notice_id = n.id
  where n.organization_id = ?1 and n.id between ?3 and ?4 and n.data ->> 'id' = ?2
    and n.type <> 'incident.postmortem' and d.status <> 'skipped'
  group by n.at, state, reason
  order by 1, 2 limit ?5`;

/** Reads the receivers of alerts and notices about an incident or maintenance, by the time of their event, oldest first. */
export function findReceivers(
  { store, organizationId }: Tenant,
  { id, from, to, limit }: { id: string; from: number; to: number; limit: number },
) {
  const range = [createId(from), createId(to)];
  return store.query<ReceiverRow>(receiversSql, [organizationId, id, ...range, limit]);
}

const nameSql = `select m.id, m.name from json_each(?2) linked
  cross join monitors m on m.organization_id = ?1 and m.id = linked.value`;

export const findNames = ({ store, organizationId }: Tenant, monitorIds: readonly string[]) =>
  store.query<{ id: string; name: string }>(nameSql, [organizationId, JSON.stringify(monitorIds)]);

type Notified = { id: string; monitorId: string | null; origin: string; createdAt: string };

const notifiedSql = `select c.id, c.name, c.type, max(d.delivered_at) as at
  from (select id from alerts where organization_id = ?1 and incident_id = ?2
      union select id from alerts where organization_id = ?1 and monitor_id = ?3
        and at between ?4 and ?5) a
    cross join delivery_alerts t on t.organization_id = ?1 and t.alert_id = a.id and not t.withheld
    cross join deliveries d on d.organization_id = ?1 and d.id = t.delivery_id
    cross join alert_channels c on c.organization_id = ?1 and c.id = d.receiver_id
  where d.receiver_type = 'channel' and d.delivered_at is not null
  group by c.id order by at`;

/** Reads the channels notified of an incident, including alerts of the monitor that opened it. */
export function findNotifiedChannels(
  { store, organizationId }: Tenant,
  { id, monitorId, origin, createdAt, resolvedAt }: Notified & { resolvedAt: string | null },
): Promise<IncidentTraces["told"]> {
  const byMonitor = origin === "monitor" ? monitorId : null;
  const until = resolvedAt ?? "9";
  return store.query(notifiedSql, [organizationId, id, byMonitor, createdAt, until]);
}
