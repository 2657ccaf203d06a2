import { formatTimestamp } from "../core/time/clock.ts";
import { limitIncidents } from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import { stateTypeList } from "../events/catalog.ts";
import type { Timeline } from "./timeline-schema.ts";
import type { StateStart } from "./incident-rules.ts";

/** Maximum number of states that are read. */
const maxStates = 2_000;

const stateSql = `select type, at, data ->> 'message' as message from events
  where organization_id = ? and subject_id = ? and type in (${stateTypeList}) and at < ?`;

/** Reads the starts of a monitor's states in a period, oldest first, including the state at the start of the period. */
export async function findStateEventsBetween(
  { store, organizationId }: Tenant,
  monitorId: string,
  from: number,
  to: number,
): Promise<StateStart[]> {
  const queryEvents = (condition: string, ...rest: (string | number)[]) =>
    store.query<StateStart>(`${stateSql} ${condition} order by seq desc limit ?`, [
      organizationId,
      monitorId,
      ...rest,
    ]);
  const [within, before] = await Promise.all([
    queryEvents("and at >= ?", formatTimestamp(to), formatTimestamp(from), maxStates),
    queryEvents("", formatTimestamp(from), 1),
  ]);
  return [...within, ...before].toReversed();
}

const incidentSql = `select i.id, i.title, i.origin, i.severity, i.created_at as createdAt,
    i.resolved_at as resolvedAt
  from incident_monitors linked cross join incidents i
    on i.organization_id = linked.organization_id and i.id = linked.incident_id
  where linked.organization_id = ? and linked.monitor_id = ? and i.created_at < ?
    and (i.resolved_at is null or i.resolved_at > ?)`;

export function findIncidentsBetween(
  tenant: Tenant,
  monitorId: string,
  from: number,
  to: number,
): Promise<Timeline["incidents"]> {
  const limit = limitIncidents(tenant);
  const text = `${incidentSql}${limit.text} order by linked.incident_id desc limit 50`;
  return tenant.store.query(text, [
    tenant.organizationId,
    monitorId,
    formatTimestamp(to),
    formatTimestamp(from),
    ...limit.parameters,
  ]);
}
