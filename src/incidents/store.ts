/** Queries of incidents and their timelines. */
import { and, gt } from "drizzle-orm";
import { computeOffset, buildPage } from "../core/paging.ts";
import { forEachListed, type ListOrStream, StreamedList } from "../core/text/streamed-list.ts";
import { yieldToEventLoop } from "../core/time/event-loop.ts";
import {
  combineConditions,
  type Condition,
  buildContains,
  findMatchingIds,
  collectPage,
} from "../database/search.ts";
import { limitIncidents, selectVisibleMonitors } from "../database/group-limit.ts";
import { matchValues, type Tenant } from "../database/rows.ts";
import {
  parseFacts,
  type ImpactChange,
  parseImpactChanges,
  parseImpacts,
  parseTranslations,
  selectImpacts,
  type AutomaticTitle,
  type AutomaticUpdate,
  parseWantedStates,
} from "./rules.ts";
import { incidentUpdateRevisions } from "../database/tables/incidents.ts";
import type {
  Author,
  IncidentImpact,
  IncidentNote,
  IncidentQuery,
  IncidentSummary,
  IncidentUpdate,
  IncidentUpdateRevision,
  Postmortem,
} from "./schema.ts";

/** A timeline entry. `automatic` contains the facts of a monitor's update; null for a person's. */
export type UpdateRecord = IncidentUpdate & { automatic: AutomaticUpdate | null };

/** An incident without its timeline, as needed for a write. */
export type IncidentHead = Omit<IncidentSummary, "hasPostmortem"> & {
  /** Number of changes, from which the ETag is derived. */
  version: number;
  /** Facts of a title that a monitor set; null for a person's title. */
  automatic: AutomaticTitle | null;
  postmortem: Postmortem | null;
  impacts: IncidentImpact[];
  impactChanges: ImpactChange[] | null;
  /** Number of updates, revisions and notes. */
  entries: number;
  /** Total bytes of the texts of updates, revisions, notes and the postmortem. */
  textBytes: number;
};

export type IncidentRecord = IncidentHead & {
  updates: ListOrStream<UpdateRecord>;
  notes: ListOrStream<IncidentNote>;
};

/** An incident with the latest updates, limited to the number that a page shows. */
export type ShownIncident = IncidentHead & { updates: readonly UpdateRecord[] };

/** A tenant, and a signal that aborts the search when the client disconnects. */
type SearchContext = Tenant & { signal?: AbortSignal | null };

type RecordRow = Omit<IncidentSummary, "public" | "hasPostmortem" | "monitorIds"> &
  MonitorColumns & { public: 0 | 1 };
export type SummaryRow = RecordRow & { hasPostmortem: 0 | 1 };
type HeadRow = RecordRow &
  Pick<IncidentHead, "version" | "entries" | "textBytes"> & {
    automatic: string | null;
    impacts: string | null;
    impactChanges: string | null;
    postmortem: string | null;
  };
type Row = HeadRow & { updates: string; notes: string };

/** The monitors of an incident, as stored in its row. */
export type MonitorColumns = { monitorId: string | null; monitorIds: string | null };

export function parseMonitorIds({ monitorId, monitorIds }: MonitorColumns): string[] {
  if (monitorIds !== null) return JSON.parse(monitorIds) as string[];
  return monitorId === null ? [] : [monitorId];
}

const recordColumns = `id, title, status, severity, monitor_id AS "monitorId", monitor_ids AS "monitorIds",
  origin, public,
  resolved_at AS "resolvedAt", created_at AS "createdAt", updated_at AS "updatedAt"`;
const postmortemSql = `FROM incident_postmortems p
    WHERE p.organization_id = incidents.organization_id AND p.incident_id = incidents.id`;
/** Columns of a `SummaryRow`. Its source must have the name `incidents`. */
export const summaryColumns = `${recordColumns}, EXISTS (SELECT 1 ${postmortemSql}) AS "hasPostmortem"`;

/** Timeline entries per query. Queries for short entries read more, up to `maxPortionRows`. */
const rowsPerPortion = 50;
const maxPortionRows = 1_000;
/** Size in bytes above which a timeline is streamed. */
const listedBytes = 256 * 1024;
/** Estimated bytes of an entry in addition to its text. */
const entryBytes = 256;

