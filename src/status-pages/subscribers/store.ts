/** Reads and writes the subscribers of status pages, their notices and deliveries. */
import { and, desc, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createId } from "../../core/ids.ts";
import { computeOffset } from "../../core/paging.ts";
import { type SweepContext, sweepRows } from "../../database/backup/sweeping.ts";
import { buildIdTable, guardExists } from "../../database/references.ts";
import {
  combineConditions,
  type Condition,
  buildContains,
  findMatchingIds,
  collectPage,
} from "../../database/search.ts";
import { matchValues, selectPage, type Tenant } from "../../database/rows.ts";
import {
  createInsert,
  guard,
  guardCondition,
  type Prepared,
  StaleRead,
  type Statement,
  type Store,
  createUpdate,
} from "../../database/store.ts";
import { notices, statusPages, subscribers } from "../../database/tables/status-pages.ts";
import { severities } from "../../core/statuses.ts";
import {
  crowdedSignUps,
  maxPending,
  noticeDays,
  type NoticeScope,
  pendingMs,
  receiverTypeOf,
} from "./rules.ts";
import type { SubscriberQuery } from "./schema.ts";

export type SubscriberRow = typeof subscribers.$inferSelect;
type NoticeRow = typeof notices.$inferSelect;

type PageKey = { organizationId: string; pageId: string };

/** Lists subscribers of a status page, newest first, in the pages that `query` asks for. */
export async function findSubscriberPage(
  tenant: Tenant & { signal?: AbortSignal | null },
  pageId: string,
  query: SubscriberQuery,
) {
  if (query.q !== undefined) return searchSubscribers(tenant, pageId, { ...query, q: query.q });
  const { store, organizationId } = tenant;
  const { type, status } = query;
  const confirmed: Record<string, SQL> = {
    pending: isNull(subscribers.confirmedAt),
    confirmed: sql`${isNotNull(subscribers.confirmedAt)} and ${isNull(subscribers.quarantinedAt)}`,
    quarantined: isNotNull(subscribers.quarantinedAt),
  };
  const where = and(
    matchValues(subscribers, { organizationId, pageId, type }),
    status === undefined ? undefined : confirmed[status],
  );
  return selectPage(store, subscribers, subscribers.id, where, query);
}

const statusTexts = {
  pending: "s.confirmed_at is null",
  confirmed: "s.confirmed_at is not null and s.quarantined_at is null",
  quarantined: "s.quarantined_at is not null",
};

async function searchSubscribers(
  { store, organizationId, signal }: Tenant & { signal?: AbortSignal | null },
  pageId: string,
  query: SubscriberQuery & { q: string },
) {
  const { type, status, q } = query;
  const conditions: Condition[] = [buildContains("s.address", q)];
  if (type !== undefined) conditions.push({ text: "s.type = ?", parameters: [type], cost: 0 });
  if (status !== undefined) {
    const text = statusTexts[status];
    conditions.push({ text, parameters: [], cost: 0 });
  }
  const where = {
    text: "s.organization_id = ? and s.page_id = ?",
    parameters: [organizationId, pageId],
    cost: 0,
  };
  const source = { store, from: "subscribers s", id: "s.id", where };
  const portions = findMatchingIds(source, combineConditions(conditions), signal);
  const { ids, total } = await collectPage(portions, computeOffset(query), query.per_page);
  const rows = await store.db
    .select()
    .from(subscribers)
    .where(
      and(
        matchValues(subscribers, { organizationId }),
        sql`id in (select value from ${buildIdTable(ids)})`,
      ),
    )
    .orderBy(desc(subscribers.id));
  return { rows, total };
}

/** Reads all subscribers of a page, oldest first. */
export function findAllSubscribers({ store, organizationId }: Tenant, pageId: string) {
  const where = matchValues(subscribers, { organizationId, pageId });
  return store.db.select().from(subscribers).where(where).orderBy(subscribers.id);
}

async function findOne(store: Store, where: SQL | undefined): Promise<SubscriberRow | null> {
  const [row] = await store.db.select().from(subscribers).where(where);
  return row ?? null;
}

