import { and, eq } from "drizzle-orm";
import { offsetOf } from "../base/paging.ts";
import { containing } from "../database/references.ts";
import { insertInto, type Statement, type Store, updateOf } from "../database/store.ts";
import { incidents, incidentUpdates } from "../database/tables.ts";
import { statesWanted } from "./rules.ts";
import type { Incident, IncidentQuery, IncidentSummary, IncidentUpdate } from "./schema.ts";

/** An incident as services know it: with the version that makes its ETag. */
export type IncidentRecord = Incident & { version: number };

type SummaryRow = Omit<IncidentSummary, "public"> & { public: 0 | 1 };
type Row = SummaryRow & { version: number; updates: string };

const summary = `id, title, status, severity, monitor_id AS "monitorId", origin, public,
  resolved_at AS "resolvedAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

// The timeline comes as JSON made by SQLite: one query costs less than half of two.
const one = `SELECT ${summary}, version, (
    SELECT json_group_array(json_object('id', id, 'status', status, 'message', message,
      'createdAt', created_at) ORDER BY seq)
    FROM incident_updates u
    WHERE u.organization_id = incidents.organization_id AND u.incident_id = incidents.id
  ) AS updates FROM incidents WHERE organization_id = ? AND id = ?`;

export async function findIncident(
  store: Store,
  organizationId: string,
  id: string,
): Promise<IncidentRecord | null> {
  const [row] = await store.query<Row>(one, [organizationId, id]);
  if (row === undefined) return null;
  const updates = JSON.parse(row.updates) as IncidentUpdate[];
  return { ...row, public: row.public === 1, updates };
}

/** One page of an organization's incidents, newest first, and how many there are in all. */
export async function pageOfIncidents(
  store: Store,
  organizationId: string,
  query: IncidentQuery,
): Promise<{ incidents: IncidentSummary[]; total: number }> {
  const { source, parameters, total } = selection(organizationId, query);
  const [rows, [count]] = await Promise.all([
    store.query<SummaryRow>(`SELECT ${summary} FROM ${source} ORDER BY id DESC LIMIT ? OFFSET ?`, [
      ...parameters,
      query.per_page,
      offsetOf(query),
    ]),
    store.query<{ total: number }>(total.text, total.parameters),
  ]);
  return {
    incidents: rows.map((row) => ({ ...row, public: row.public === 1 })),
    total: count?.total ?? 0,
  };
}

type Selection = {
  source: string;
  parameters: (string | number)[];
  total: { text: string; parameters: (string | number)[] };
};

// ids are UUIDv7 made with createdAt, so their order is "newest first, id as tie-break".
function selection(organizationId: string, query: IncidentQuery): Selection {
  const states = statesWanted(query);
  if (query.monitorId !== undefined || query.q !== undefined)
    return searched(organizationId, query, states);
  const counts = `SELECT coalesce(sum(count), 0) AS total FROM incident_counts WHERE organization_id = ?`;
  if (states === null)
    return {
      source: "incidents WHERE organization_id = ?",
      parameters: [organizationId],
      total: { text: counts, parameters: [organizationId] },
    };
  // The newest of each wanted state, merged: reads no more than the page needs, however rare or
  // common a state is. A plain IN would sort all that match.
  const needed = offsetOf(query) + query.per_page;
  const branch = `SELECT * FROM (SELECT * FROM incidents WHERE organization_id = ? AND status = ?
    AND severity = ? ORDER BY id DESC LIMIT ?)`;
  const pairs = states.flatMap(({ status, severity }) => [status, severity]);
  return {
    source: states.length === 0 ? none : `(${states.map(() => branch).join(" UNION ALL ")})`,
    parameters: states.flatMap(({ status, severity }) => [
      organizationId,
      status,
      severity,
      needed,
    ]),
    total: {
      text: `${counts} AND (status, severity) IN (VALUES ${states.map(() => "(?, ?)").join(", ") || "(NULL, NULL)"})`,
      parameters: [organizationId, ...pairs],
    },
  };
}

const none = "incidents WHERE false";

function searched(
  organizationId: string,
  { monitorId, q }: IncidentQuery,
  states: ReturnType<typeof statesWanted>,
): Selection {
  const conditions = ["organization_id = ?"];
  const parameters: string[] = [organizationId];
  if (monitorId !== undefined) {
    conditions.push("monitor_id = ?");
    parameters.push(monitorId);
  }
  if (q !== undefined) {
    conditions.push("title LIKE ? ESCAPE '\\'");
    parameters.push(containing(q));
  }
  if (states !== null) {
    const wanted = states.map(({ status, severity }) => `${status} ${severity}`);
    conditions.push("status || ' ' || severity IN (SELECT value FROM json_each(?))");
    parameters.push(JSON.stringify(wanted));
  }
  const source = `incidents WHERE ${conditions.join(" AND ")}`;
  return {
    source,
    parameters,
    total: { text: `SELECT count(*) AS total FROM ${source}`, parameters },
  };
}

const incidentRow = insertInto(incidents);
const incidentChange = updateOf(incidents, [
  "title",
  "status",
  "severity",
  "public",
  "resolvedAt",
  "version",
  "updatedAt",
]);
const updateRow = insertInto(incidentUpdates);

export function insertIncident(organizationId: string, incident: IncidentRecord): Statement {
  return incidentRow({ organizationId, ...incident });
}

export function changeIncident(organizationId: string, incident: IncidentRecord): Statement {
  return incidentChange(organizationId, incident);
}

export function insertUpdate(
  organizationId: string,
  incident: { id: string; version: number },
  update: IncidentUpdate,
): Statement {
  return updateRow({ organizationId, incidentId: incident.id, seq: incident.version, ...update });
}

export function removeIncident(store: Store, organizationId: string, id: string): Statement {
  return store.db
    .delete(incidents)
    .where(and(eq(incidents.organizationId, organizationId), eq(incidents.id, id)));
}