// SQLite returns the timeline as JSON. One query takes less than half the time of two.
const buildUpdatesSql = (condition: string, limit = `${rowsPerPortion}`) => `SELECT
    json_group_array(json_object('id', id, 'status', status, 'message', message,
      'translations', json(translations), 'createdAt', created_at, 'editedAt', edited_at, 'automatic', json(automatic)) ORDER BY seq) AS entries
  FROM (SELECT * FROM incident_updates WHERE ${condition} ORDER BY seq LIMIT ${limit})`;
const buildNotesSql = (condition: string, limit = `${rowsPerPortion}`) => `SELECT
    json_group_array(json_object('id', id, 'message', message, 'createdAt', created_at,
      'author', json_object('type', author_type, 'id', author_id, 'name', author_name)) ORDER BY id) AS entries
  FROM (SELECT * FROM incident_notes WHERE ${condition} ORDER BY id LIMIT ${limit})`;
const thisIncidentSql =
  "organization_id = incidents.organization_id AND incident_id = incidents.id";
const headColumns = `${recordColumns}, version, automatic, impacts, impact_changes AS "impactChanges", entries, text_bytes AS "textBytes", (
    SELECT json_object('message', message, 'publishedAt', published_at, 'updatedAt', updated_at)
    ${postmortemSql}
  ) AS postmortem`;
const byId = "FROM incidents WHERE organization_id = ? AND id = ?";
const headSql = `SELECT ${headColumns} ${byId}`;
const incidentSql = `SELECT ${headColumns}, (${buildUpdatesSql(thisIncidentSql)}) AS updates, (${buildNotesSql(thisIncidentSql)}) AS notes ${byId}`;
const furtherEntriesSql = {
  updates: buildUpdatesSql(
    `organization_id = ?1 AND incident_id = ?2 AND seq > coalesce((
    SELECT seq FROM incident_updates WHERE organization_id = ?1 AND incident_id = ?2 AND id = ?3), 0)`,
    "?4",
  ),
  notes: buildNotesSql("organization_id = ?1 AND incident_id = ?2 AND id > ?3", "?4"),
};

export async function findHead(tenant: Tenant, id: string): Promise<IncidentHead | null> {
  const [row] = await tenant.store.query<HeadRow>(headSql, [tenant.organizationId, id]);
  return row === undefined ? null : parseHead(row);
}

function parseHead(row: HeadRow): IncidentHead {
  const automatic = parseFacts<AutomaticTitle>(row.automatic);
  const postmortem = row.postmortem === null ? null : (JSON.parse(row.postmortem) as Postmortem);
  const record = parseRecord(row);
  const impacts = parseImpacts(row.impacts, record.monitorIds);
  const impactChanges = parseImpactChanges(row.impactChanges);
  return { ...row, ...record, automatic, impacts, impactChanges, postmortem };
}

/** Reads an incident with its timeline, which is streamed if it is long. */
export async function findIncident(tenant: Tenant, id: string): Promise<IncidentRecord | null> {
  const [row] = await tenant.store.query<Row>(incidentSql, [tenant.organizationId, id]);
  if (row === undefined) return null;
  const updates = await listTimeline<UpdateRecord>(tenant, row, "updates");
  const [incident] = await hideMonitors(tenant, [parseHead(row)]);
  if (incident === undefined) return null;
  // Notes can describe any monitor of the incident, so limited callers see them only if they see all of its monitors.
  const isWhole = incident.monitorIds.length === parseMonitorIds(row).length;
  const notes = isWhole ? await listTimeline<IncidentNote>(tenant, row, "notes") : [];
  const impacts = selectImpacts(incident.impacts, incident.monitorIds);
  return { ...incident, impacts, updates, notes };
}

/** Removes the monitors that a limited caller can't see. Without any left, the incident does not exist for them. */
export async function hideMonitors<T extends Omit<IncidentSummary, "hasPostmortem">>(
  tenant: Tenant,
  all: readonly T[],
): Promise<T[]> {
  if (tenant.groupIds == null) return [...all];
  const ids = new Set(all.flatMap(({ monitorIds }) => monitorIds));
  const visibleIds = new Set(await selectVisibleMonitors(tenant, [...ids]));
  return all.flatMap((one) => {
    const monitorIds = one.monitorIds.filter((id) => visibleIds.has(id));
    const [monitorId] = monitorIds;
    // An incident that a monitor opened is about this monitor.
    const isAboutOther = one.origin === "monitor" && monitorId !== one.monitorId;
    if (monitorId === undefined || isAboutOther) return [];
    const partial = monitorIds.length < one.monitorIds.length ? true : undefined;
    return [{ ...one, monitorId, monitorIds, partial }];
  });
}

