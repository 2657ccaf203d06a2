import { z } from "zod";
import { Timestamp } from "../core/fields.ts";
import { namedLeases } from "./rules.ts";

/** A machine of the database. */
const DatabaseEntry = z.object({
  address: z.string(),
  leader: z.boolean(),
  reachable: z.boolean(),
});

/** A machine that serves. */
const NodeEntry = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  startedAt: Timestamp,
  lastSeenAt: Timestamp,
  alive: z.boolean(),
  /** How many of the shards of the monitors it checks. */
  shards: z.int(),
  /** Singleton jobs of the node. */
  tasks: z.array(z.enum(namedLeases)),
  /** Events that it has not handled yet; null where it has not said so. */
  eventLag: z.int().nullable(),
  /** How far its clock is ahead of the database's; null where that isn't known. */
  clockOffsetMs: z.int().nullable(),
});

/** The nodes of the appliance; none for a data directory. */
export const ClusterStatus = z.object({
  databases: z.array(DatabaseEntry),
  nodes: z.array(NodeEntry),
  /** Shards without an owner, whose monitors are not checked. */
  freeShards: z.int(),
});
export type ClusterStatus = z.infer<typeof ClusterStatus>;
