/** Decides which nodes are alive, and which leases each node must own. */
import { sha256 } from "../core/ids.ts";

/** Time without a new heartbeat after which a node counts as dead, in milliseconds. */
export const ttlMs = 10_000;
/** A node stops its work this many milliseconds before the others count it as dead. */
const marginMs = 1_000;

/** Names of singleton jobs. */
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

/** Returns the shard of a record. */
export const shardOf = (id: string): string => shards[Bun.hash.crc32(id) % shardCount] ?? `shard 0`;

/** Name of a node: the host name and port, or the address and port if `--host` is a single address. */
export const buildNodeName = (host: string, port: number, hostName: string) =>
  `${host === "0.0.0.0" || host === "::" ? hostName : host}:${port}`;

/** Sorts nodes by a hash of the name and their ID. The order differs per name, but is the same on each node. */
export const rankNodes = (name: string, nodeIds: readonly string[]): string[] =>
  nodeIds
    .map((id) => ({ id, rank: sha256(`${name} ${id}`) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ id }) => id);

/**
 * Assigns each lease to a node: the highest-ranked node (rendezvous hashing) that has less than an equal share. Nodes
 * with the same list of nodes compute the same assignment.
 */
export function assignLeases(nodeIds: readonly string[]): Map<string, string> {
  const newOwners = new Map<string, string>();
  for (const names of [namedLeases, shards]) {
    const maxLeases = Math.ceil(names.length / nodeIds.length);
    const counts = new Map<string, number>();
    for (const name of names) {
      const isFree = (id: string) => (counts.get(id) ?? 0) < maxLeases;
      const [first] = rankNodes(name, nodeIds.filter(isFree));
      if (first === undefined) continue;
      newOwners.set(name, first);
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
  }
  return newOwners;
}

/** The last heartbeat of a node. */
export type Beat = { id: string; run: string; beats: number };

/** Heartbeats with the time of their last change, by the observer's monotonic clock. */
export type SeenBeats = ReadonlyMap<string, Beat & { since: number }>;

export function updateSeen(before: SeenBeats, beats: readonly Beat[], now: number): SeenBeats {
  return new Map(
    beats.map((beat) => {
      const known = before.get(beat.id);
      const isSame = known?.beats === beat.beats && known.run === beat.run;
      return [beat.id, isSame ? known : { ...beat, since: now }];
    }),
  );
}

/** Returns the nodes whose heartbeats have changed recently, regardless of their clocks. */
export function listAliveNodes(seen: SeenBeats, now: number): string[] {
  return [...seen.values()].filter(({ since }) => now - since < ttlMs).map(({ id }) => id);
}

/** Returns the earliest time at which another node could be found dead; Infinity without other living nodes. */
export function computeNextDeath(seen: SeenBeats, me: string, now: number): number {
  const deathTimes = [...seen.values()]
    .filter(({ id, since }) => id !== me && now - since < ttlMs)
    .map(({ since }) => since + ttlMs);
  return Math.min(...deathTimes);
}

/** Time until which a node can work after a heartbeat at `sentAt`. Other nodes can't take its leases earlier. */
export const computeLeaseEnd = (sentAt: number) => sentAt + ttlMs - marginMs;

export type LeaseRow = { name: string; owner: string | null; epoch: number };

/** Free leases that this node must take, and leases that it must release. */
export function planLeaseChanges(
  me: string,
  leases: readonly LeaseRow[],
  alive: readonly string[],
): { take: LeaseRow[]; release: LeaseRow[] } {
  const assignment = assignLeases(alive);
  const isFree = ({ owner }: LeaseRow) => owner === null || !alive.includes(owner);
  return {
    take: leases.filter((lease) => assignment.get(lease.name) === me && isFree(lease)),
    release: leases.filter((lease) => lease.owner === me && assignment.get(lease.name) !== me),
  };
}
