import { insertInto, type Statement } from "../database/store.ts";
import { events } from "../database/tables.ts";

export type Event = {
  organizationId: string;
  at: string;
  /** `incident.opened`, `group.updated`, …: a noun of the product and a verb in the past. */
  type: string;
  subjectId: string;
  data?: Record<string, unknown>;
};

const insertEvent = insertInto(events);

/** The statement that appends an event; it belongs into the write that makes the event true. */
export function appendEvent({ data, ...event }: Event): Statement {
  return insertEvent({ ...event, data: data === undefined ? null : JSON.stringify(data) });
}
