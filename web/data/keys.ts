import type { EventNoun } from "../../src/events/catalogue.ts";

// Queries are named as events are, which makes those fresh that hold what an event is about.

/** Of a record, and – with more words after it – of what belongs to it. */
export const recordKey = (noun: EventNoun, id: string) => [noun, id] as const;

/** Of the list of such records, and – with more words after it – of lists that hold some of them. */
export const listKey = (noun: EventNoun) => [noun, "list"] as const;

/** Of who was notified of incidents. */
export const tracesKey = [...listKey("incident"), "traces"] as const;

/** Of who was notified of monitors that are down or degraded. */
export const attentionKey = [...tracesKey, "attention"] as const;
