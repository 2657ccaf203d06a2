/** Queries of alert sources, their alerts and their log, and the statements that write them. */
import { and, desc, inArray, sql } from "drizzle-orm";
import type { Severity } from "../../core/fields.ts";
import { sourceBounds } from "../../core/limits.ts";
import { computeOffset } from "../../core/paging.ts";
import type { Priority } from "../../core/statuses.ts";
import { type ListOrStream, splitByBytes, StreamedList } from "../../core/text/streamed-list.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import { matchValues, prepareColumns, replaceLinks, type Tenant } from "../../database/rows.ts";
import { cacheLookup } from "../../database/cached-lookup.ts";
import {
  createInsert,
  guardCondition,
  type Prepared,
  type Statement,
  type Store,
} from "../../database/store.ts";
import {
  alertSourceChannels,
  alertSourceRequests,
  alertSources,
} from "../../database/tables/alert-sources.ts";
import type { SourceAlert, SourceChange, SourceContent } from "./rules.ts";
import type { MailRules } from "./mail-schema.ts";
import type { SourceMapping, SourceRequestQuery, SourceType } from "./schema.ts";

type Row = typeof alertSources.$inferSelect;

/** A source without its channels, as requests find it. */
export type SourceRow = Omit<
  Row,
  "mapping" | "mailRules" | "type" | "priority" | "incidentSeverity"
> & {
  type: SourceType;
  priority: Priority | null;
  incidentSeverity: Severity | null;
  mapping: SourceMapping | null;
  mailRules: MailRules | null;
};

export type StoredSource = SourceRow & { alertChannelIds: string[] };

const parseSource = ({ mapping, mailRules, ...row }: Row): SourceRow => ({
  ...row,
  type: row.type as SourceType,
  priority: row.priority as Priority | null,
  incidentSeverity: row.incidentSeverity as Severity | null,
  mapping: mapping === null ? null : (JSON.parse(mapping) as SourceMapping),
  mailRules: mailRules === null ? null : (JSON.parse(mailRules) as MailRules),
});

const sourceColumns = prepareColumns(alertSources, "s");

/** Finds the source of a token, in any organization. Returns null for an unknown token, or if the organization was deleted. */
export const findSourceByToken = cacheLookup(
  ["alert_sources", "organizations"],
  async (store, tokenHash): Promise<SourceRow | null> => {
    const [found] = await store.query<object>(
      `select ${sourceColumns.text} from alert_sources s
         join organizations o on o.id = s.organization_id and o.deleted_at is null
       where s.token_hash = ?`,
      [tokenHash],
    );
    return found === undefined ? null : parseSource(sourceColumns.read(found));
  },
);

/** Finds a source without its channels, as writes of its requests need it. */
export async function findSourceById({ store, organizationId }: Tenant, id: string) {
  const [found] = await store.query<object>(
    `select ${sourceColumns.text} from alert_sources s where s.organization_id = ? and s.id = ?`,
    [organizationId, id],
  );
  return found === undefined ? null : parseSource(sourceColumns.read(found));
}

/** Lists all sources by name, or only the one with the given ID. */
export async function listStoredSources(
  { store, organizationId }: Tenant,
  id?: string,
): Promise<StoredSource[]> {
  const channelIds = sql<string>`(select json_group_array(c.channel_id order by c.position)
    from alert_source_channels c where c.organization_id = alert_sources.organization_id
      and c.source_id = alert_sources.id)`;
  const rows = await store.db
    .select({ source: alertSources, channelIds })
    .from(alertSources)
    .where(matchValues(alertSources, { organizationId, id }))
    .orderBy(alertSources.name, alertSources.id);
  return rows.map(({ source, channelIds: ids }) => ({
    ...parseSource(source),
    alertChannelIds: JSON.parse(ids) as string[],
  }));
}

