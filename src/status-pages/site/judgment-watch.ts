import type { Log } from "../../core/log.ts";
import type { Store } from "../../database/store.ts";
import type { PageCache } from "./cache.ts";
import { findUnjudgedByOrganization } from "../store.ts";

/** Poll interval for monitors that become judged or not judged. */
const judgmentMs = 2_000;

type Cache = Pick<PageCache, "touch" | "distrust">;

/** Renews cached pages when monitors become judged or not judged, which happens without an event. */
export function createJudgmentWatch(store: Store, log: Log, cache: Cache) {
  /** Marks of unjudged monitors by organization, to compare with. */
  let unjudged = new Map<string, string>();
  let failingSince: number | null = null;
  let timer: ReturnType<typeof setInterval> | null = null;

  /** Compares the database, because any node can judge checks. */
  async function followChecks() {
    const found = await findUnjudgedByOrganization(store);
    for (const id of new Set([...found.keys(), ...unjudged.keys()]))
      if (found.get(id) !== unjudged.get(id)) cache.touch(id);
    unjudged = found;
  }

  return {
    /** Renews all pages when writes start or stop failing: while they fail, pages show the last known states. */
    followWrites() {
      const currentFailingSince = store.writes.getFailingSince();
      if (currentFailingSince === failingSince) return;
      failingSince = currentFailingSince;
      cache.distrust();
    },
    start() {
      timer = setInterval(() => {
        followChecks().catch((error: unknown) =>
          log.warn("unjudged monitors can't be read", { cause: String(error) }),
        );
      }, judgmentMs);
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
  };
}
