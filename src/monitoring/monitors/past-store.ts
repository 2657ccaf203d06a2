import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import type { Tenant } from "../../database/rows.ts";
import { stateTypeList, type StateType } from "../../events/catalog.ts";
import type { StoredStatus } from "../../core/statuses.ts";

/** Data from which a monitor's state at a position of the event log is derived. */
export type Trace = {
  id: string;
  createdAt: string;
  /** The last state that started up to the position; null if the log has none. */
  type: StateType | null;
  at: string | null;
  message: string | null;
  /** The state that ended next, and its start; null if none has ended, or a pause did. */
  before: StoredStatus | null;
  since: string | null;
  hasEnded: number;
  status: StoredStatus;
  statusSince: string;
};

const idsPerQuery = 500;

const statesSql = `select seq from events where organization_id = m.organization_id
  and subject_id = m.id and type in (${stateTypeList})`;
const traceSql = `select traced.*, began.type, began.at, began.data ->> 'message' as message,
    ended.data ->> 'before' as before, ended.data ->> 'since' as since, ended.seq is not null as hasEnded
  from (
    select wanted.key, m.id, m.created_at as createdAt, 
      case when s.paused then 'paused' else s.status end as status, s.since as statusSince,
      (${statesSql} and seq <= ? order by seq desc limit 1) as beganSeq,
      (${statesSql} and seq > ? order by seq limit 1) as endedSeq
    from json_each(?) wanted
      cross join monitors m on m.organization_id = ? and m.id = wanted.value
      join monitor_states s on s.organization_id = m.organization_id and s.monitor_id = m.id) traced
    left join events began on began.seq = traced.beganSeq
    left join events ended on ended.seq = traced.endedSeq
  order by traced.key`;

/** Reads the traces of these monitors at a position of the log, without deleted monitors. */
export async function findTraces(
  { store, organizationId }: Tenant,
  ids: readonly string[],
  seq: number,
): Promise<Trace[]> {
  const traces: Trace[] = [];
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    if (from > 0) await yieldToEventLoop();
    const portion = JSON.stringify(ids.slice(from, from + idsPerQuery));
    traces.push(...(await store.query<Trace>(traceSql, [seq, seq, portion, organizationId])));
  }
  return traces;
}
