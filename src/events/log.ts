import { insertInto, type Statement, type Store } from "../database/store.ts";
import { events } from "../database/tables/events.ts";
import type { Event, LoggedEvent } from "./catalogue.ts";

const insertEvent = insertInto(events);

/** The statement that appends an event; it belongs into the write that makes the event true. */
export function appendEvent({ data, ...event }: Event): Statement {
  return insertEvent({ ...event, data: data === undefined ? null : JSON.stringify(data) });
}

/** The events after this one, oldest first. */
export async function readSince(store: Store, seq: number, limit: number): Promise<LoggedEvent[]> {
  type Row = Omit<LoggedEvent, "data"> & { data: string | null };
  const rows = await store.query<Row>(
    `select seq, organization_id as organizationId, at, type, subject_id as subjectId, data
     from events where seq > ? order by seq limit ?`,
    [seq, limit],
  );
  return rows.map(
    ({ data, ...event }) =>
      ({ ...event, ...(data !== null && { data: JSON.parse(data) as object }) }) as LoggedEvent,
  );
}

/** The newest event's `seq`; 0 where there is none. */
export async function lastSeq(store: Store): Promise<number> {
  const [row] = await store.query<{ seq: number | null }>("select max(seq) as seq from events", []);
  return row?.seq ?? 0;
}

/** The same of one organization's events. */
export async function lastSeqOf(store: Store, organizationId: string): Promise<number> {
  const [row] = await store.query<{ seq: number | null }>(
    "select max(seq) as seq from events where organization_id = ?",
    [organizationId],
  );
  return row?.seq ?? 0;
}
