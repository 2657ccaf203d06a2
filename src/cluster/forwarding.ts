/** Forwards requests to the node that owns a lease, through a table of the database. */
import { minuteMs } from "../core/time/clock.ts";
import type { Clock } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { createId } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../database/store.ts";
import {
  storeResponse,
  findResponses,
  hasRequest,
  findRequests,
  type ForwardedRequest,
  insertRequest,
  removeRequest,
} from "./store.ts";

/** Poll interval for forwarded requests and their responses, in milliseconds. */
const pollMs = 250;
/** Maximum age of a request, in milliseconds. Older requests are dropped. */
const requestLifetimeMs = 10 * minuteMs;

/** Returns the lease name for requests to a certain node. */
export const buildNodeLine = (nodeId: string) => `node ${nodeId}`;
const isForNode = (lease: string) => lease.startsWith("node ");

/** Serves the requests that are forwarded to this node. */
export type ForwardedHandler = {
  handle: (request: unknown) => Promise<unknown>;
  /**
   * Returns the line of a request; null for an independent request. Requests of the same line run one after the
   * other, in the order of their writes.
   */
  lineOf: (request: unknown) => string | null;
};

type AcceptedLines = {
  underWay: readonly Promise<boolean>[];
  /** Last request of each line. */
  lines: ReadonlyMap<string, Promise<boolean>>;
};

type Dependencies = { store: Store; clock: Clock; log: Log; has: (lease: string) => boolean };

/** Stores requests for other nodes, and serves requests to this node at least once. */
export class Forwarding {
  readonly #dependencies: Dependencies;
  readonly #underWay = new Map<string, Promise<boolean>>();
  /**
   * Last request in flight of each line. Requests of one line, such as reports of one monitor, are handled in order.
   */
  readonly #lines = new Map<string, Promise<boolean>>();
  /** Served requests that the last poll still found in the table. */
  readonly #done = new Set<string>();
  #taking: Promise<unknown> = Promise.resolve();
  #handler: ForwardedHandler = { handle: async () => null, lineOf: () => null };
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isStopped = false;
  #isFailing = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  onForwarded(handler: ForwardedHandler) {
    this.#handler = handler;
  }

  start() {
    const { log } = this.#dependencies;
    this.#timer = setTimeout(async () => {
      try {
        await this.#take();
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing)
          log.warn("forwarded requests can't be read", { cause: String(error) });
        this.#isFailing = true;
      }
      if (!this.#isStopped) this.start();
    }, pollMs);
  }

  stop() {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Serves all stored requests once. Tests call it instead of `start`. */
  async runOnce() {
    await Promise.all((await this.#take()).underWay);
  }

  /**
   * Forwards a request and waits until it is served. Throws UNAVAILABLE after the timeout; the request is then served
   * later.
   */
  async forward(lease: string, request: object, timeoutMs: number): Promise<void> {
    const { store } = this.#dependencies;
    const row = this.#createRow(lease, request);
    await store.atomic([insertRequest(row)]);
    const until = performance.now() + timeoutMs;
    while (await hasRequest(store, row.id)) {
      if (performance.now() > until)
        throw new AppError("UNAVAILABLE", "The machine that does this does not respond yet.", {
          headers: { "Retry-After": "5" },
        });
      await Bun.sleep(pollMs / 2);
    }
  }

  /** Sends a request to several nodes, and returns the responses before the timeout. */
  async requestFromNodes(
    nodeIds: readonly string[],
    request: object,
    timeoutMs: number,
  ): Promise<unknown[]> {
    const { store } = this.#dependencies;
    const rows = nodeIds.map((nodeId) => this.#createRow(buildNodeLine(nodeId), request));
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    await store.atomic(rows.map(insertRequest));
    const until = performance.now() + timeoutMs;
    try {
      for (;;) {
        await Bun.sleep(pollMs / 2);
        const answers = await findResponses(store, ids);
        if (answers.length === ids.length || performance.now() > until) return answers;
      }
    } finally {
      await store.atomic(ids.map(removeRequest));
    }
  }

  /** Waits until all earlier requests of a line are served. Throws UNAVAILABLE if one failed. */
  async waitUntilServed(line: string): Promise<void> {
    const batch = await this.#take();
    if ((await batch.lines.get(line)) === false)
      throw new AppError("UNAVAILABLE", "An earlier request is not finished yet.", {
        headers: { "Retry-After": "1" },
      });
  }

  #createRow(lease: string, request: object) {
    const createdAt = this.#dependencies.clock();
    const id = createId(createdAt);
    return { id, lease, request: JSON.stringify(request), answer: null, createdAt };
  }

  /**
   * Starts new requests and returns all requests in flight. Polls run one after the other, so that results are not
   * out of order.
   */
  #take(): Promise<AcceptedLines> {
    const next = this.#taking.then(() => this.#takeNow());
    this.#taking = next.catch(() => {});
    return next;
  }

  async #takeNow(): Promise<AcceptedLines> {
    const { store, clock, has } = this.#dependencies;
    const found = await findRequests(store);
    const storedIds = new Set(found.map(({ id }) => id));
    for (const id of this.#done) if (!storedIds.has(id)) this.#done.delete(id);
    const isExpired = ({ createdAt }: ForwardedRequest) =>
      Math.abs(clock() - createdAt) > requestLifetimeMs;
    const expired = found.filter(isExpired);
    if (expired.length > 0) await store.atomic(expired.map(({ id }) => removeRequest(id)));
    for (const request of found) {
      const isNew = !this.#done.has(request.id) && !this.#underWay.has(request.id);
      if (request.answer === null && isNew && !isExpired(request) && has(request.lease))
        this.#underWay.set(request.id, this.#serveInLine(request));
    }
    return { underWay: [...this.#underWay.values()], lines: new Map(this.#lines) };
  }

  #serveInLine(forwarded: ForwardedRequest): Promise<boolean> {
    const request: unknown = JSON.parse(forwarded.request);
    const line = this.#handler.lineOf(request);
    const before = (line === null ? undefined : this.#lines.get(line)) ?? Promise.resolve(true);
    // After a failed request, the other requests of its line wait for the next poll.
    const served = before
      .then((isDone) => isDone && this.#serve(forwarded, request))
      .finally(() => {
        this.#underWay.delete(forwarded.id);
        if (line !== null && this.#lines.get(line) === served) this.#lines.delete(line);
      });
    if (line !== null) this.#lines.set(line, served);
    return served;
  }

  async #serve({ id, lease }: ForwardedRequest, request: unknown): Promise<boolean> {
    const { store, log } = this.#dependencies;
    try {
      const response = await this.#handler.handle(request);
      await store.atomic([
        isForNode(lease) ? storeResponse(id, JSON.stringify(response ?? null)) : removeRequest(id),
      ]);
      this.#done.add(id);
      return true;
    } catch (error) {
      log.warn("a forwarded request failed and will be repeated", { cause: String(error) });
      return false;
    }
  }
}
