/** Selects the next work to start. Clients take turns, so that one client's backlog does not delay another client. */
import { type Heap, pop, push } from "./heap.ts";

/** A client, and a lane: a part of its work with a separate limit, such as one destination. */
type Slot = { client: string; lane?: string | null };

/** Waiting work. A client's entries start in ascending order of `at`. */
export type Entry = Slot & { at: number };

type Lane<T extends Entry> = { running: number; parked: Set<T> };
type Client<T extends Entry> = {
  id: string;
  running: number;
  ready: Heap<T>;
  lanes: Map<string, Lane<T>>;
  /** The clients of the same rank; null while the client has no ready entries. */
  group: Set<Client<T>> | null;
};

type Rules<T extends Entry> = {
  /** Rank of a client: a small integer from 0. The lowest rank starts first. Clients of the same rank take turns. */
  rank: (client: Pick<Client<T>, "id" | "running">, turns: Turns<T>) => number;
  /** Whether a client of this rank can start an entry now. */
  admits: (rank: number, turns: Turns<T>) => boolean;
  /** Maximum running entries per lane of a client. */
  perLane?: number;
  /** Returns false for an entry that was canceled after it was added. */
  isWanted?: (entry: T) => boolean;
};

export class Turns<T extends Entry> {
  /** Number of running entries. */
  running = 0;
  /** Number of running entries that exceed the shares of their clients. */
  borrowed = 0;
  #share = 1;
  readonly #rules: Rules<T>;
  readonly #clients = new Map<string, Client<T>>();
  /** Clients with ready entries by rank. The first client of a group has the next turn. */
  readonly #groups: Set<Client<T>>[] = [];

  constructor(rules: Rules<T>) {
    this.#rules = rules;
  }

  /** Running entries per client that do not count as borrowed. */
  get share(): number {
    return this.#share;
  }

  set share(share: number) {
    if (share === this.#share) return;
    this.#share = share;
    this.borrowed = 0;
    for (const client of this.#clients.values()) {
      this.borrowed += this.#countBorrowed(client);
      this.#regroup(client);
    }
  }

  add(entry: T) {
    const client = this.#clientOf(entry.client);
    push(client.ready, entry);
    this.#regroup(client);
  }

  /** Replaces all waiting entries. Clients with new entries retain their turn. */
  replace(entries: Iterable<T>) {
    for (const client of this.#clients.values()) {
      client.ready = [];
      for (const { parked } of client.lanes.values()) parked.clear();
    }
    for (const entry of entries) this.add(entry);
    for (const client of this.#clients.values()) this.#regroup(client);
  }

  /** Removes canceled entries, which would otherwise wait until their turn. */
  removeCanceled() {
    const isWanted = this.#rules.isWanted ?? (() => true);
    const entries = [...this.#clients.values()].flatMap(({ ready, lanes }) =>
      [...ready, ...lanes.values().flatMap(({ parked }) => parked)].filter(isWanted),
    );
    this.replace(entries);
  }

  /** Starts and returns the next entry; null if none can start. */
  beginNext(): T | null {
    for (const [rank, group] of this.#groups.entries()) {
      if (group.size === 0 || !this.#rules.admits(rank, this)) continue;
      for (const client of group) {
        const entry = this.#takeReady(client);
        // `begin` adds the client again, behind all others of its rank.
        group.delete(client);
        client.group = null;
        if (entry !== null) {
          this.begin(entry);
          return entry;
        }
        this.#forgetIfIdle(client);
      }
    }
    return null;
  }

  /** Counts work as started, regardless of limits. */
  begin({ client: id, lane }: Slot) {
    const client = this.#clientOf(id);
    this.#count(client, 1);
    if (lane != null) ensureLane(client, lane).running++;
  }

  /** Counts work as finished. */
  end({ client: id, lane }: Slot) {
    const client = this.#clientOf(id);
    if (lane != null) this.#leaveLane(client, lane);
    this.#count(client, -1);
  }

  /** Removes the client's first entry whose lane is below its limit. Parks entries of full lanes. */
  #takeReady(client: Client<T>): T | null {
    const { isWanted, perLane = Infinity } = this.#rules;
    for (let next = pop(client.ready); next !== undefined; next = pop(client.ready)) {
      if (isWanted?.(next) === false) continue;
      if (next.lane == null) return next;
      const lane = ensureLane(client, next.lane);
      if (lane.running < perLane) return next;
      lane.parked.add(next);
    }
    return null;
  }

  #leaveLane(client: Client<T>, name: string) {
    const lane = ensureLane(client, name);
    lane.running--;
    for (const parked of lane.parked) {
      lane.parked.delete(parked);
      if (this.#rules.isWanted?.(parked) === false) continue;
      push(client.ready, parked);
      break;
    }
    if (lane.running === 0 && lane.parked.size === 0) client.lanes.delete(name);
  }

  #count(client: Client<T>, change: 1 | -1) {
    const before = this.#countBorrowed(client);
    client.running += change;
    this.running += change;
    this.borrowed += this.#countBorrowed(client) - before;
    this.#regroup(client);
  }

  #countBorrowed({ running }: Client<T>): number {
    return Math.max(0, running - this.#share);
  }

  /** Moves a client to the end of its rank's group. A client that is already in the group retains its turn. */
  #regroup(client: Client<T>) {
    const group = client.ready.length > 0 ? this.#groupOf(this.#rules.rank(client, this)) : null;
    if (group !== client.group) {
      client.group?.delete(client);
      group?.add(client);
      client.group = group;
    }
    this.#forgetIfIdle(client);
  }

  #groupOf(rank: number): Set<Client<T>> {
    while (this.#groups.length <= rank) this.#groups.push(new Set());
    return this.#groups[rank] as Set<Client<T>>;
  }

  #clientOf(id: string): Client<T> {
    let client = this.#clients.get(id);
    if (client === undefined) {
      client = { id, running: 0, ready: [], lanes: new Map(), group: null };
      this.#clients.set(id, client);
    }
    return client;
  }

  #forgetIfIdle({ id, running, ready, lanes }: Client<T>) {
    if (running === 0 && ready.length === 0 && lanes.size === 0) this.#clients.delete(id);
  }
}

function ensureLane<T extends Entry>({ lanes }: Client<T>, name: string): Lane<T> {
  let lane = lanes.get(name);
  if (lane === undefined) {
    lane = { running: 0, parked: new Set() };
    lanes.set(name, lane);
  }
  return lane;
}