export function findSubscriber({ store, organizationId }: Tenant, id: string) {
  return findOne(store, matchValues(subscribers, { organizationId, id }));
}

export function findByAddress(
  { store, organizationId }: Tenant,
  pageId: string,
  type: SubscriberRow["type"],
  addressKey: string,
) {
  return findOne(store, matchValues(subscribers, { organizationId, pageId, type, addressKey }));
}

export const insertSubscriber = createInsert(subscribers);

/** Guards that the page exists; else NOT_FOUND. */
export function guardPageExists({ organizationId, pageId }: PageKey): Prepared[] {
  const createNoSuchPageError = () => new AppError("NOT_FOUND", "There is no such status page.");
  return guardExists(statusPages, organizationId, [pageId], createNoSuchPageError);
}

/** Guards that the page has no subscriber with this address. */
export function guardNewAddress(
  row: SubscriberRow,
  otherwise: () => AppError | StaleRead,
): Prepared {
  const { organizationId, pageId, type, addressKey } = row;
  const sameAddress = matchValues(subscribers, { organizationId, pageId, type, addressKey });
  return guard(sql`not exists (select 1 from ${subscribers} where ${sameAddress})`, otherwise);
}

/** SQL condition for unconfirmed mailboxes that visitors entered. */
const waitingCondition = "confirmed_at is null and by_visitor";

/** SQL condition for subscribers that count towards the limit of their organization. */
export const countedSubscribers = `not (${waitingCondition})`;

/** Deletes the oldest unconfirmed sign-ups of a page, so that one more stays within the limit. */
export function dropOldestUnconfirmed({ organizationId, pageId }: PageKey): Statement {
  const waiting = `from subscribers where organization_id = ?1 and page_id = ?2 and ${waitingCondition}`;
  return {
    text: `delete from subscribers where rowid in (select rowid ${waiting} order by asked_at, id
        limit max(0, (select count(*) ${waiting}) - ?3))`,
    parameters: [organizationId, pageId, maxPending - 1],
  };
}

export const endQuarantine = createUpdate(subscribers, ["quarantinedAt", "lastError", "version"]);

/** Reads the mailboxes of a page with these address keys, also unconfirmed ones. */
export async function findMailboxes(
  { store, organizationId }: Tenant,
  pageId: string,
  keys: readonly string[],
) {
  return store.query<Pick<SubscriberRow, "id" | "addressKey" | "confirmedAt">>(
    `select id, address_key as addressKey, confirmed_at as confirmedAt from subscribers
     where organization_id = ? and page_id = ? and type = 'email' and address_key in (select value from json_each(?))`,
    [organizationId, pageId, JSON.stringify(keys)],
  );
}

/** Statements that add confirmed mailboxes, who are notified of all later events. */
export function insertMailboxes(
  { organizationId, pageId }: PageKey,
  rows: readonly SubscriberRow[],
): Statement[] {
  const keys = JSON.stringify(rows.map(({ addressKey }) => addressKey));
  const text = `update subscribers set heard_from = (select coalesce(max(seq), 0) from events)
    where organization_id = ? and id in (select value from json_each(?))`;
  return [
    guardCondition(
      `not exists (select 1 from subscribers where organization_id = ?
  and page_id = ? and type = 'email' and address_key in (select value from json_each(?)))`,
      [organizationId, pageId, keys],
    ),
    ...rows.map((row) => insertSubscriber(row)),
    { text, parameters: [organizationId, JSON.stringify(rows.map(({ id }) => id))] },
  ];
}

export const changeChoice = createUpdate(subscribers, [
  "language",
  "incidents",
  "minimumSeverity",
  "maintenance",
  "components",
  "frequency",
  "version",
]);

export const countConfirmationRequest = createUpdate(subscribers, [
  "asked",
  "askedAt",
  "language",
  "version",
]);

/** Reads the ids of an organization's pages with confirmed subscribers. */
export async function findPagesWithSubscribers(store: Store, organizationId: string) {
  const rows = await store.query<{ id: string }>(
    `select id from status_pages p where organization_id = ? and exists (
       select 1 from subscribers s where s.organization_id = p.organization_id
         and s.page_id = p.id and s.confirmed_at is not null) order by id`,
    [organizationId],
  );
  return rows.map(({ id }) => id);
}

