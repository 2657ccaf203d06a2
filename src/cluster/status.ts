import { type Clock, formatTimestamp } from "../core/time/clock.ts";
import type { DatabaseNode } from "../database/file/data-directory.ts";
import type { Store } from "../database/store.ts";
import { namedLeases, ttlMs } from "./rules.ts";
import type { ClusterStatus } from "./schema.ts";
import { findLeases, findNodes } from "./store.ts";

type Dependencies = {
  store: Store;
  clock: Clock;
  /** Returns the nodes of the database. Throws UNAVAILABLE. */
  databaseNodes: () => Promise<DatabaseNode[]>;
};

/** Reads the status of all nodes, from their last heartbeats. Throws UNAVAILABLE. */
export const readClusterStatus = async (dependencies: Dependencies): Promise<ClusterStatus> => ({
  databases: await readDatabases(dependencies),
  ...(await readNodes(dependencies)),
});

export async function readDatabases({
  databaseNodes,
}: Pick<Dependencies, "databaseNodes">): Promise<ClusterStatus["databases"]> {
  return (await databaseNodes()).map(({ host, isLeader, isReachable }) => ({
    address: host,
    leader: isLeader,
    reachable: isReachable,
  }));
}

export async function readNodes({
  store,
  clock,
}: Omit<Dependencies, "databaseNodes">): Promise<Omit<ClusterStatus, "databases">> {
  const leases = await findLeases(store);
  const shards = leases.filter(({ name }) => name.startsWith("shard "));
  const nodes = await findNodes(store);
  return {
    nodes: nodes.map(({ beatAt, ...node }) => ({
      ...node,
      lastSeenAt: formatTimestamp(beatAt),
      alive: clock() - beatAt < ttlMs,
      shards: shards.filter(({ owner }) => owner === node.id).length,
      tasks: namedLeases.filter((task) =>
        leases.some(({ name, owner }) => name === task && owner === node.id),
      ),
    })),
    freeShards: shards.filter(({ owner }) => owner === null).length,
  };
}
