import type { EventNoun } from "../../src/events/catalog.ts";

// Query keys start with the noun of an event, so that an event invalidates the queries it affects.

/** Key of a record. Longer keys with this prefix are for data that belongs to the record. */
export const recordKey = (noun: EventNoun, id: string) => [noun, id] as const;

/** Key of the list of all records of a noun. Longer keys with this prefix are for partial lists. */
export const listKey = (noun: EventNoun) => [noun, "list"] as const;

/** Key of data about a record that an edit leaves unchanged, such as the checks of a monitor. */
export const uneditedKey = (id: string) => ["unedited", id] as const;

/** Key of the person's ways to sign in and sessions. An edit of their profile leaves them unchanged. */
export const accountKey = ["account"] as const;

/** Key of the managed records of a noun. */
export const buildManagedKey = (noun: EventNoun) => ["managed", noun] as const;

/** Key of the notified channels of incidents. */
export const tracesKey = [...listKey("incident"), "traces"] as const;

/** Key of the notified channels of monitors that are down or degraded. */
export const attentionKey = [...tracesKey, "attention"] as const;