/**
 * Recipients of a notice: confirmed before event `seq`, with an id after `after`, who chose its scope. With `notifiedOfWindow`,
 * only those with an earlier notice of this maintenance window.
 */
type RecipientQuery = {
  seq: number;
  after: string;
  scope: NoticeScope;
  isDigest: boolean;
  notifiedOfWindow: string | null;
};

const recipientsSql = `from subscribers s where organization_id = ?1 and page_id = ?2
  and heard_from < ?3 and id > ?4 and quarantined_at is null and frequency = iif(?7, 'weekly', 'immediately')
  and case when ?7 then true when ?5 = '[]' then maintenance
    else incidents and minimum_severity in (select value from json_each(?5)) end
  and (components is null or ?6 is null
    or exists (select 1 from json_each(components, '$.monitorIds') chosen
      where chosen.value in (select value from json_each(?6)))
    or exists (select 1 from json_each(components, '$.groupIds') chosen
      where chosen.value in (select value from json_each(?6))))
  and (?8 is null or id in (select d.receiver_id from notices n
    join deliveries d on d.organization_id = n.organization_id and d.notice_id = n.id
    where n.organization_id = ?1 and n.page_id = ?2 and n.id > substr(?8, 1, 13)
      and n.type like 'maintenance.%' and n.data ->> 'id' = ?8))`;

function buildRecipientParameters(
  { organizationId, pageId }: PageKey,
  { seq, after, scope: { severity, componentIds }, isDigest, notifiedOfWindow }: RecipientQuery,
) {
  const accepted = severity === null ? [] : severities.slice(0, severities.indexOf(severity) + 1);
  const affected = componentIds && JSON.stringify(componentIds);
  const chosen = [JSON.stringify(accepted), affected, isDigest ? 1 : 0];
  return [organizationId, pageId, seq, after, ...chosen, notifiedOfWindow];
}

/** Reads the recipients of a notice by id. */
export function findRecipients(
  store: Store,
  page: PageKey,
  { limit, ...query }: RecipientQuery & { limit: number },
): Promise<Listener[]> {
  return store.query<Listener>(`select id, type ${recipientsSql} order by id limit ?9`, [
    ...buildRecipientParameters(page, query),
    limit,
  ]);
}

/** Whether a page has subscribers whose digests contain its notices. */
export async function hasDigests(store: Store, { organizationId, pageId }: PageKey) {
  const rows = await store.query(
    `select 1 from subscribers where organization_id = ? and page_id = ? and frequency = 'weekly'
       and confirmed_at is not null limit 1`,
    [organizationId, pageId],
  );
  return rows.length > 0;
}

export async function countRecipients(
  store: Store,
  page: PageKey,
  query: RecipientQuery,
): Promise<number> {
  const [row] = await store.query<{ count: number }>(
    `select count(*) as count ${recipientsSql}`,
    buildRecipientParameters(page, query),
  );
  return row?.count ?? 0;
}

/** Returns the given organizations that have a confirmed subscriber. */
export async function findOrganizationsWithSubscribers(
  store: Store,
  organizationIds: readonly string[],
): Promise<Set<string>> {
  const rows = await store.query<{ id: string }>(
    `select value as id from json_each(?) where exists (
       select 1 from status_pages p join subscribers s
         on s.organization_id = p.organization_id and s.page_id = p.id and s.confirmed_at is not null
       where p.organization_id = value)`,
    [JSON.stringify(organizationIds)],
  );
  return new Set(rows.map(({ id }) => id));
}

type Listener = Pick<SubscriberRow, "id" | "type">;

/** Confirms a subscriber, who is notified of all later events. */
export function listenFromNow(organizationId: string, id: string, at: string): Statement {
  return {
    text: `update subscribers set confirmed_at = ?, last_error = null, version = version + 1,
        heard_from = (select coalesce(max(seq), 0) from events)
      where organization_id = ? and id = ?`,
    parameters: [at, organizationId, id],
  };
}