type TimelineName = keyof typeof furtherEntriesSql;

/** Returns the updates or notes of an incident. The first ones are already in the row. */
async function listTimeline<T extends { id: string }>(
  tenant: Tenant,
  row: Row,
  name: TimelineName,
): Promise<ListOrStream<T>> {
  const first = JSON.parse(row[name]) as T[];
  if (first.length < rowsPerPortion) return first;
  const list = new StreamedList<T>(() => readPortions<T>(tenant, row, name));
  if (row.textBytes + row.entries * entryBytes > listedBytes) return list;
  const all: T[] = [];
  await forEachListed(list, (entry) => void all.push(entry));
  return all;
}

async function* readPortions<T extends { id: string }>(
  { store, organizationId }: Tenant,
  { id: incidentId, entries: count, textBytes }: Row,
  name: TimelineName,
): AsyncGenerator<T[]> {
  const averageBytes = entryBytes + textBytes / Math.max(1, count);
  const limit = Math.max(
    rowsPerPortion,
    Math.min(maxPortionRows, Math.floor(listedBytes / averageBytes)),
  );
  for (let last = ""; ;) {
    const position = [organizationId, incidentId, last, limit];
    const [next] = await store.query<{ entries: string }>(furtherEntriesSql[name], position);
    const entries = JSON.parse(next?.entries ?? "[]") as T[];
    yield entries;
    if (entries.length < limit) return;
    last = entries.at(-1)?.id ?? last;
    await yieldToEventLoop();
  }
}

const updateSql = `SELECT id, status, message, translations, created_at AS "createdAt", edited_at AS "editedAt", automatic
  FROM incident_updates WHERE organization_id = ? AND incident_id = ? AND id = ?`;

export async function findUpdate(
  { store, organizationId }: Tenant,
  incidentId: string,
  id: string,
): Promise<UpdateRecord | null> {
  type Stored = Omit<UpdateRecord, "automatic" | "translations"> &
    Record<"automatic" | "translations", string | null>;
  const [row] = await store.query<Stored>(updateSql, [organizationId, incidentId, id]);
  return row === undefined
    ? null
    : {
        ...row,
        automatic: parseFacts<AutomaticUpdate>(row.automatic),
        translations: parseTranslations(row.translations),
      };
}

/** Streams the earlier texts of an update, oldest first. */
export function streamRevisions(tenant: Tenant, incidentId: string, updateId: string) {
  return new StreamedList<IncidentUpdateRevision>(async function* () {
    for (let last = ""; ;) {
      const entries = await findRevisionsAfter(tenant, incidentId, updateId, last);
      yield entries;
      if (entries.length < rowsPerPortion) return;
      last = entries.at(-1)?.id ?? last;
      await yieldToEventLoop();
    }
  });
}

async function findRevisionsAfter(
  { store, organizationId }: Tenant,
  incidentId: string,
  updateId: string,
  last: string,
): Promise<IncidentUpdateRevision[]> {
  const updateMatch = matchValues(incidentUpdateRevisions, {
    organizationId,
    incidentId,
    updateId,
  });
  const rows = await store.db
    .select()
    .from(incidentUpdateRevisions)
    .where(and(updateMatch, gt(incidentUpdateRevisions.id, last)))
    .orderBy(incidentUpdateRevisions.id)
    .limit(rowsPerPortion);
  return rows.map(({ id, message, editedAt, authorType, authorId, authorName }) => ({
    id,
    message,
    editedAt,
    author: { type: authorType as Author["type"], id: authorId, name: authorName },
  }));
}

