import { ClusterNode } from "../../src/cluster/service.ts";
import { type Lease } from "../../src/cluster/leases.ts";
import { leaseNames, namedLeases, shardOf } from "../../src/cluster/rules.ts";
import type { Store } from "../../src/database/store.ts";
const doNothing = () => {};
const log = { info: doNothing, warn: doNothing, error: doNothing };

export type TestNode = ClusterNode & {
  /** Names of its current leases. */
  held(): string[];
  shards(): string[];
};

/** Address of a node. */
export const getNodeAddress = (id: string) => `10.1.1.${id.codePointAt(0)}`;

/** Nodes on one database, with one monotonic clock that the test sets. */
export function createNodeFactory(store: Store, time: { now: number }) {
  return (id: string, on: Store = store): TestNode => {
    const clock = () => time.now;
    const node = new ClusterNode({
      store: on,
      clock,
      monotonic: clock,
      log,
      node: { id, name: () => `${id}.lan:3210` },
      listeners: () => [{ host: "0.0.0.0", port: 3210, addresses: [getNodeAddress(id)] }],
    });
    const listHeld = () => leaseNames.filter((name) => findLease(node, name) !== null);
    const listShards = () => listHeld().filter((name) => name.startsWith("shard "));
    return Object.assign(node, { held: listHeld, shards: listShards });
  };
}

/** One id per shard. */
const idOf = new Map(
  Array.from({ length: 2_000 }, (_, index) => [shardOf(`${index}`), `${index}`]),
);

function findLease(node: ClusterNode, name: string): Lease | null {
  const named = namedLeases.find((one) => one === name);
  return named === undefined ? node.findByRecord(idOf.get(name) ?? "") : node.findNamed(named);
}
