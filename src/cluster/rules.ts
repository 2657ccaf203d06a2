import { sha256 } from "../core/ids.ts";

/** A node is dead for others when its heartbeat has not changed for so long … */
export const ttlMs = 10_000;
/** … and does nothing under its leases any more so long before that. */
const marginMs = 1_000;

/** What one node does for all. */
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

/** The shard of whatever has this id. */
export const shardOf = (id: string): string => shards[Bun.hash.crc32(id) % shardCount] ?? `shard 0`;

/** These nodes in an order that is another one for each name, and the same for everybody. */
export const ranked = (name: string, nodeIds: readonly string[]): string[] =>
  nodeIds
    .map((id) => ({ id, rank: sha256(`${name} ${id}`) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ id }) => id);

/**
 * Which of these nodes is to have each lease: the one that ranks highest for it, by rendezvous hashing,
 * among those that do not have their equal part yet. All nodes that know of the same ones agree.
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

/** Heartbeats, and since when each has been what it is; by the monotonic clock of who looks. */
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

/** Nodes whose heartbeat changed within a lease's time: what their clocks say does not matter. */
export function aliveAt(seen: Seen, now: number): string[] {
  return [...seen.values()].filter(({ since }) => now - since < ttlMs).map(({ id }) => id);
}

/** When somebody who is alive may next be found dead; Infinity where there is nobody else. */
export function nextDeathAt(seen: Seen, me: string, now: number): number {
  const ends = [...seen.values()]
    .filter(({ id, since }) => id !== me && now - since < ttlMs)
    .map(({ since }) => since + ttlMs);
  return Math.min(...ends);
}

/** Until when a node may work whose heartbeat was sent at this moment: nobody takes its leases before. */
export const heldUntil = (sentAt: number) => sentAt + ttlMs - marginMs;

export type LeaseRow = { name: string; owner: string | null; epoch: number };

/** What a node is to take of what nobody has, and to give to whom it belongs. */
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