/** Returns the number of open alerts and the time of the last request of each source. */
export async function countSourceAlerts({ store, organizationId }: Tenant) {
  const rows = await store.query<{ id: string; openAlerts: number; lastRequestAt: string | null }>(
    `select s.id, (select count(*) from source_alerts a where a.organization_id = s.organization_id
        and a.source_id = s.id and a.status in ('open', 'acknowledged')) as openAlerts,
      (select coalesce(r.last_at, r.at) from alert_source_requests r where r.organization_id = s.organization_id
        and r.source_id = s.id order by r.seq desc limit 1) as lastRequestAt
     from alert_sources s where s.organization_id = ?`,
    [organizationId],
  );
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}

const columnsOf = ({ alertChannelIds: _ids, mapping, mailRules, ...row }: StoredSource): Row => ({
  ...row,
  mapping: mapping && JSON.stringify(mapping),
  mailRules: mailRules && JSON.stringify(mailRules),
});

const replaceChannels = ({ store, organizationId }: Tenant, source: StoredSource): Statement[] =>
  replaceLinks(
    store,
    alertSourceChannels,
    { organizationId, sourceId: source.id },
    "channelId",
    source.alertChannelIds,
  );

export const insertSource = (tenant: Tenant, source: StoredSource): Statement[] => [
  tenant.store.db.insert(alertSources).values(columnsOf(source)),
  ...replaceChannels(tenant, source),
];

export function changeSource(tenant: Tenant, source: StoredSource): Statement[] {
  const { organizationId, id, ...change } = columnsOf(source);
  return [
    tenant.store.db
      .update(alertSources)
      .set(change)
      .where(matchValues(alertSources, { organizationId, id })),
    ...replaceChannels(tenant, source),
  ];
}

/** Forgets all alerts of a source. Their records end within a second. */
export const removeSourceAlerts = (organizationId: string, sourceId: string): Prepared => ({
  text: "delete from source_alerts where organization_id = ? and source_id = ?",
  parameters: [organizationId, sourceId],
});

/** Returns the open incidents that alerts of these sources opened. */
export async function listSourceIncidents(
  { store, organizationId }: Tenant,
  sourceIds: readonly string[],
) {
  return store.query<{ sourceId: string; sourceName: string; incidentId: string }>(
    `select a.source_id as sourceId, s.name as sourceName, a.incident_id as incidentId
     from json_each(?2) w cross join source_alerts a on a.organization_id = ?1
         and a.source_id = w.value and a.status in ('open', 'acknowledged')
         and a.incident_id is not null
       join alert_sources s on s.organization_id = ?1 and s.id = a.source_id`,
    [organizationId, JSON.stringify(sourceIds)],
  );
}

type AlertRow = Omit<SourceAlert, "content"> & { content: string };

const alertColumns = `a.id, a.key, a.status, a.content, a.episode, a.opened_at as openedAt,
  a.updated_at as updatedAt, a.incident_id as incidentId, a.due_at as dueAt, a.version`;

const parseAlert = (row: AlertRow): SourceAlert => ({
  ...row,
  content: JSON.parse(row.content) as SourceContent,
});

/** Returns the stored problems of a source, by key. */
export async function findSourceAlerts(
  store: Store,
  { organizationId, id }: Pick<SourceRow, "organizationId" | "id">,
  keys: readonly string[],
) {
  const rows = await store.query<AlertRow>(
    `select ${alertColumns} from json_each(?) w cross join source_alerts a
       on a.organization_id = ? and a.source_id = ? and a.key = w.value`,
    [JSON.stringify([...new Set(keys)]), organizationId, id],
  );
  return new Map(rows.map((row) => [row.key, parseAlert(row)]));
}

/** Returns the number of open alerts and incidents of a source. */
export async function countOpenAlerts(
  store: Store,
  { organizationId, id }: Pick<SourceRow, "organizationId" | "id">,
) {
  const [counts] = await store.query<{ open: number; incidents: number }>(
    `select count(*) as open, count(incident_id) as incidents from source_alerts
     where organization_id = ? and source_id = ? and status in ('open', 'acknowledged')`,
    [organizationId, id],
  );
  return counts ?? { open: 0, incidents: 0 };
}

