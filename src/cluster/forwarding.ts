import type { Clock } from "../core/clock.ts";
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

type Dependencies = { store: Store; clock: Clock; log: Log; has: (lease: string) => boolean };

/** Has the owner of a lease do what another node was asked for. It is done at least once. */
export function forwarding({ store, clock, log, has }: Dependencies) {
  const underWay = new Map<string, Promise<void>>();
  /** Done, and shown by the last look all the same. */
  const done = new Set<string>();
  let handle: (request: unknown) => Promise<unknown> = async () => {};
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isOver = false;
  let isFailing = false;

  /** Begins with what is new; returns what is under way then. */
  async function take(): Promise<{ underWay: Promise<void>[] }> {
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
        underWay.set(one.id, serve(one));
    return { underWay: [...underWay.values()] };
  }

  async function serve({ id, lease, request }: ForwardedRequest) {
    try {
      const answer = await handle(JSON.parse(request));
      await store.atomic([
        isForNode(lease) ? answerRequest(id, JSON.stringify(answer ?? null)) : removeRequest(id),
      ]);
      done.add(id);
    } catch (error) {
      log.warn("what another node was asked for is not done yet", { cause: String(error) });
    } finally {
      underWay.delete(id);
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
    onForwarded: (handler: (request: unknown) => Promise<unknown>) => void (handle = handler),
    /** Does what is there: for tests, instead of `start`. */
    async runOnce() {
      const begun = await take();
      await Promise.all(begun.underWay);
    },
    start: look,
    stop() {
      isOver = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
