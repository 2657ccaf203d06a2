import { beforeEach, describe, expect, test } from "bun:test";
import {
  type Lease,
  LeaseLost,
  guardLeases,
  soleNode,
  guardStoreWithLease,
} from "../../src/cluster/leases.ts";
import { computeLeaseEnd, leaseNames, ttlMs } from "../../src/cluster/rules.ts";
import type { Statement, Store } from "../../src/database/store.ts";
import { createMigratedStore } from "../support/engines.ts";
import { createNodeFactory, type TestNode } from "../support/nodes.ts";
import { waitUntil } from "../support/poll.ts";

const buildValue = (name: string, is: number): Statement => ({
  text: "insert or replace into housekeeping (name, value) values (?, ?)",
  parameters: [name, is],
});
const readValues = (store: Store) => store.query("select value from housekeeping", []);
const requireLease = (lease: Lease | null): Lease => {
  if (lease === null) throw new Error("It has none.");
  return lease;
};

describe("nodes on one database", () => {
  let store: Store;
  let time: { now: number };
  let newNode: ReturnType<typeof createNodeFactory>;

  beforeEach(async () => {
    ({ store } = await createMigratedStore());
    time = { now: Date.parse("2026-11-20T10:00:00.000Z") };
    newNode = createNodeFactory(store, time);
  });

  /** Sends `times` heartbeats of each of these nodes, one after the other. */
  async function beat(nodes: readonly TestNode[], times = 1) {
    for (let i = 0; i < times; i++) {
      time.now += 2_000;
      for (const node of nodes) await node.runOnce();
    }
  }

  async function createPair() {
    const [one, other] = [newNode("a"), newNode("b")];
    await beat([one, other], 8);
    return [one, other] as const;
  }

  test("the first has every lease at its second heartbeat; all have an equal share after each join", async () => {
    const nodes = [newNode("a")];
    await beat(nodes, 2);
    expect(nodes[0]?.held().toSorted()).toEqual(leaseNames.toSorted());
    for (const id of ["b", "c"]) {
      nodes.push(newNode(id));
      // Less than the lifetime of a lease.
      await beat(nodes, ttlMs / 2_000);
      expect(nodes.flatMap((node) => node.held()).toSorted()).toEqual(leaseNames.toSorted());
      const maxShards = Math.ceil(64 / nodes.length);
      for (const node of nodes) expect(node.shards().length).toBeLessThanOrEqual(maxShards);
    }
  });

  test("no lease is ever held by two nodes, after any pause", async () => {
    const nodes = ["a", "b", "c"].map((id) => newNode(id));
    let seed = 4711;
    const nextRandom = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let step = 0; step < 120; step++) {
      time.now += nextRandom(4) === 0 ? 7_000 : 1_500;
      const node = nodes[nextRandom(nodes.length)];
      await node?.runOnce();
      const held = nodes.flatMap((each) => each.held());
      expect(held.length).toBe(new Set(held).size);
    }
    await beat(nodes, 10);
    expect(nodes.flatMap((node) => node.held()).length).toBe(leaseNames.length);
  });

  test("a dead node's leases are taken over within 15 s, and it stopped before", async () => {
    const [one, other] = await createPair();
    const diedAt = time.now;
    while (other.held().length < leaseNames.length) {
      time.now += 1_000;
      await other.runOnce();
      if (other.shards().length > 32) expect(one.held()).toEqual([]);
    }
    expect(time.now - diedAt).toBeLessThanOrEqual(15_000);
    expect(computeLeaseEnd(diedAt)).toBeLessThan(time.now);
  });

  test("a write under a lost lease is rejected and changes nothing", async () => {
    const [one, other] = await createPair();
    const stale = leasesOf(one);
    time.now += 20_000;
    await beat([other], 8);
    expect(other.held().length).toBe(leaseNames.length);
    for (const lease of stale) {
      const refused = store
        .atomic([buildValue("x", 1), ...guardLeases([lease])])
        .catch((e: unknown) => e);
      expect(await refused).toBeInstanceOf(LeaseLost);
      const through = guardStoreWithLease(store, lease).atomic([buildValue("x", 2)]);
      expect(await through.catch((error: unknown) => error)).toBeInstanceOf(LeaseLost);
    }
    expect(await readValues(store)).toEqual([]);
    expect(await one.findStillOwned(stale)).toEqual(new Set());
    const newLeases = leasesOf(other);
    await store.atomic([...guardLeases(newLeases), buildValue("x", 3)]);
    expect(await readValues(store)).toEqual([{ value: 3 }]);
    expect(await other.findStillOwned(newLeases)).toEqual(new Set(newLeases));
    // After its return it works again, in new epochs.
    await beat([one, other], 8);
    expect(one.shards().length).toBe(32);
    for (const lease of leasesOf(one))
      expect(stale.filter(({ name }) => name === lease.name).map(({ epoch }) => epoch)).not.toEqual(
        [lease.epoch],
      );
  });

  const leasesOf = (node: TestNode) =>
    (["alerting", "subscribers", "maintenance", "retention", "backups", "problems"] as const)
      .map((name) => node.findNamed(name))
      .filter((lease) => lease !== null);

  test("a node whose heartbeat is not written stops before its lease expires, and continues afterwards", async () => {
    let isDown = false;
    const down = {
      ...store,
      atomic: async (statements: readonly Statement[]) => {
        if (isDown) throw new Error("no leader");
        await store.atomic(statements);
      },
    };
    const node = newNode("a", down);
    await beat([node], 3);
    isDown = true;
    const writtenAt = time.now;
    time.now += 4_000;
    await node.runOnce().catch(() => {});
    expect(node.held().length).toBe(leaseNames.length);
    time.now = computeLeaseEnd(writtenAt);
    expect(node.held()).toEqual([]);
    isDown = false;
    await node.runOnce();
    expect(node.held().length).toBe(leaseNames.length);
  });

  test("a lease is released only after its work has finished", async () => {
    const one = newNode("a");
    await beat([one], 3);
    const { promise, resolve } = Promise.withResolvers<void>();
    one.onChange(() => promise);
    const other = newNode("b");
    await other.runOnce();
    time.now += 1_000;
    const given = one.runOnce();
    // No new work starts under it, and no other node has it yet.
    await waitUntil(() => one.shards().length <= 32);
    await other.runOnce();
    expect(other.held()).toEqual([]);
    resolve();
    await given;
    await beat([one, other], 3);
    expect(other.shards().length).toBe(32);
  });

  test("a stopping node releases its leases at once", async () => {
    const [one, other] = await createPair();
    await one.stop();
    expect(one.held()).toEqual([]);
    await beat([other], 2);
    expect(other.held().length).toBe(leaseNames.length);
    expect(await store.query("select id from nodes", [])).toEqual([{ id: "b" }]);
  });

  test("a restarted node takes over its leases without waiting; the old process does nothing", async () => {
    const [before] = await createPair();
    const stale = leasesOf(before);
    const again = newNode("a");
    await beat([again], 2);
    expect(again.shards().length).toBe(32);
    for (const lease of stale)
      expect(await store.atomic(guardLeases([lease])).catch((e: unknown) => e)).toBeInstanceOf(
        LeaseLost,
      );
    await before.runOnce();
    expect(before.held()).toEqual([]);
    await beat([again], 1);
    expect(again.shards().length).toBe(32);
  });
});

test("a single node has every lease, and its writes carry no guards", async () => {
  const { store } = await createMigratedStore();
  const lease = requireLease(soleNode.findNamed("retention"));
  expect(soleNode.findByRecord("anything")).toBe(lease);
  expect(guardLeases([lease])).toEqual([]);
  expect(guardStoreWithLease(store, lease)).toBe(store);
  expect(await soleNode.findStillOwned([lease])).toEqual(new Set([lease]));
});
