/** Appends events to the log and reads them. */
import { findHousekeepingValue } from "../database/backup/sweeping.ts";
import { createInsert, type Statement, type Store } from "../database/store.ts";
import { events } from "../database/tables/events.ts";
import type { Event, LoggedEvent } from "./catalog.ts";

const insertEvent = createInsert(events);

/** Creates the statement that appends an event. It belongs to the write of the change. */
export function appendEvent({ data, ...event }: Event): Statement {
  return insertEvent({ ...event, data: data === undefined ? null : JSON.stringify(data) });
}

type EventRow = Omit<LoggedEvent, "data"> & { data: string | null };

const selectEventsSql = `select seq, organization_id as organizationId, at, type,
  subject_id as subjectId, data from events`;

function parseRow({ data, ...event }: EventRow): LoggedEvent {
  return { ...event, ...(data !== null && { data: parseData(data) }) } as LoggedEvent;
}

/** Damaged data must not prevent reading the log. Only followers that need the data fail, with this event alone. */
function parseData(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

/** Reads the events after a position, oldest first. */
export async function readSince(store: Store, seq: number, limit: number): Promise<LoggedEvent[]> {
  const text = `${selectEventsSql} where seq > ? order by seq limit ?`;
  return (await store.query<EventRow>(text, [seq, limit])).map(parseRow);
}

/** Reads an organization's events in a range of the log, oldest first. */
export async function readSinceOfOrganization(
  store: Store,
  organizationId: string,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<LoggedEvent[]> {
  const text = `${selectEventsSql}
    where organization_id = ? and seq > ? and seq <= ? order by seq limit ?`;
  return (await store.query<EventRow>(text, [organizationId, after, upTo, limit])).map(parseRow);
}

/** Returns the position of the newest event; 0 for an empty log. */
export async function findLastSeq(store: Store): Promise<number> {
  const [row] = await store.query<{ seq: number | null }>("select max(seq) as seq from events", []);
  return row?.seq ?? 0;
}

/** Returns the position of the last event up to a time. Reads a few rows, because positions and times grow together. */
export async function findSeqAt(store: Store, at: string): Promise<number> {
  const text = "select seq, at from events where seq >= ? order by seq limit 1";
  let [before, after] = [0, (await findLastSeq(store)) + 1];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const [row] = await store.query<{ seq: number; at: string }>(text, [middle]);
    if (row !== undefined && row.seq < after && row.at <= at) before = row.seq;
    else after = middle;
  }
  return before;
}

/** Returns the time of the oldest event; null for an empty log. */
export async function findLogStart(store: Store): Promise<string | null> {
  const [row] = await store.query<{ at: string }>("select at from events order by seq limit 1", []);
  return row?.at ?? null;
}

/** Whether the log still contains all events since a time. */
export async function isLogCompleteSince(store: Store, at: string): Promise<boolean> {
  const start = await findLogStart(store);
  return start !== null && start <= at;
}

/** Returns the position of an organization's newest event, or a later one up to which events were removed. */
export async function findLastSeqOfOrganization(
  store: Store,
  organizationId: string,
): Promise<number> {
  const [row] = await store.query<{ seq: number | null }>(
    "select max(seq) as seq from events where organization_id = ?",
    [organizationId],
  );
  return Math.max(row?.seq ?? 0, await findRemovedSeq(store));
}

/** Returns the position up to which events were removed; 0 for none. */
export async function findRemovedSeq(store: Store): Promise<number> {
  return (await findHousekeepingValue(store, "events")) ?? 0;
}
