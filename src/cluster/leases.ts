import { AppError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Listener } from "../core/security/target-guard.ts";
import type { Problem } from "../core/problems.ts";
import type { Prepared, Store } from "../database/store.ts";
import type { ForwardedHandler } from "./forwarding.ts";
import type { NamedLease } from "./rules.ts";
import { mustOwn } from "./store.ts";

/** Work that could not be begun is begun again after so long. */
const retryMs = 500;

/** What this node alone does for all, for as long as it has it. */
export type Lease = {
  name: string;
  epoch: number;
  /** Null where there is nobody else who could have it. */
  owner: string | null;
};

/** What this node does of what one node does for all. */
export type Leases = {
  /** Which of several nodes this is; null where there is one. */
  node: { id: string; name: () => string } | null;
  /** Where other nodes answer requests, as they last said. */
  listenersOfOthers(): readonly Listener[];
  /** Ids of nodes that are not alive, though they did not leave; null while that isn't known yet. */
  gone(): readonly string[] | null;
  /** All that this node has now. */
  all(): readonly Lease[];
  /** Null while another node has it, or may soon. */
  named(name: NamedLease): Lease | null;
  /** The same for whatever is about the record with this id. */
  of(id: string): Lease | null;
  /**
   * Calls `listener` when leases come or go. Where they go to another node, that waits until it has
   * brought to an end what it does under them.
   */
  onChange(listener: () => Promise<void> | void): void;
  /**
   * Has the node that has the lease of this id do something; resolves when it is done, once or – where nodes
   * die – more often. Throws UNAVAILABLE where that takes longer; it is done later then.
   */
  forward(id: string, request: object, timeoutMs: number): Promise<void>;
  /**
   * What up to so many other nodes that are alive make of a request about the record with this id, as far as
   * they answer in time. Throws UNAVAILABLE.
   */
  ask(id: string, count: number, request: object, timeoutMs: number): Promise<unknown[]>;
  onForwarded(handler: ForwardedHandler): void;
  /** Resolves when everything of this line is done that was forwarded to this node before. Throws UNAVAILABLE. */
  catchUp(line: string): Promise<void>;
  /** Those of them that are still this node's, as the database knows. */
  stillHeld(leases: Iterable<Lease>): Promise<ReadonlySet<Lease>>;
};

/** Another node does it now: what was begun here is void. */
export class LeaseLost extends AppError {
  constructor() {
    super("UNAVAILABLE", "Another machine has taken this over. Try again soon.", {
      headers: { "Retry-After": "1" },
    });
  }
}

/** Guards of a write that is made under these leases: it fails with LeaseLost where one of them has gone. */
export function mustHold(leases: Iterable<Lease>): Prepared[] {
  const held = [...leases].filter(({ owner }) => owner !== null);
  const [first] = held;
  return first?.owner == null ? [] : [mustOwn(first.owner, held, () => new LeaseLost())];
}

/** The store for what is done under a lease: all that it writes is guarded. */
export function underLease(store: Store, lease: Lease): Store {
  const guards = mustHold([lease]);
  if (guards.length === 0) return store;
  return {
    ...store,
    atomic: (statements) => store.atomic(statements.length === 0 ? [] : [...guards, ...statements]),
  };
}

/** The problem as one of this machine, where there are others. */
export function ofNode<T extends Pick<Problem, "node"> & Partial<Problem>>(
  { node }: Pick<Leases, "node">,
  problem: T,
): T {
  if (node === null) return problem;
  const { message } = problem;
  const told = message !== undefined && { message: `${node.name()}: ${message}` };
  return { ...problem, node: node.id, ...told };
}

/** What is made for each time that this node gets the lease; null while it has not. */
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
 * Does something for as long as this node has the lease: `begin` returns what ends it. From `start` to
 * `stop`.
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

/** The leases of a node that is the only one: it has them all. */
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