/** Guards that these problems have not changed since they were read. Version 0 means unknown. */
export const guardSourceAlerts = (
  { organizationId, id }: Pick<SourceRow, "organizationId" | "id">,
  versions: readonly (readonly [key: string, version: number])[],
): Prepared =>
  guardCondition(
    `not exists (select 1 from json_each(?) w
    where w.value ->> 1 <> coalesce((select version from source_alerts
      where organization_id = ? and source_id = ? and key = w.value ->> 0), 0))`,
    [JSON.stringify(versions), organizationId, id],
  );

/** Stores the states of problems, new and known ones. */
export const putSourceAlerts = (
  { organizationId, id }: Pick<SourceRow, "organizationId" | "id">,
  alerts: readonly SourceAlert[],
): Prepared => ({
  text: `insert into source_alerts (organization_id, source_id, id, key, status, content, episode,
      opened_at, updated_at, incident_id, due_at, version)
    select ?1, ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
      value ->> 6, value ->> 7, value ->> 8, value ->> 9 from json_each(?3) where true
    on conflict (organization_id, id) do update set status = excluded.status,
      content = excluded.content, episode = excluded.episode, opened_at = excluded.opened_at,
      updated_at = excluded.updated_at, incident_id = excluded.incident_id,
      due_at = excluded.due_at, version = excluded.version`,
  parameters: [
    organizationId,
    id,
    JSON.stringify(
      alerts.map((one) => [
        one.id,
        one.key,
        one.status,
        JSON.stringify(one.content),
        one.episode,
        one.openedAt,
        one.updatedAt,
        one.incidentId,
        one.dueAt,
        one.version,
      ]),
    ),
  ],
});

/** A changed problem, in the event log. */
export type SourceEvent = { type: `source-alert.${SourceChange}`; alert: SourceAlert };

/** Appends the events of changed problems, in their order. */
export const appendSourceEvents = (
  organizationId: string,
  at: string,
  events: readonly SourceEvent[],
): Prepared => ({
  text: `insert into events (organization_id, at, type, subject_id, data)
    select ?, ?, value ->> 0, value ->> 1, value ->> 2 from json_each(?)`,
  parameters: [
    organizationId,
    at,
    JSON.stringify(
      events.map(({ type, alert: { id, key, content, openedAt } }) => [
        type,
        id,
        JSON.stringify({ key, ...content, since: openedAt }),
      ]),
    ),
  ],
});

type DueRow = { organizationId: string; sourceId: string; key: string };

/** Returns problems that their tools no longer report, in any organization. */
export const listSilentAlerts = (store: Store, now: number, limit: number): Promise<DueRow[]> =>
  store.query(
    `select a.organization_id as organizationId, a.source_id as sourceId, a.key
     from source_alerts a indexed by source_alerts_due
       join organizations o on o.id = a.organization_id and o.deleted_at is null
     where a.due_at is not null and a.due_at <= ? order by a.due_at limit ?`,
    [now, limit],
  );

const waitSql = `60000 * coalesce(s.resolve_after_minutes, 1)`;
const isAheadSql = `from alert_sources s where s.organization_id = source_alerts.organization_id
  and s.id = source_alerts.source_id and source_alerts.due_at > ?1 + 60000 + ${waitSql}`;

/** Returns the update of ends that were set before the clock went back: they wait the whole time again. Empty for none. */
export async function bringEndsForward(store: Store, now: number): Promise<Prepared[]> {
  const [row] = await store.query<{ isAhead: number }>(
    `select exists (select 1 from source_alerts indexed by source_alerts_due
       where due_at is not null and exists (select 1 ${isAheadSql})) as isAhead`,
    [now],
  );
  if (row?.isAhead !== 1) return [];
  const text = `update source_alerts set due_at = ?1 + ${waitSql}, version = source_alerts.version + 1 ${isAheadSql}`;
  return [{ text, parameters: [now] }];
}

export const insertSourceRequest = createInsert(alertSourceRequests);

