import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  listAliveNodes,
  assignLeases,
  buildNodeName,
  planLeaseChanges,
  computeLeaseEnd,
  type LeaseRow,
  leaseNames,
  computeNextDeath,
  updateSeen,
  shardOf,
  ttlMs,
} from "../../src/cluster/rules.ts";

const nodeIds = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 9 });
const isShard = (name: string) => name.startsWith("shard ");

test("every node computes the same equal distribution of shards", () => {
  fc.assert(
    fc.property(nodeIds, (ids) => {
      const assignment = assignLeases(ids);
      expect([...assignment.keys()].toSorted()).toEqual(leaseNames.toSorted());
      expect(assignLeases(ids.toReversed())).toEqual(assignment);
      const shards = [...assignment].filter(([name]) => isShard(name));
      const counts = ids.map((id) => shards.filter(([, owner]) => owner === id).length);
      expect(Math.max(...counts)).toBe(Math.ceil(64 / ids.length));
    }),
    { numRuns: 50 },
  );
});

test("a node that joins or leaves moves little more than its own share", () => {
  fc.assert(
    fc.property(nodeIds, fc.uuid(), (ids, newcomer) => {
      fc.pre(!ids.includes(newcomer));
      const [before, after] = [assignLeases(ids), assignLeases([...ids, newcomer])];
      const moved = leaseNames.filter((name) => before.get(name) !== after.get(name)).length;
      const movedCount = [...after.values()].filter((id) => id === newcomer).length;
      expect(moved).toBeLessThanOrEqual(movedCount + 24);
    }),
    { numRuns: 50 },
  );
});

test("records are spread over all shards", () => {
  const ids = Array.from({ length: 6_400 }, () => Bun.randomUUIDv7());
  const counts = Map.groupBy(ids, shardOf)
    .values()
    .map(({ length }) => length)
    .toArray();
  expect(counts.length).toBe(64);
  expect(Math.min(...counts)).toBeGreaterThan(50);
  expect(Math.max(...counts)).toBeLessThan(160);
});

test("a node is alive while its heartbeat changes, and dead one lease time after the last change", () => {
  const buildBeats = (beats: number, run = "1") => [{ id: "a", run, beats }];
  let seen = updateSeen(new Map(), buildBeats(5), 1_000);
  seen = updateSeen(seen, buildBeats(5), 3_000);
  expect(computeNextDeath(seen, "b", 3_000)).toBe(1_000 + ttlMs);
  expect(listAliveNodes(seen, 1_000 + ttlMs - 1)).toEqual(["a"]);
  expect(listAliveNodes(seen, 1_000 + ttlMs)).toEqual([]);
  expect(listAliveNodes(updateSeen(seen, buildBeats(6), 20_000), 20_001)).toEqual(["a"]);
  // Another process of the same node.
  expect(listAliveNodes(updateSeen(seen, buildBeats(5, "2"), 20_000), 20_001)).toEqual(["a"]);
});

test("a node stops before another node that saw its last heartbeat takes its leases", () => {
  const sentAt = 5_000;
  // No heartbeat is seen before it was sent.
  const seen = updateSeen(new Map(), [{ id: "a", run: "1", beats: 1 }], sentAt);
  expect(listAliveNodes(seen, computeLeaseEnd(sentAt))).toEqual(["a"]);
});

test("free leases go to their assigned node, and held ones move to joined nodes", () => {
  const buildLeases = (owner: string | null): LeaseRow[] =>
    leaseNames.map((name) => ({ name, owner, epoch: 1 }));
  expect(planLeaseChanges("a", buildLeases(null), ["a"])).toEqual({
    take: buildLeases(null),
    release: [],
  });
  expect(planLeaseChanges("a", buildLeases("dead"), ["a"]).take).toEqual(buildLeases("dead"));
  expect(planLeaseChanges("a", buildLeases("a"), ["a"])).toEqual({ take: [], release: [] });
  const { take, release } = planLeaseChanges("a", buildLeases("a"), ["a", "b"]);
  expect(take).toEqual([]);
  expect(planLeaseChanges("b", buildLeases("a"), ["a", "b"])).toEqual({ take: [], release: [] });
  expect(release.filter(({ name }) => isShard(name)).length).toBe(32);
});

test("nodes of one machine that listen on different addresses have different names", () => {
  expect(buildNodeName("127.0.0.2", 3210, "box")).toBe("127.0.0.2:3210");
  for (const all of ["0.0.0.0", "::"]) expect(buildNodeName(all, 3210, "box")).toBe("box:3210");
});