/** Returns a page of an organization's incidents, newest first, and the total number of matches. */
export async function findIncidentPage(tenant: SearchContext, query: IncidentQuery) {
  const { store, organizationId, groupIds = null } = tenant;
  if (query.monitorId !== undefined || query.q !== undefined || groupIds !== null)
    return searchIncidents(tenant, query);
  const { source, parameters, total } = buildSelection(organizationId, query);
  const [count] = await store.query<{ total: number }>(total.text, total.parameters);
  const found = count?.total ?? 0;
  // Skipping a million rows to return an empty page would block other requests.
  if (computeOffset(query) >= found) return buildPage<IncidentSummary>(query, [], found);
  const rows = await store.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM ${source} ORDER BY id DESC LIMIT ? OFFSET ?`,
    [...parameters, query.per_page, computeOffset(query)],
  );
  return buildPage(query, rows.map(toSummary), found);
}

function toSummary(row: SummaryRow): IncidentSummary {
  return { ...row, ...parseRecord(row), hasPostmortem: row.hasPostmortem === 1 };
}

/** Parses the columns whose stored form differs from the API. */
function parseRecord(row: RecordRow) {
  return { public: row.public === 1, monitorIds: parseMonitorIds(row) };
}

type Selection = {
  source: string;
  parameters: (string | number)[];
  total: { text: string; parameters: string[] };
};

// IDs are UUIDv7 created together with createdAt. Sorting by ID therefore means newest first, with
// a tie-break.
function buildSelection(organizationId: string, query: IncidentQuery): Selection {
  const states = parseWantedStates(query);
  const counts = `SELECT coalesce(sum(count), 0) AS total FROM incident_counts WHERE organization_id = ?`;
  if (states === null)
    return {
      source: "incidents WHERE organization_id = ?",
      parameters: [organizationId],
      total: { text: counts, parameters: [organizationId] },
    };
  // Merges the newest rows of each selected state. This reads only the rows that the page needs; a
  // plain IN would sort all matches.
  const branch = `SELECT * FROM (SELECT * FROM incidents WHERE organization_id = ? AND status = ?
    AND severity = ? ORDER BY id DESC LIMIT ?)`;
  const needed = Math.min(computeOffset(query) + query.per_page, Number.MAX_SAFE_INTEGER);
  return {
    source: `(${states.map(() => branch).join(" UNION ALL ")}) AS incidents`,
    parameters: states.flatMap(({ status, severity }) => [
      organizationId,
      status,
      severity,
      needed,
    ]),
    total: {
      text: `${counts} AND status || ' ' || severity IN (SELECT value FROM json_each(?))`,
      parameters: [organizationId, serializeStates(states)],
    },
  };
}

function serializeStates(states: NonNullable<ReturnType<typeof parseWantedStates>>): string {
  return JSON.stringify(states.map(({ status, severity }) => `${status} ${severity}`));
}

const monitorSourceSql = `incident_monitors l CROSS JOIN incidents i
  ON i.organization_id = l.organization_id AND i.id = l.incident_id`;

async function searchIncidents(tenant: SearchContext, query: IncidentQuery) {
  const { store, organizationId, signal } = tenant;
  const { monitorId, q } = query;
  if (monitorId !== undefined && (await selectVisibleMonitors(tenant, [monitorId])).length === 0)
    return buildPage<IncidentSummary>(query, [], 0);
  const states = parseWantedStates(query);
  const source =
    monitorId === undefined
      ? { from: "incidents i", text: "i.organization_id = ?", parameters: [organizationId] }
      : {
          from: monitorSourceSql,
          text: "l.organization_id = ? AND l.monitor_id = ?",
          parameters: [organizationId, monitorId],
        };
  const conditions: Condition[] = [];
  if (q !== undefined) conditions.push(buildContains("i.title", q));
  const limit = limitIncidents(tenant);
  if (limit.text !== "")
    conditions.push({ ...limit, text: limit.text.replace(/^ and /, ""), cost: 1 });
  if (states !== null)
    conditions.push({
      text: "i.status || ' ' || i.severity IN (SELECT value FROM json_each(?))",
      parameters: [serializeStates(states)],
      cost: 0,
    });
  const { from, ...where } = source;
  const portions = findMatchingIds(
    { store, from, id: "i.id", where: { ...where, cost: 0 } },
    combineConditions(conditions),
    signal,
  );
  const { ids, total } = await collectPage(portions, computeOffset(query), query.per_page);
  const rows = await store.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM incidents WHERE organization_id = ?
     AND id IN (SELECT value FROM json_each(?)) ORDER BY id DESC`,
    [organizationId, JSON.stringify(ids)],
  );
  return buildPage(query, await hideMonitors(tenant, rows.map(toSummary)), total);
}