/** Counts further requests that are equal to the logged one with this ID. Logs them if another node removed it. */
export function countEqualRequests(row: typeof alertSourceRequests.$inferInsert): Prepared {
  const { text, parameters } = insertSourceRequest(row);
  return {
    text: `${text} on conflict (organization_id, source_id, id)
      do update set count = count + excluded.count, last_at = excluded.at`,
    parameters,
  };
}

/** Removes rows beyond the bounds of a source: old requests in its log, and problems that ended long ago. */
export const pruneSource = ({
  organizationId,
  id,
}: Pick<SourceRow, "organizationId" | "id">): Prepared[] => [
  {
    text: `delete from alert_source_requests where organization_id = ?1 and source_id = ?2
      and seq <= (select seq from (select seq, row_number() over newest as number,
          sum(bytes) over newest as total from alert_source_requests
        where organization_id = ?1 and source_id = ?2 window newest as (order by seq desc))
        where number > ?3 or total > ?4 order by seq desc limit 1)`,
    parameters: [
      organizationId,
      id,
      sourceBounds.loggedRequests.value,
      sourceBounds.loggedBytes.value,
    ],
  },
  {
    text: `delete from source_alerts where organization_id = ?1 and source_id = ?2
      and status = 'resolved' and id in (select id from source_alerts
        where organization_id = ?1 and source_id = ?2 and status = 'resolved'
        order by updated_at desc limit -1 offset ?3)`,
    parameters: [
      organizationId,
      id,
      sourceBounds.knownAlerts.value - sourceBounds.openAlerts.value,
    ],
  },
];

export type RequestRow = typeof alertSourceRequests.$inferSelect;

/** Bytes of a portion. The bodies of a page have up to 16 MiB, so they are read while the response is sent. */
const portionBytes = 512 * 1024;

/** Returns a page of the requests to a source, newest first, and the total. */
export async function findRequestPage(
  { store, organizationId }: Tenant,
  sourceId: string,
  query: SourceRequestQuery,
): Promise<{ rows: ListOrStream<RequestRow>; total: number }> {
  const { seq, bytes } = alertSourceRequests;
  const where = matchValues(alertSourceRequests, { organizationId, sourceId });
  const [total, sized] = await Promise.all([
    store.db.$count(alertSourceRequests, where),
    store.db
      .select({ seq, bytes })
      .from(alertSourceRequests)
      .where(where)
      .orderBy(desc(seq))
      .limit(query.per_page)
      .offset(computeOffset(query)),
  ]);
  const select = (portion: typeof sized) => {
    const seqs = portion.map((one) => one.seq);
    return store.db
      .select()
      .from(alertSourceRequests)
      .where(and(where, inArray(seq, seqs)))
      .orderBy(desc(seq));
  };
  if (sized.reduce((sum, one) => sum + one.bytes, 0) <= portionBytes)
    return { rows: await select(sized), total };
  const rows = new StreamedList<RequestRow>(async function* () {
    for (const portion of splitByBytes(sized, portionBytes)) {
      yield await select(portion);
      await yieldToEventLoop();
    }
  });
  return { rows, total };
}

/** Whether a request with this path was stored, which for a mail contains its Message-ID. */
export async function hasStoredMail(
  store: Store,
  { organizationId, id }: Pick<SourceRow, "organizationId" | "id">,
  path: string,
): Promise<boolean> {
  const rows = await store.query(
    `select 1 as found from alert_source_requests
     where organization_id = ? and source_id = ? and path = ? and status = 200 limit 1`,
    [organizationId, id, path],
  );
  return rows.length > 0;
}

/** Finds a logged request of a source. */
export async function findRequest(
  { store, organizationId }: Tenant,
  sourceId: string,
  id: string,
): Promise<RequestRow | null> {
  const [row] = await store.db
    .select()
    .from(alertSourceRequests)
    .where(matchValues(alertSourceRequests, { organizationId, sourceId, id }));
  return row ?? null;
}
