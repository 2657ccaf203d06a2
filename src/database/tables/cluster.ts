import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The machines that serve this data; none where it is in a file. */
export const nodes = sqliteTable("nodes", {
  /** Of its data directory. */
  id: text("id").primaryKey(),
  /** Of the process: one that finds another's here has been replaced by it. */
  run: text("run").notNull(),
  name: text("name").notNull(),
  version: text("version").notNull(),
  startedAt: text("started_at").notNull(),
  /** Counts its heartbeats: a node is alive for others while this changes, whatever their clocks say. */
  beats: integer("beats").notNull(),
  /** Of the last heartbeat, in Unix milliseconds. */
  beatAt: integer("beat_at").notNull(),
  /** How far its clock is ahead of the database's, in milliseconds; null where that isn't known. */
  clockOffsetMs: integer("clock_offset_ms"),
  /** Events that it had not handled yet at its last heartbeat; null before it reads them. */
  eventLag: integer("event_lag"),
  /** JSON list of where it answers requests. */
  listeners: text("listeners").notNull().default("[]"),
});

/** Who does what one node does for all. A lease lasts for as long as its owner is alive. */
export const leases = sqliteTable("leases", {
  name: text("name").primaryKey(),
  /** Id of a node; null for nobody. */
  owner: text("owner"),
  /** Goes up with each owner: what one of an older epoch writes is refused. */
  epoch: integer("epoch").notNull(),
});

/** What the owner of a lease, or a certain node, is to do for another one, until that is done. */
export const forwardedRequests = sqliteTable("forwarded_requests", {
  id: text("id").primaryKey(),
  /** Name of the lease or of the node. */
  lease: text("lease").notNull(),
  /** JSON. */
  request: text("request").notNull(),
  /** JSON of what a node that was asked makes of it; null until then. */
  answer: text("answer"),
  /** Unix milliseconds. */
  createdAt: integer("created_at").notNull(),
});
