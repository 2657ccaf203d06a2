import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../database/store.ts";
import {
  findRequest,
  findRequests,
  type ForwardedRequest,
  insertRequest,
  removeRequest,
} from "./store.ts";

/** What other nodes were asked for is looked for so often, and whether they have done it. */
const lookMs = 250;
/** Whoever asked is answered after so long: what is not done by then is done as soon as somebody can. */
const patienceMs = 20_000;
/** What nobody has done for so long is wanted no more. */
const keptMs = 10 * 60_000;

type Dependencies = { store: Store; clock: Clock; log: Log; has: (lease: string) => boolean };

/** Has the owner of a lease do what another node was asked for. It is done at least once. */
export function forwarding({ store, clock, log, has }: Dependencies) {
  const underWay = new Map<string, Promise<void>>();
  /** Done, and shown by the last look all the same. */
  const done = new Set<string>();
  let handle: (request: unknown) => Promise<void> = async () => {};
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isOver = false;

  /** Begins with what is new; returns what is under way then. */
  async function take(): Promise<{ underWay: Promise<void>[] }> {
    const found = await findRequests(store);
    const there = new Set(found.map(({ id }) => id));
    for (const id of done) if (!there.has(id)) done.delete(id);
    for (const one of found)
      if (has(one.lease) && !done.has(one.id) && !underWay.has(one.id))
        underWay.set(one.id, serve(one));
    return { underWay: [...underWay.values()] };
  }

  async function serve({ id, request, createdAt }: ForwardedRequest) {
    try {
      if (Math.abs(clock() - createdAt) < keptMs) await handle(JSON.parse(request));
      await store.atomic([removeRequest(id)]);
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
      } catch (error) {
        log.warn("what other nodes were asked for can't be read", { cause: String(error) });
      }
      if (!isOver) look();
    }, lookMs);
  }

  return {
    /** Resolves when it is done. Throws UNAVAILABLE where that takes too long; it is done then later. */
    async forward(lease: string, request: object): Promise<void> {
      const id = newId(clock());
      await store.atomic([
        insertRequest({ id, lease, request: JSON.stringify(request), createdAt: clock() }),
      ]);
      const until = performance.now() + patienceMs;
      while (await findRequest(store, id)) {
        if (performance.now() > until)
          throw new AppError("UNAVAILABLE", "The machine that does this does not answer yet.", {
            headers: { "Retry-After": "5" },
          });
        await Bun.sleep(lookMs / 2);
      }
    },
    onForwarded: (handler: (request: unknown) => Promise<void>) => void (handle = handler),
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
