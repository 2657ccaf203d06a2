import type { Clock } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../database/store.ts";
import {
  answerRequest,
  findAnswers,
  findRequest,
  findRequests,
  type ForwardedRequest,
  insertRequest,
  removeRequest,
} from "./store.ts";

/** What other nodes were asked for is looked for so often, and whether they have done it. */
const lookMs = 250;
/** What nobody has done for so long is wanted no more. */
const keptMs = 10 * 60_000;

/** What stands in place of a lease's name where a certain node is meant. */
export const requestsFor = (nodeId: string) => `node ${nodeId}`;
const isForNode = (lease: string) => lease.startsWith("node ");

/** Who does what is forwarded to this node, or makes something of what it is asked. */
export type ForwardedHandler = {
  handle: (request: unknown) => Promise<unknown>;
  /** Requests of one line are done in the order in which they were written; null for one that waits for nobody. */
  lineOf: (request: unknown) => string | null;
};

type Taken = {
  underWay: readonly Promise<boolean>[];
  /** The last of each line. */
  lines: ReadonlyMap<string, Promise<boolean>>;
};

type Dependencies = { store: Store; clock: Clock; log: Log; has: (lease: string) => boolean };

/** Has the owner of a lease do what another node was asked for. It is done at least once. */
export function forwarding({ store, clock, log, has }: Dependencies) {
  const underWay = new Map<string, Promise<boolean>>();
  /** The last request under way of each line, whose requests are done one after the other. */
  const lines = new Map<string, Promise<boolean>>();
  /** Done, and shown by the last look all the same. */
  const done = new Set<string>();
  let taking: Promise<unknown> = Promise.resolve();
  let handler: ForwardedHandler = { handle: async () => null, lineOf: () => null };
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isOver = false;
  let isFailing = false;

  /** Begins with what is new; returns what is under way then. One look follows the other: no older one comes late. */
  function take(): Promise<Taken> {
    const next = taking.then(takeNow);
    taking = next.catch(() => {});
    return next;
  }

  async function takeNow(): Promise<Taken> {
    const found = await findRequests(store);
    const there = new Set(found.map(({ id }) => id));
    for (const id of done) if (!there.has(id)) done.delete(id);
    const old = found.filter(({ createdAt }) => Math.abs(clock() - createdAt) > keptMs);
    if (old.length > 0) await store.atomic(old.map(({ id }) => removeRequest(id)));
    for (const one of found)
      if (
        one.answer === null &&
        !old.includes(one) &&
        has(one.lease) &&
        !done.has(one.id) &&
        !underWay.has(one.id)
      )
        underWay.set(one.id, serveInLine(one));
    return { underWay: [...underWay.values()], lines: new Map(lines) };
  }

  function serveInLine(one: ForwardedRequest): Promise<boolean> {
    const request: unknown = JSON.parse(one.request);
    const line = handler.lineOf(request);
    const before = (line === null ? undefined : lines.get(line)) ?? Promise.resolve(true);
    // What comes behind one that is not done yet is looked at again with it.
    const served = before
      .then((isDone) => isDone && serve(one, request))
      .finally(() => {
        underWay.delete(one.id);
        if (line !== null && lines.get(line) === served) lines.delete(line);
      });
    if (line !== null) lines.set(line, served);
    return served;
  }

  async function serve({ id, lease }: ForwardedRequest, request: unknown): Promise<boolean> {
    try {
      const answer = await handler.handle(request);
      await store.atomic([
        isForNode(lease) ? answerRequest(id, JSON.stringify(answer ?? null)) : removeRequest(id),
      ]);
      done.add(id);
      return true;
    } catch (error) {
      log.warn("what another node was asked for is not done yet", { cause: String(error) });
      return false;
    }
  }

  function look() {
    timer = setTimeout(async () => {
      try {
        await take();
        isFailing = false;
      } catch (error) {
        if (!isFailing)
          log.warn("what other nodes were asked for can't be read", { cause: String(error) });
        isFailing = true;
      }
      if (!isOver) look();
    }, lookMs);
  }

  return {
    /** Resolves when it is done. Throws UNAVAILABLE where that takes too long; it is done then later. */
    async forward(lease: string, request: object, timeoutMs: number): Promise<void> {
      const id = newId(clock());
      await store.atomic([
        insertRequest({
          id,
          lease,
          request: JSON.stringify(request),
          answer: null,
          createdAt: clock(),
        }),
      ]);
      const until = performance.now() + timeoutMs;
      while (await findRequest(store, id)) {
        if (performance.now() > until)
          throw new AppError("UNAVAILABLE", "The machine that does this does not answer yet.", {
            headers: { "Retry-After": "5" },
          });
        await Bun.sleep(lookMs / 2);
      }
    },
    /** What these nodes make of a request, as far as they answer in time. */
    async ask(nodeIds: readonly string[], request: object, timeoutMs: number): Promise<unknown[]> {
      const createdAt = clock();
      const rows = nodeIds.map((nodeId) => ({
        id: newId(createdAt),
        lease: requestsFor(nodeId),
        request: JSON.stringify(request),
        answer: null,
        createdAt,
      }));
      const ids = rows.map(({ id }) => id);
      if (ids.length === 0) return [];
      await store.atomic(rows.map(insertRequest));
      const until = performance.now() + timeoutMs;
      try {
        for (;;) {
          await Bun.sleep(lookMs / 2);
          const answers = await findAnswers(store, ids);
          if (answers.length === ids.length || performance.now() > until) return answers;
        }
      } finally {
        await store.atomic(ids.map(removeRequest));
      }
    },
    onForwarded: (its: ForwardedHandler) => void (handler = its),
    /** Resolves when all of this line is done that was there before. Throws UNAVAILABLE. */
    async catchUp(line: string): Promise<void> {
      const taken = await take();
      if ((await taken.lines.get(line)) === false)
        throw new AppError("UNAVAILABLE", "What was asked for before is not done yet.", {
          headers: { "Retry-After": "1" },
        });
    },
    /** Does what is there: for tests, instead of `start`. */
    async runOnce() {
      await Promise.all((await take()).underWay);
    },
    start: look,
    stop() {
      isOver = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
