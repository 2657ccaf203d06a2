import type { Log } from "../../core/log.ts";
import type { Store } from "../../database/store.ts";
import type { PageCache } from "./cache.ts";
import { unjudgedByOrganization } from "../store.ts";

/** How often pages notice that checks begin or cease to be judged. */
const judgementMs = 2_000;

type Cache = Pick<PageCache, "touch" | "distrust">;

/** Renders pages again when monitors begin or cease to be judged, which happens without an event. */
export function judgementWatch(store: Store, log: Log, cache: Cache) {
  /** What can't be judged, by organization. */
  let unjudged = new Map<string, string>();
  let failingSince: number | null = null;
  let timer: ReturnType<typeof setInterval> | null = null;

  /** Checks are judged on any machine that serves the same data. */
  async function followChecks() {
    const found = await unjudgedByOrganization(store);
    for (const id of new Set([...found.keys(), ...unjudged.keys()]))
      if (found.get(id) !== unjudged.get(id)) cache.touch(id);
    unjudged = found;
  }

  return {
    /** While results can't be stored, every page is about the last known states. */
    followWrites() {
      const now = store.writes.failingSince();
      if (now === failingSince) return;
      failingSince = now;
      cache.distrust();
    },
    start() {
      timer = setInterval(() => {
        followChecks().catch((error: unknown) =>
          log.warn("monitors that can't be judged can't be read", { cause: String(error) }),
        );
      }, judgementMs);
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
  };
}
