/** Decides which nodes are alive and which leases each node must have. */
import { sha256 } from "../core/ids.ts";

/** A node is dead for others when its heartbeat has not changed for this time … */
export const ttlMs = 10_000;
/** … and stops its work this much earlier. */
const marginMs = 1_000;

/** Singleton jobs. */
export const namedLeases = [
  "alerting",
  "subscribers",
  "maintenance",
  "retention",
  "backups",
  "problems",
] as const;
export type NamedLease = (typeof namedLeases)[number];

const shardCount = 64;
const shards = Array.from({ length: shardCount }, (_, index) => `shard ${index}`);
export const leaseNames: readonly string[] = [...namedLeases, ...shards];

/** Shard of the record with this ID. */
export const shardOf = (id: string): string => shards[Bun.hash.crc32(id) % shardCount] ?? `shard 0`;

/** Orders the nodes by a hash with the name: differently per name, equally on every node. */
export const ranked = (name: string, nodeIds: readonly string[]): string[] =>
  nodeIds
    .map((id) => ({ id, rank: sha256(`${name} ${id}`) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ id }) => id);

/**
 * Assigns each lease to a node: the highest-ranked one by rendezvous hashing that does not have its equal share
 * yet. All nodes that know the same nodes agree.
 */
export function assignment(nodeIds: readonly string[]): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const names of [namedLeases, shards]) {
    const most = Math.ceil(names.length / nodeIds.length);
    const counts = new Map<string, number>();
    for (const name of names) {
      const isFree = (id: string) => (counts.get(id) ?? 0) < most;
      const [first] = ranked(name, nodeIds.filter(isFree));
      if (first === undefined) continue;
      wanted.set(name, first);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
  }
  return wanted;
}

/** A node by its last heartbeat. */
export type Beat = { id: string; run: string; beats: number };

/** Heartbeats, and the time of their last change by the monotonic clock of the observer. */
export type Seen = ReadonlyMap<string, Beat & { since: number }>;

export function seenNow(before: Seen, beats: readonly Beat[], now: number): Seen {
  return new Map(
    beats.map((beat) => {
      const known = before.get(beat.id);
      const isSame = known?.beats === beat.beats && known.run === beat.run;
      return [beat.id, isSame ? known : { ...beat, since: now }];
    }),
  );
}

/** Nodes whose heartbeat changed within the lifetime of a lease; their own clocks do not matter. */
export function aliveAt(seen: Seen, now: number): string[] {
  return [...seen.values()].filter(({ since }) => now - since < ttlMs).map(({ id }) => id);
}

/** Earliest time at which a living node can be found dead; Infinity without other nodes. */
export function nextDeathAt(seen: Seen, me: string, now: number): number {
  const ends = [...seen.values()]
    .filter(({ id, since }) => id !== me && now - since < ttlMs)
    .map(({ since }) => since + ttlMs);
  return Math.min(...ends);
}

/** Time until which a node can work after a heartbeat sent at this moment: no other node takes its leases earlier. */
export const heldUntil = (sentAt: number) => sentAt + ttlMs - marginMs;

export type LeaseRow = { name: string; owner: string | null; epoch: number };

/** Free leases that a node must take, and own leases that belong to others. */
export function changesFor(
  me: string,
  leases: readonly LeaseRow[],
  alive: readonly string[],
): { take: LeaseRow[]; release: LeaseRow[] } {
  const wanted = assignment(alive);
  const isFree = ({ owner }: LeaseRow) => owner === null || !alive.includes(owner);
  return {
    take: leases.filter((lease) => wanted.get(lease.name) === me && isFree(lease)),
    release: leases.filter((lease) => lease.owner === me && wanted.get(lease.name) !== me),
  };
}
