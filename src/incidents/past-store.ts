/** Reads incidents as they were at a past time, with the texts of today: a correction replaces a text everywhere. */
import { formatTimestamp } from "../core/time/clock.ts";
import type { Severity } from "../core/fields.ts";
import { buildFirstId } from "../core/ids.ts";
import type { Tenant } from "../database/rows.ts";
import { findPastFields } from "../events/past-store.ts";
import { parseImpactChanges } from "./rules.ts";
import type { IncidentImpact, IncidentStatus, IncidentSummary } from "./schema.ts";
import {
  hideMonitors,
  type MonitorColumns,
  parseMonitorIds,
  summaryColumns,
  type SummaryRow,
} from "./store.ts";

/** The columns of an incident that can change. */
type IncidentColumns = MonitorColumns & {
  id: string;
  status: IncidentStatus;
  severity: Severity;
  /** Missing if only public incidents were read. */
  public?: 0 | 1;
  impacts?: string | null;
  impactChanges?: string | null;
  createdAt: string;
  updatedAt: string;
  resolvedAt: string | null;
};

const lastUpdatesSql = `select u.incident_id as id, u.status, u.created_at as at
  from json_each(?) wanted
    cross join incident_updates u on u.organization_id = ? and u.incident_id = wanted.value
  where u.seq = (select max(seq) from incident_updates earlier
    where earlier.organization_id = u.organization_id and earlier.incident_id = u.incident_id
      and earlier.created_at <= ?)`;

const changingFields = ["severity", "public", "monitorIds", "impacts"];

type PastFields = {
  severity?: Severity;
  public?: boolean;
  monitorIds?: string[];
  impacts?: IncidentImpact[];
};

/**
 * Changes the rows of incidents back to a time, and leaves out later ones. `public` is false if an incident was not
 * public then.
 */
export async function rewindIncidents<T extends IncidentColumns>(
  tenant: Tenant,
  rows: readonly T[],
  at: number,
): Promise<(Omit<T, "public"> & { public: boolean })[]> {
  const until = formatTimestamp(at);
  const existing = rows.filter(({ createdAt }) => createdAt <= until);
  const ids = existing.map(({ id }) => id);
  const lastUpdates = await tenant.store.query<{ id: string; status: IncidentStatus; at: string }>(
    lastUpdatesSql,
    [JSON.stringify(ids), tenant.organizationId, until],
  );
  const updateOf = new Map(lastUpdates.map(({ id, ...update }) => [id, update]));
  const fieldsOf = await findPastFields(tenant, ids, changingFields, at);
  return existing.map((row) => {
    const last = updateOf.get(row.id) ?? { status: row.status, at: row.createdAt };
    const { severity = row.severity, ...fields } = (fieldsOf.get(row.id) ?? {}) as PastFields;
    const isStillResolved = row.resolvedAt !== null && row.resolvedAt <= until;
    return {
      ...row,
      status: last.status,
      severity,
      public: fields.public ?? row.public !== 0,
      ...(fields.monitorIds && {
        monitorId: fields.monitorIds[0] ?? null,
        monitorIds: JSON.stringify(fields.monitorIds),
      }),
      ...(fields.impacts && { impacts: JSON.stringify(fields.impacts) }),
      ...(row.impactChanges && { impactChanges: cutImpactChanges(row.impactChanges, at) }),
      updatedAt: row.updatedAt <= until ? row.updatedAt : last.at,
      resolvedAt: last.status !== "resolved" ? null : isStillResolved ? row.resolvedAt : last.at,
    };
  });
}

function cutImpactChanges(stored: string, at: number): string | null {
  const changes = (parseImpactChanges(stored) ?? []).filter(([changedAt]) => changedAt <= at);
  return changes.length === 0 ? null : JSON.stringify(changes);
}

const candidatesSql = `select ${summaryColumns} from incidents
  where organization_id = ? and id < ?
    and (status in ('investigating', 'identified', 'monitoring') or updated_at > ?)
  order by id desc limit ?`;

/** Maximum incidents to examine. */
const maxCandidates = 1_000;

/** Lists the incidents that were open at a time, newest first, with the monitors that the caller can see. */
export async function findOpenIncidentsAt(tenant: Tenant, at: number): Promise<IncidentSummary[]> {
  const { store, organizationId } = tenant;
  const parameters = [organizationId, buildFirstId(at + 1), formatTimestamp(at), maxCandidates];
  const rows = await store.query<SummaryRow>(candidatesSql, parameters);
  const pastIncidents = await rewindIncidents(tenant, rows, at);
  const open = pastIncidents.filter(({ status }) => status !== "resolved");
  return hideMonitors(
    tenant,
    open.map((row) => ({
      ...row,
      monitorIds: parseMonitorIds(row),
      hasPostmortem: row.hasPostmortem === 1,
    })),
  );
}
