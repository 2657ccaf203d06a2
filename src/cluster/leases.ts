/** Describes which node owns which leases, and runs work under a lease. */
import { AppError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Listener } from "../core/security/target-guard.ts";
import type { Problem } from "../core/problems.ts";
import type { Prepared, Store } from "../database/store.ts";
import type { ForwardedHandler } from "./forwarding.ts";
import type { NamedLease } from "./rules.ts";
import { guardOwnership } from "./store.ts";

/** Retry interval for work that could not start, in milliseconds. */
const retryMs = 500;

/** A singleton job or a shard that this node owns. */
export type Lease = {
  name: string;
  epoch: number;
  /** ID of the node; null for a single node. */
  owner: string | null;
};

/** Leases of this node, and requests to the owners of other leases. */
export type Leases = {
  /** This node in a cluster; null for a single node. */
  node: { id: string; name: () => string } | null;
  /** Listeners of other nodes, from their last heartbeats. */
  listListenersOfOthers(): readonly Listener[];
  /** IDs of nodes that died without leaving the cluster; null if unknown. */
  listDeadNodes(): readonly string[] | null;
  /** All leases that this node owns. */
  listOwn(): readonly Lease[];
  /** Returns the lease if this node owns it. Null if another node owns it or could have taken it. */
  findNamed(name: NamedLease): Lease | null;
  /** Returns the lease of the record's shard if this node owns it; otherwise null. */
  findByRecord(id: string): Lease | null;
  /**
   * Registers a listener for gained and lost leases. Another node gets a lost lease when the listener's promise has
   * resolved, or after 30 s.
   */
  onChange(listener: () => Promise<void> | void): void;
  /**
   * Sends a request to the node that owns the record's shard, and waits until it is served at least once. Throws
   * UNAVAILABLE after the timeout; the request is then served later.
   */
  forward(id: string, request: object, timeoutMs: number): Promise<void>;
  /**
   * Sends a request about a record to up to `count` other living nodes, and returns the responses before the timeout.
   * Throws UNAVAILABLE.
   */
  request(id: string, count: number, request: object, timeoutMs: number): Promise<unknown[]>;
  onForwarded(handler: ForwardedHandler): void;
  /** Waits until all earlier forwarded requests of a line are served. Throws UNAVAILABLE. */
  catchUp(line: string): Promise<void>;
  /** Reads from the database which of these leases this node still owns. */
  findStillOwned(leases: Iterable<Lease>): Promise<ReadonlySet<Lease>>;
};

/** Error for work under a lease that another node owns now. */
export class LeaseLost extends AppError {
  constructor() {
    super("UNAVAILABLE", "Another machine has taken this over. Try again soon.", {
      headers: { "Retry-After": "1" },
    });
  }
}

/** Guards that make a write fail with LeaseLost if one of these leases is lost. */
export function guardLeases(leases: Iterable<Lease>): Prepared[] {
  const ownedLeases = [...leases].filter(({ owner }) => owner !== null);
  const [first] = ownedLeases;
  return first?.owner == null
    ? []
    : [guardOwnership(first.owner, ownedLeases, () => new LeaseLost())];
}

/** Wraps a store, so that each write is guarded by a lease. */
export function guardStoreWithLease(store: Store, lease: Lease): Store {
  const guards = guardLeases([lease]);
  if (guards.length === 0) return store;
  return {
    ...store,
    atomic: (statements) => store.atomic(statements.length === 0 ? [] : [...guards, ...statements]),
  };
}

/** Marks a problem as one of this node, if there are several nodes. */
export function assignProblemToNode<T extends Pick<Problem, "node"> & Partial<Problem>>(
  { node }: Pick<Leases, "node">,
  problem: T,
): T {
  if (node === null) return problem;
  const { message } = problem;
  const namedMessage = message !== undefined && { message: `${node.name()}: ${message}` };
  return { ...problem, node: node.id, ...namedMessage };
}

/** Creates a value each time this node gains the lease; null without the lease. */
export function createLeaseValue<T>(leases: Leases, name: NamedLease, make: (lease: Lease) => T) {
  let cached: { lease: Lease; value: T } | null = null;
  return (): T | null => {
    const lease = leases.findNamed(name);
    if (lease === null) return null;
    if (cached?.lease !== lease) cached = { lease, value: make(lease) };
    return cached.value;
  };
}

/**
 * Runs work between `start` and `stop` while this node owns the lease. `startWork` returns a function that
 * stops it.
 */
export function createLeasedWork(
  { leases, log }: { leases: Leases; log: Log },
  name: NamedLease,
  startWork: () => Promise<() => Promise<void>>,
) {
  let isOn = false;
  let under: Lease | null = null;
  let end: (() => Promise<void>) | null = null;
  let changing: Promise<void> = Promise.resolve();
  let retry: ReturnType<typeof setTimeout> | null = null;
  leases.onChange(queueChange);

  function queueChange(): Promise<void> {
    changing = changing.then(applyLeaseChange).catch((error: unknown) => {
      log.error("work can't be started", { lease: name, cause: String(error) });
      retry = setTimeout(() => void queueChange(), retryMs);
    });
    return changing;
  }

  async function applyLeaseChange() {
    const lease = isOn ? leases.findNamed(name) : null;
    if (lease === under) return;
    const endBefore = end;
    [under, end] = [null, null];
    await endBefore?.();
    if (lease === null) return;
    end = await startWork();
    under = lease;
  }

  return {
    start() {
      isOn = true;
      return queueChange();
    },
    stop() {
      isOn = false;
      if (retry !== null) clearTimeout(retry);
      return queueChange();
    },
  };
}

const everythingLease: Lease = { name: "everything", epoch: 0, owner: null };

/** Leases without a cluster. A single node owns all of them. */
export const soleNode: Leases = {
  node: null,
  listListenersOfOthers: () => [],
  listDeadNodes: () => [],
  findNamed: () => everythingLease,
  listOwn: () => [everythingLease],
  findByRecord: () => everythingLease,
  onChange() {},
  forward: async () => {},
  request: async () => [],
  onForwarded() {},
  catchUp: async () => {},
  findStillOwned: async (leases) => new Set(leases),
};