export const insertNotice = createInsert(notices);

/** Inserts the deliveries of a notice to the subscribers that still exist. */
export function insertDeliveries(
  { organizationId, id }: Pick<NoticeRow, "organizationId" | "id">,
  to: readonly Listener[],
  now: number,
  at: string,
): Statement {
  const deliveryRows = to.map((one) => [createId(now), receiverTypeOf(one.type), one.id]);
  return {
    text: `insert into deliveries (organization_id, id, receiver_type, receiver_id, notice_id, status,
          attempts, scheduled_attempts, due_at, created_at)
        select ?, value ->> 0, value ->> 1, value ->> 2, ?, 'sending', 0, 0, ?, ?
        from json_each(?) where exists (select 1 from subscribers s
          where s.organization_id = ? and s.id = value ->> 2)
        order by key`,
    parameters: [organizationId, id, now, at, JSON.stringify(deliveryRows), organizationId],
  };
}

export async function findNoticeOfDelivery(
  store: Store,
  organizationId: string,
  deliveryId: string,
) {
  const [row] = await store.query<Omit<NoticeRow, "scope">>(
    `select n.organization_id as organizationId, n.id, n.page_id as pageId, n.type, n.at, n.data
     from deliveries d join notices n on n.organization_id = d.organization_id and n.id = d.notice_id
     where d.organization_id = ? and d.id = ?`,
    [organizationId, deliveryId],
  );
  return row ?? null;
}

/** Reads the last notice except `exceptId` that a page sent about a maintenance window; null if it sent none. */
export async function findLastMaintenanceNotice(
  store: Store,
  { organizationId, pageId }: PageKey,
  windowId: string,
  exceptId: string,
): Promise<{ type: string; data: string; scope: NoticeScope | null } | null> {
  const [row] = await store.query<{ type: string; data: string; scope: string | null }>(
    `select type, data, scope from notices where organization_id = ? and id > ? and page_id = ?
       and type like 'maintenance.%' and data ->> 'id' = ? and id <> ? order by id desc limit 1`,
    // Ids start with their creation time, and no notice is older than its window.
    [organizationId, windowId.slice(0, 13), pageId, windowId, exceptId],
  );
  return row === undefined ? null : parseScope(row);
}

const parseScope = <R extends { scope: string | null }>({ scope, ...row }: R) => ({
  ...row,
  scope: scope === null ? null : (JSON.parse(scope) as NoticeScope),
});

/** Reads the last notice that a page sent about a public incident; null if it sent none. */
export async function findLastNotice(
  store: Store,
  { organizationId, pageId }: PageKey,
  incidentId: string,
): Promise<{ data: string; scope: NoticeScope | null } | null> {
  const [row] = await store.query<{ data: string; scope: string | null }>(
    `select n.data, n.scope from notices n
       join incidents i on i.organization_id = n.organization_id and i.id = n.data ->> 'id'
     where n.organization_id = ? and n.id > ? and n.page_id = ? and n.type like 'incident.%'
       and n.data ->> 'id' = ? and i.public
     order by n.id desc limit 1`,
    // Ids start with their creation time, and no notice is older than its incident.
    [organizationId, incidentId.slice(0, 13), pageId, incidentId],
  );
  return row === undefined ? null : parseScope(row);
}

/** Deletes expired sign-ups, sooner on pages with very many, and notices as old as expired deliveries. */
export async function sweepSubscribers(context: SweepContext): Promise<void> {
  const { now } = context;
  await sweepRows(
    context,
    "subscribers",
    `${waitingCondition} and asked_at < ? and (organization_id, page_id) in (
      select organization_id, page_id from subscribers where ${waitingCondition}
      group by organization_id, page_id having count(*) > ?)`,
    [now - crowdedSignUps.pendingMs, crowdedSignUps.size],
  );
  await sweepRows(context, "subscribers", "confirmed_at is null and asked_at < ?", [
    now - pendingMs,
  ]);
  await sweepRows(context, "notices", "at < ?", [formatTimestamp(now - noticeDays * dayMs)]);
}
