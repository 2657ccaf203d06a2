/** Queries audit entries, and removes old ones. */
import { getTableName } from "drizzle-orm";
import { dayMs, formatTimestamp } from "../../core/time/clock.ts";
import { computeOffset } from "../../core/paging.ts";
import { type SweepContext, sweepLog } from "../../database/backup/sweeping.ts";
import { buildContains, findMatchingIds } from "../../database/search.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import type { Tenant } from "../../database/rows.ts";
import { buildOriginSql, namedTables } from "../../database/subject-names.ts";
import { memberships, people } from "../../database/tables/accounts.ts";
import { deletedRecords } from "../../database/tables/deleted-records.ts";
import { auditEntries } from "../../database/tables/events.ts";
import { organizations } from "../../database/tables/organizations.ts";
import { subscribers } from "../../database/tables/status-pages.ts";
import { type FoldableEntry, type FoldedEntries, isRepetition, startFold } from "./rules.ts";
import type { AuditEntry, AuditFilters, AuditQuery } from "./schema.ts";
import { createTextFilter } from "./sentence-rules.ts";

const names = namedTables.map(
  ([table, column]) =>
    `(select ${column} from ${table} s where s.organization_id = e.organization_id and s.id = e.subject_id)`,
);

const selectSql = `select e.seq, e.at, e.actor_type as "actorType", e.actor_id as "actorId",
  e.actor_name as "actorName", e.action, e.tool, e.subject_id as "subjectId", e.fields, e.changes,
  e.subject_name as "subjectName", coalesce(${names.join(", ")},
    (select name from ${getTableName(people)} where id = e.subject_id),
    (select name from ${getTableName(organizations)} where id = e.organization_id and id = e.subject_id)
  ) as "currentName", exists (select 1 from ${getTableName(subscribers)} s
    where s.organization_id = e.organization_id and s.id = e.subject_id) as "isSubscriber",
    exists (select 1 from ${getTableName(deletedRecords)} r where r.organization_id = e.organization_id
      and r.id = e.subject_id and r.deleted_at > 0) as "isRestorable",
    ${buildOriginSql("e.organization_id", "e.subject_id")} as "subjectOrigin"
  from ${getTableName(auditEntries)} e where e.organization_id = ?`;
export type EntryRow = {
  seq: number;
  at: string;
  actorType: string;
  actorId: string | null;
  actorName: string;
  action: string;
  tool: string | null;
  subjectId: string;
  fields: string | null;
  changes: string | null;
  /** Name of a subject that this entry deleted. */
  subjectName: string | null;
  currentName: string | null;
  isSubscriber: number;
  isRestorable: number;
  subjectOrigin: AuditEntry["subjectOrigin"];
  /** Added to the newest of several folded entries. */
  repeated?: AuditEntry["repeated"];
};

/** Rows read per event-loop turn. */
const entriesPerPortion = 2_500;

const members = `${getTableName(people)} p join ${getTableName(memberships)} m on m.person_id = p.id`;

/** Returns the IDs of people and records whose name contains this text. */
async function findSubjectsNamed({ store, organizationId, signal }: SearchContext, name: string) {
  const ids = new Set<string>();
  const searchNames = async (from: string, alias: string, owner: string, column: string) => {
    const where = { text: `${owner}.organization_id = ?`, parameters: [organizationId], cost: 0 };
    const source = { store, from, id: `${alias}.id`, where };
    const nameCondition = buildContains(`${alias}.${column}`, name);
    for await (const found of findMatchingIds(source, nameCondition, signal))
      for (const id of found) ids.add(id);
  };
  await searchNames(members, "p", "m", "name");
  for (const [table, column] of namedTables) await searchNames(`${table} t`, "t", "t", column);
  return ids;
}

/** A tenant, and a signal that aborts the search when the client disconnects. */
type SearchContext = Tenant & { signal?: AbortSignal | null };

