import { offsetOf, page } from "../core/paging.ts";
import { turn } from "../core/yielding.ts";
import { containing } from "../database/references.ts";
import { matching, type Tenant } from "../database/rows.ts";
import type { Store } from "../database/store.ts";
import { factsIn, type AutomaticTitle, type AutomaticUpdate, statesWanted } from "./rules.ts";
import { incidentUpdateRevisions } from "../database/tables/incidents.ts";
import type {
  Author,
  Incident,
  IncidentNote,
  IncidentQuery,
  IncidentSummary,
  IncidentUpdate,
  IncidentUpdateRevision,
  Postmortem,
} from "./schema.ts";

/** A timeline entry with the facts behind what a monitor wrote; null for people's words. */
export type UpdateRecord = IncidentUpdate & { automatic: AutomaticUpdate | null };

/** An incident as services know it: with the version that makes its ETag. */
export type IncidentRecord = Omit<Incident, "updates"> & {
  version: number;
  /** The facts behind a title that a monitor gave; null for one that people wrote. */
  automatic: AutomaticTitle | null;
  updates: UpdateRecord[];
};

type SummaryRow = Omit<IncidentSummary, "public" | "monitorIds"> &
  MonitorColumns & { public: 0 | 1 };
type Row = SummaryRow & {
  version: number;
  automatic: string | null;
  updates: string;
  notes: string;
  postmortem: string | null;
};

/** An incident's monitors as its own row has them. */
export type MonitorColumns = { monitorId: string | null; monitorIds: string | null };

export function monitorIdsIn({ monitorId, monitorIds }: MonitorColumns): string[] {
  if (monitorIds !== null) return JSON.parse(monitorIds) as string[];
  return monitorId === null ? [] : [monitorId];
}

