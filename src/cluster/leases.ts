/** Leases: which node runs each singleton job and each shard, and helpers for work under a lease. */
import { AppError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Listener } from "../core/security/target-guard.ts";
import type { Problem } from "../core/problems.ts";
import type { Prepared, Store } from "../database/store.ts";
import type { ForwardedHandler } from "./forwarding.ts";
import type { NamedLease } from "./rules.ts";
import { mustOwn } from "./store.ts";

/** Retry interval for work that could not start. */
const retryMs = 500;

/** A singleton job or a shard that this node owns. */
export type Lease = {
  name: string;
  epoch: number;
  /** Null without other nodes. */
  owner: string | null;
};

/** The singleton jobs and shards that this node currently owns. */
export type Leases = {
  /** This node of a cluster; null without a cluster. */
  node: { id: string; name: () => string } | null;
  /** Addresses of other nodes, from their last heartbeats. */
  listenersOfOthers(): readonly Listener[];
  /** IDs of dead nodes that did not leave; null while unknown. */
  gone(): readonly string[] | null;
  /** All leases of this node. */
  all(): readonly Lease[];
  /** Null while another node owns it or can take it. */
  named(name: NamedLease): Lease | null;
  /** The lease of the shard of the record with this ID. */
  of(id: string): Lease | null;
  /**
   * Calls `listener` when leases are gained or lost. Another node gets a lost lease only when the promise of the
   * listener has resolved, or after 30 s.
   */
  onChange(listener: () => Promise<void> | void): void;
  /**
   * Sends a request to the node that owns the lease of this ID; resolves when it is done, at least once.
   * Throws UNAVAILABLE after the timeout; the request is done later then.
   */
  forward(id: string, request: object, timeoutMs: number): Promise<void>;
  /**
   * Responses of up to `count` other living nodes to a request about the record with this ID, if they arrive in
   * time. Throws UNAVAILABLE.
   */
  ask(id: string, count: number, request: object, timeoutMs: number): Promise<unknown[]>;
  onForwarded(handler: ForwardedHandler): void;
  /** Resolves when all requests of this line that were forwarded earlier are done. Throws UNAVAILABLE. */
  catchUp(line: string): Promise<void>;
  /** The leases that this node still owns according to the database. */
  stillHeld(leases: Iterable<Lease>): Promise<ReadonlySet<Lease>>;
};

/** Another node owns the lease now: work under it is void. */
export class LeaseLost extends AppError {
  constructor() {
    super("UNAVAILABLE", "Another machine has taken this over. Try again soon.", {
      headers: { "Retry-After": "1" },
    });
  }
}

/** Guards that make a write fail with LeaseLost if one of these leases is lost. */
export function mustHold(leases: Iterable<Lease>): Prepared[] {
  const held = [...leases].filter(({ owner }) => owner !== null);
  const [first] = held;
  return first?.owner == null ? [] : [mustOwn(first.owner, held, () => new LeaseLost())];
}

/** A store whose writes are guarded by the lease. */
export function underLease(store: Store, lease: Lease): Store {
  const guards = mustHold([lease]);
  if (guards.length === 0) return store;
  return {
    ...store,
    atomic: (statements) => store.atomic(statements.length === 0 ? [] : [...guards, ...statements]),
  };
}

/** Marks a problem as one of this node, in a cluster. */
export function ofNode<T extends Pick<Problem, "node"> & Partial<Problem>>(
  { node }: Pick<Leases, "node">,
  problem: T,
): T {
  if (node === null) return problem;
  const { message } = problem;
  const told = message !== undefined && { message: `${node.name()}: ${message}` };
  return { ...problem, node: node.id, ...told };
}

/** Creates a value each time this node gets the lease; null without the lease. */
export function perLease<T>(leases: Leases, name: NamedLease, make: (lease: Lease) => T) {
  let made: { lease: Lease; value: T } | null = null;
  return (): T | null => {
    const lease = leases.named(name);
    if (lease === null) return null;
    if (made?.lease !== lease) made = { lease, value: make(lease) };
    return made.value;
  };
}

/**
 * Runs work while this node owns the lease, between `start` and `stop`. `begin` returns a function that stops
 * the work.
 */
export function whileHeld(
  { leases, log }: { leases: Leases; log: Log },
  name: NamedLease,
  begin: () => Promise<() => Promise<void>>,
) {
  let isOn = false;
  let under: Lease | null = null;
  let end: (() => Promise<void>) | null = null;
  let changing: Promise<void> = Promise.resolve();
  let retry: ReturnType<typeof setTimeout> | null = null;
  leases.onChange(follow);

  function follow(): Promise<void> {
    changing = changing.then(change).catch((error: unknown) => {
      log.error("work can't be begun", { lease: name, cause: String(error) });
      retry = setTimeout(() => void follow(), retryMs);
    });
    return changing;
  }

  async function change() {
    const lease = isOn ? leases.named(name) : null;
    if (lease === under) return;
    const endBefore = end;
    [under, end] = [null, null];
    await endBefore?.();
    if (lease === null) return;
    end = await begin();
    under = lease;
  }

  return {
    start() {
      isOn = true;
      return follow();
    },
    stop() {
      isOn = false;
      if (retry !== null) clearTimeout(retry);
      return follow();
    },
  };
}

const everything: Lease = { name: "everything", epoch: 0, owner: null };

/** The leases of a single node: it owns them all. */
export const soleNode: Leases = {
  node: null,
  listenersOfOthers: () => [],
  gone: () => [],
  named: () => everything,
  all: () => [everything],
  of: () => everything,
  onChange() {},
  forward: async () => {},
  ask: async () => [],
  onForwarded() {},
  catchUp: async () => {},
  stillHeld: async (leases) => new Set(leases),
};
