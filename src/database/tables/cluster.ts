import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Machines that serve this data; empty for a single file. */
export const nodes = sqliteTable("nodes", {
  /** ID in the machine's data directory. */
  id: text("id").primaryKey(),
  /** ID of the process. A process that finds another ID here was replaced. */
  run: text("run").notNull(),
  name: text("name").notNull(),
  version: text("version").notNull(),
  startedAt: text("started_at").notNull(),
  /** Heartbeat counter. A node counts as alive while it changes, independent of clocks. */
  beats: integer("beats").notNull(),
  /** Time of the last heartbeat, in Unix milliseconds. */
  beatAt: integer("beat_at").notNull(),
  /** Offset of its clock from the database's, in milliseconds; null if unknown. */
  clockOffsetMs: integer("clock_offset_ms"),
  /** Unhandled events at the last heartbeat; null before it reads events. */
  eventLag: integer("event_lag"),
  /** JSON list of addresses that accept requests. */
  listeners: text("listeners").notNull().default("[]"),
});

/** Owners of singleton jobs. A lease is valid while its owner is alive. */
export const leases = sqliteTable("leases", {
  name: text("name").primaryKey(),
  /** ID of a node; null without an owner. */
  owner: text("owner"),
  /** Increases with each owner. Writes of earlier epochs are rejected. */
  epoch: integer("epoch").notNull(),
});

/** Unfinished requests to the owner of a lease or to a certain node. */
export const forwardedRequests = sqliteTable("forwarded_requests", {
  id: text("id").primaryKey(),
  /** Name of the lease or of the node. */
  lease: text("lease").notNull(),
  /** JSON. */
  request: text("request").notNull(),
  /** JSON of the node's response; null while it is pending. */
  answer: text("answer"),
  /** Unix milliseconds. */
  createdAt: integer("created_at").notNull(),
});