/** Returns the SQL condition of all filters except the text search. */
function buildCondition({ noun, action, subjectId, actor, actorId, from, to }: AuditFilters) {
  const parts: { text: string; parameters: string[] }[] = [];
  if (noun !== undefined)
    parts.push({ text: "e.action >= ? and e.action < ?", parameters: [`${noun}.`, `${noun}/`] });
  if (action !== undefined) parts.push({ text: "e.action = ?", parameters: [action] });
  if (subjectId !== undefined) parts.push({ text: "e.subject_id = ?", parameters: [subjectId] });
  if (actorId !== undefined) parts.push({ text: "e.actor_id = ?", parameters: [actorId] });
  if (actor !== undefined) parts.push({ text: "e.actor_type = ?", parameters: [actor] });
  if (from !== undefined) parts.push({ text: "e.at >= ?", parameters: [formatTimestamp(from)] });
  if (to !== undefined) parts.push({ text: "e.at < ?", parameters: [formatTimestamp(to)] });
  return {
    text: parts.map(({ text }) => ` and ${text}`).join(""),
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

const orders = {
  newest: { first: Number.MAX_SAFE_INTEGER, beyond: "<", upTo: ">=", direction: "desc" },
  oldest: { first: 0, beyond: ">", upTo: "<=", direction: "asc" },
};

type MatchingEntry = FoldableEntry & Pick<EntryRow, "actorName" | "subjectName">;

/** Yields matching entries in portions, between which other work can run. */
async function* findMatches(
  tenant: SearchContext,
  filters: AuditFilters,
  order: keyof typeof orders,
): AsyncGenerator<MatchingEntry[]> {
  const { store, organizationId } = tenant;
  const { first, beyond, upTo, direction } = orders[order];
  const subjects = filters.q === undefined ? null : await findSubjectsNamed(tenant, filters.q);
  const { subjectId, ...others } = filters;
  const { text, parameters } = buildCondition(others);
  const matchesText = filters.q === undefined ? () => true : createTextFilter(filters.q);
  const scoped = [organizationId, ...(subjectId === undefined ? [] : [subjectId])];
  const subjectSql = subjectId === undefined ? "" : "and e.subject_id = ?";
  const fromClause = `from ${getTableName(auditEntries)} e where e.organization_id = ? ${subjectSql} and e.seq ${beyond} ?`;
  const portionEndSql = `select e.seq ${fromClause} order by e.seq ${direction} limit 1 offset ${entriesPerPortion - 1}`;
  const matchesSql = `select e.seq, e.at, e.actor_type as "actorType", e.actor_id as "actorId",
    e.actor_name as "actorName", e.action, e.subject_id as "subjectId",
    e.subject_name as "subjectName", e.request_id as "requestId", e.fields, e.changes ${fromClause} and e.seq ${upTo} ?${text} order by e.seq ${direction}`;
  for (let from = first; ;) {
    const [end] = await store.query<{ seq: number }>(portionEndSql, [...scoped, from]);
    const to = end?.seq ?? (order === "newest" ? 0 : Number.MAX_SAFE_INTEGER);
    const found = await store.query<MatchingEntry>(matchesSql, [
      ...scoped,
      from,
      to,
      ...parameters,
    ]);
    yield found.filter((one) => subjects?.has(one.subjectId) === true || matchesText(one));
    if (end === undefined) return;
    from = to;
    await yieldToEventLoop();
  }
}

const entriesSql = `${selectSql} and e.seq in (select value from json_each(?)) order by e.seq`;

const readEntries = ({ store, organizationId }: Tenant, seqs: readonly number[]) =>
  store.query<EntryRow>(entriesSql, [organizationId, JSON.stringify(seqs)]);

/** Returns a page of matching entries, newest first, and the total number of matches. */
export async function findEntryPage(
  tenant: SearchContext,
  { page, per_page, fold, ...filters }: AuditQuery,
): Promise<{ rows: EntryRow[]; total: number }> {
  const { store, organizationId } = tenant;
  const offset = computeOffset({ page, per_page });
  if (fold) return findFoldedPage(tenant, filters, offset, per_page);
  if (Object.values(filters).every((value) => value === undefined)) {
    const [count] = await store.query<{ total: number }>(
      `select count(*) as total from ${getTableName(auditEntries)} e where e.organization_id = ?`,
      [organizationId],
    );
    const rows = await store.query<EntryRow>(`${selectSql} order by e.seq desc limit ? offset ?`, [
      organizationId,
      per_page,
      offset,
    ]);
    return { rows, total: count?.total ?? 0 };
  }
  const seqs: number[] = [];
  let total = 0;
  for await (const matches of findMatches(tenant, filters, "newest")) {
    const from = Math.max(0, offset - total);
    seqs.push(...matches.slice(from, from + per_page - seqs.length).map(({ seq }) => seq));
    total += matches.length;
  }
  return { rows: (await readEntries(tenant, seqs)).reverse(), total };
}

/** Entries that are always folded. Older ones are folded only for their own page. */
const foldedAtLeast = 20_000;

/**
 * Returns a page in which repeated entries are one, and the total number of such lines. In longer logs, entries far
 * beyond the page count one by one, because the first page must not read years.
 */
async function findFoldedPage(
  tenant: SearchContext,
  filters: AuditFilters,
  offset: number,
  perPage: number,
): Promise<{ rows: EntryRow[]; total: number }> {
  const lines = new Map<number, FoldedEntries>();
  let last: FoldedEntries | null = null;
  let total = 0;
  let scanned = 0;
  for await (const matches of findMatches(tenant, filters, "newest")) {
    for (const match of matches) {
      if (last !== null && isRepetition(last, match)) {
        last.count++;
        last.since = match.at;
        last.subjects.add(match.subjectId);
        continue;
      }
      last = startFold(match);
      if (total >= offset && total < offset + perPage) lines.set(match.seq, last);
      total++;
    }
    scanned += matches.length;
    const isPageFull = total > offset + perPage && scanned >= foldedAtLeast;
    if (!isPageFull || last === null || filters.q !== undefined) continue;
    total += await countOlder(tenant, filters, matches.at(-1)?.seq ?? 0);
    break;
  }
  const rows = (await readEntries(tenant, [...lines.keys()])).reverse();
  return {
    rows: rows.map((row) => ({ ...row, repeated: countRepetitions(lines.get(row.seq)) })),
    total,
  };
}

async function countOlder(
  { store, organizationId }: SearchContext,
  filters: AuditFilters,
  seq: number,
): Promise<number> {
  const { text, parameters } = buildCondition(filters);
  const [count] = await store.query<{ total: number }>(
    `select count(*) as total from ${getTableName(auditEntries)} e
       where e.organization_id = ? and e.seq < ?${text}`,
    [organizationId, seq, ...parameters],
  );
  return count?.total ?? 0;
}

const countRepetitions = (folded: FoldedEntries | undefined) =>
  folded === undefined || folded.count === 1
    ? null
    : { count: folded.count, subjects: folded.subjects.size, since: folded.since };

const namesSql = [
  ...namedTables.map(
    ([table, column]) =>
      `select id, ${column} as name from ${table} where organization_id = ?1 and id in (select value from json_each(?2))`,
  ),
  `select p.id, p.name from ${members} where m.organization_id = ?1 and p.id in (select value from json_each(?2))`,
  `select subject_id as id, subject_name as name from ${getTableName(auditEntries)}
     where organization_id = ?1 and subject_id in (select value from json_each(?2)) and subject_name is not null`,
  // An accepted invitation has the name of the person who accepted it.
  `select subject_id, actor_name from ${getTableName(auditEntries)}
     where organization_id = ?1 and subject_id in (select value from json_each(?2)) and action = 'invitation.accepted'`,
].join(" union all ");

/** Returns the names of records, also of deleted ones, by ID. */
export async function findNames(
  { store, organizationId }: Tenant,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await store.query<{ id: string; name: string }>(namesSql, [
    organizationId,
    JSON.stringify([...new Set(ids)]),
  ]);
  return new Map(found.toReversed().map(({ id, name }) => [id, name]));
}

/** Yields matching entries, oldest first, at most `atOnce` at a time. */
export async function* readAllEntries(
  tenant: Tenant,
  filters: AuditFilters,
  atOnce: number,
): AsyncGenerator<EntryRow[]> {
  for await (const matches of findMatches(tenant, filters, "oldest"))
    for (let from = 0; from < matches.length; from += atOnce) {
      const portion = matches.slice(from, from + atOnce);
      yield readEntries(
        tenant,
        portion.map(({ seq }) => seq),
      );
      await yieldToEventLoop();
    }
}

/** Removes audit entries older than `days`. */
export async function sweepAuditLog(context: SweepContext, days: number): Promise<void> {
  await sweepLog(
    context,
    { name: "audit log", retentionMs: days * dayMs },
    "select seq, at from audit_entries where seq > ? order by seq limit ?",
    (from, to) => [
      {
        text: "delete from audit_entries where seq > ? and seq <= ?",
        parameters: [from, to],
      },
    ],
  );
}