const summary = `id, title, status, severity, monitor_id AS "monitorId", monitor_ids AS "monitorIds",
  origin, public,
  resolved_at AS "resolvedAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Entries of a timeline that are read with their incident, and then in one go: others have their turn between. */
const portion = 50;

// The timeline comes as JSON made by SQLite: one query costs less than half of two.
const updatesOf = (condition: string) => `SELECT
    json_group_array(json_object('id', id, 'status', status, 'message', message,
      'createdAt', created_at, 'editedAt', edited_at, 'automatic', json(automatic)) ORDER BY seq) AS entries
  FROM (SELECT * FROM incident_updates WHERE ${condition} ORDER BY seq LIMIT ${portion})`;
const notesOf = (condition: string) => `SELECT
    json_group_array(json_object('id', id, 'message', message, 'createdAt', created_at,
      'author', json_object('type', author_type, 'id', author_id, 'name', author_name)) ORDER BY id) AS entries
  FROM (SELECT * FROM incident_notes WHERE ${condition} ORDER BY id LIMIT ${portion})`;
const its = "organization_id = incidents.organization_id AND incident_id = incidents.id";
const one = `SELECT ${summary}, version, automatic, (${updatesOf(its)}) AS updates,
  (${notesOf(its)}) AS notes, (
    SELECT json_object('message', message, 'publishedAt', published_at, 'updatedAt', updated_at)
    FROM incident_postmortems p
    WHERE p.organization_id = incidents.organization_id AND p.incident_id = incidents.id
  ) AS postmortem FROM incidents WHERE organization_id = ? AND id = ?`;
const further = {
  updates: updatesOf(`organization_id = ?1 AND incident_id = ?2 AND seq > (
    SELECT seq FROM incident_updates WHERE organization_id = ?1 AND incident_id = ?2 AND id = ?3)`),
  notes: notesOf("organization_id = ?1 AND incident_id = ?2 AND id > ?3"),
};

export async function findIncident(tenant: Tenant, id: string): Promise<IncidentRecord | null> {
  const { store, organizationId } = tenant;
  const [row] = await store.query<Row>(one, [organizationId, id]);
  if (row === undefined) return null;
  const updates = await wholeOf<UpdateRecord>(tenant, row, "updates");
  const notes = await wholeOf<IncidentNote>(tenant, row, "notes");
  const automatic = factsIn<AutomaticTitle>(row.automatic);
  const postmortem = row.postmortem === null ? null : (JSON.parse(row.postmortem) as Postmortem);
  return { ...row, ...shown(row), automatic, updates, notes, postmortem };
}

/** A list of an incident, of which its row has the first entries. */
async function wholeOf<T extends { id: string }>(
  { store, organizationId }: Tenant,
  row: Row,
  name: keyof typeof further,
): Promise<T[]> {
  const all = JSON.parse(row[name]) as T[];
  for (let count = all.length; count === portion;) {
    await turn();
    const place = [organizationId, row.id, all.at(-1)?.id ?? ""];
    const [next] = await store.query<{ entries: string }>(further[name], place);
    const entries = JSON.parse(next?.entries ?? "[]") as T[];
    all.push(...entries);
    count = entries.length;
  }
  return all;
}

/** What an update said before each of its edits, oldest first. */
export async function revisionsOf(
  { store, organizationId }: Tenant,
  incidentId: string,
  updateId: string,
): Promise<IncidentUpdateRevision[]> {
  const rows = await store.db
    .select()
    .from(incidentUpdateRevisions)
    .where(matching(incidentUpdateRevisions, { organizationId, incidentId, updateId }))
    .orderBy(incidentUpdateRevisions.id);
  return rows.map(({ id, message, editedAt, authorType, authorId, authorName }) => ({
    id,
    message,
    editedAt,
    author: { type: authorType as Author["type"], id: authorId, name: authorName },
  }));
}

/** One page of an organization's incidents, newest first, and how many there are in all. */
export async function listIncidents({ store, organizationId }: Tenant, query: IncidentQuery) {
  if (query.monitorId !== undefined || query.q !== undefined)
    return search(store, organizationId, query);
  const { source, parameters, total } = selection(organizationId, query);
  const [count] = await store.query<{ total: number }>(total.text, total.parameters);
  const found = count?.total ?? 0;
  // Stepping over a million rows to find nothing behind them would hold up everybody else.
  if (offsetOf(query) >= found) return page<IncidentSummary>(query, [], found);
  const rows = await store.query<SummaryRow>(
    `SELECT ${summary} FROM ${source} ORDER BY id DESC LIMIT ? OFFSET ?`,
    [...parameters, query.per_page, offsetOf(query)],
  );
  return page(query, rows.map(shown), found);
}

function shown(row: SummaryRow): IncidentSummary {
  return { ...row, public: row.public === 1, monitorIds: monitorIdsIn(row) };
}

type Selection = {
  source: string;
  parameters: (string | number)[];
  total: { text: string; parameters: string[] };
};

// ids are UUIDv7 made with createdAt, so their order is "newest first, id as tie-break".
function selection(organizationId: string, query: IncidentQuery): Selection {
  const states = statesWanted(query);
  const counts = `SELECT coalesce(sum(count), 0) AS total FROM incident_counts WHERE organization_id = ?`;
  if (states === null)
    return {
      source: "incidents WHERE organization_id = ?",
      parameters: [organizationId],
      total: { text: counts, parameters: [organizationId] },
    };
  // The newest of each wanted state, merged: reads no more than the page needs, however rare or
  // common a state is. A plain IN would sort all that match.
  const branch = `SELECT * FROM (SELECT * FROM incidents WHERE organization_id = ? AND status = ?
    AND severity = ? ORDER BY id DESC LIMIT ?)`;
  const needed = Math.min(offsetOf(query) + query.per_page, Number.MAX_SAFE_INTEGER);
  return {
    source: `(${states.map(() => branch).join(" UNION ALL ")})`,
    parameters: states.flatMap(({ status, severity }) => [
      organizationId,
      status,
      severity,
      needed,
    ]),
    total: {
      text: `${counts} AND status || ' ' || severity IN (SELECT value FROM json_each(?))`,
      parameters: [organizationId, namesOf(states)],
    },
  };
}

function namesOf(states: NonNullable<ReturnType<typeof statesWanted>>): string {
  return JSON.stringify(states.map(({ status, severity }) => `${status} ${severity}`));
}

/** Rows looked at in one go: some 10 ms, after which others have their turn. */
const stride = 10_000;

const ofMonitor = `incident_monitors l CROSS JOIN incidents i
  ON i.organization_id = l.organization_id AND i.id = l.incident_id
  WHERE l.organization_id = ? AND l.monitor_id = ?`;

/** A search has to look at every title; it does so in strides, so that it holds up nobody. */
async function search(store: Store, organizationId: string, query: IncidentQuery) {
  const states = statesWanted(query);
  const { place, where } =
    query.monitorId === undefined
      ? { place: "incidents i WHERE i.organization_id = ?", where: [organizationId] }
      : { place: ofMonitor, where: [organizationId, query.monitorId] };
  const titled = containing("i.title", query.q ?? "");
  const matches = `${titled.text} ${
    states === null ? "" : "AND i.status || ' ' || i.severity IN (SELECT value FROM json_each(?))"
  }`;
  const wanted = [...titled.parameters, ...(states === null ? [] : [namesOf(states)])];
  const strideEnd = `SELECT i.id FROM ${place} AND i.id < ? ORDER BY i.id DESC LIMIT 1 OFFSET ${stride}`;
  const strideHits = `SELECT i.id FROM ${place} AND i.id < ? AND i.id >= ? AND ${matches} ORDER BY i.id DESC`;

  const ids: string[] = [];
  let total = 0;
  let end = afterAllIds;
  while (end !== "") {
    const [next] = await store.query<{ id: string }>(strideEnd, [...where, end]);
    const start = next?.id ?? "";
    const hits = await store.query<{ id: string }>(strideHits, [...where, end, start, ...wanted]);
    const from = Math.max(0, offsetOf(query) - total);
    ids.push(...hits.slice(from, from + query.per_page - ids.length).map(({ id }) => id));
    total += hits.length;
    end = start;
    if (end !== "") await Bun.sleep(0);
  }
  const rows = await store.query<SummaryRow>(
    `SELECT ${summary} FROM incidents WHERE organization_id = ?
     AND id IN (SELECT value FROM json_each(?)) ORDER BY id DESC`,
    [organizationId, JSON.stringify(ids)],
  );
  return page(query, rows.map(shown), total);
}

/** Greater than every id, which are lower-case hexadecimal. */
const afterAllIds = "~";
