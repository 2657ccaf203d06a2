import { z } from "zod";
import { Timestamp } from "../core/fields.ts";
import { namedLeases } from "./rules.ts";

/** A node of the database. */
const DatabaseEntry = z.object({
  address: z.string(),
  leader: z.boolean(),
  reachable: z.boolean(),
});

/** A node that serves the data. */
const NodeEntry = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  startedAt: Timestamp,
  lastSeenAt: Timestamp,
  alive: z.boolean(),
  /** Number of monitor shards that the node checks. */
  shards: z.int(),
  /** Singleton jobs of the node. */
  tasks: z.array(z.enum(namedLeases)),
  /** Number of events that the node has not handled yet; null before its first report. */
  eventLag: z.int().nullable(),
  /** Milliseconds by which the node's clock is ahead of the database's clocks; null if unknown. */
  clockOffsetMs: z.int().nullable(),
});

/** Nodes of the appliance; empty for a data directory. */
export const ClusterStatus = z.object({
  databases: z.array(DatabaseEntry),
  nodes: z.array(NodeEntry),
  /** Shards without an owner, whose monitors are not checked. */
  freeShards: z.int(),
});
export type ClusterStatus = z.infer<typeof ClusterStatus>;
