import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Machines that serve this data; empty for a single file. */
export const nodes = sqliteTable("nodes", {
  /** ID from the machine's data directory. */
  id: text("id").primaryKey(),
  /** ID of the process. A process that finds another ID here has been replaced. */
  run: text("run").notNull(),
  name: text("name").notNull(),
  version: text("version").notNull(),
  startedAt: text("started_at").notNull(),
  /** Heartbeat counter. A node counts as alive while its counter changes, regardless of clocks. */
  beats: integer("beats").notNull(),
  /** Time of the last heartbeat, in Unix milliseconds. */
  beatAt: integer("beat_at").notNull(),
  /** Offset of the node's clock from the database's clocks, in milliseconds; null if unknown. */
  clockOffsetMs: integer("clock_offset_ms"),
  /** Number of unread events at the last heartbeat; null before the node reads events. */
  eventLag: integer("event_lag"),
  /** JSON list of the addresses on which the node accepts requests. */
  listeners: text("listeners").notNull().default("[]"),
});

/** Owners of singleton jobs. A lease is valid while its owner is alive. */
export const leases = sqliteTable("leases", {
  name: text("name").primaryKey(),
  /** ID of the owning node; null for no owner. */
  owner: text("owner"),
  /** Counter that increases with each new owner. Writes from earlier epochs are rejected. */
  epoch: integer("epoch").notNull(),
});

/** Unfinished requests that are forwarded to the owner of a lease, or to a certain node. */
export const forwardedRequests = sqliteTable("forwarded_requests", {
  id: text("id").primaryKey(),
  /** Name of the lease or of the node. */
  lease: text("lease").notNull(),
  /** JSON of the request. */
  request: text("request").notNull(),
  /** JSON of the response; null until it is available. */
  answer: text("answer"),
  /** Creation time in Unix milliseconds. */
  createdAt: integer("created_at").notNull(),
});
