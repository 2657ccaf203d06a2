/** Reads the published data of each page at most once a second, and shares it between all renders. */
import type { Clock } from "../core/time/clock.ts";
import type { Store } from "../database/store.ts";
import type { Audience } from "./access-rules.ts";
import { type LoadedPage, loaderOf } from "./load.ts";
import {
  spendRenewal,
  createRenewals,
  canRenew,
  isFull,
  renewMs,
  type Renewals,
} from "./site/renewals.ts";
import { findPublicPageById, type PageHead, type PublicPage } from "./store.ts";

/** Published data of a page. `readAt` is a time of the cache's monotonic clock. */
export type Reading = { page: PublicPage; loaded: LoadedPage; readAt: number };

type CachedReading = {
  organizationId: string;
  now: number;
  readAt: number;
  reading: Promise<Reading | null>;
};

export function createPageReadings(
  store: Store,
  clock: Clock,
  monotonic: () => number = () => performance.now(),
) {
  /** Readings by page and audience. */
  const cached = new Map<string, CachedReading>();
  /** Renewals by page and audience, for pages that were read again after a change. */
  const spent = new Map<string, Renewals>();
  /** Time of the last change to an organization's data. */
  const touched = new Map<string, number>();

  const isOver = ({ now, readAt }: CachedReading) =>
    monotonic() - readAt >= renewMs || Math.abs(clock() - now) >= renewMs;

  const isStale = ({ organizationId, readAt }: CachedReading) =>
    (touched.get(organizationId) ?? -Infinity) >= readAt;

  const renewalsOf = (key: string) => spent.get(key) ?? createRenewals(monotonic());

  function sweep() {
    for (const [key, one] of cached) if (isOver(one)) cached.delete(key);
    for (const [key, one] of spent) if (isFull(one, monotonic())) spent.delete(key);
  }

  async function readPublishedPage(
    { organizationId, id, ...head }: PageHead,
    audience: Audience,
    now: number,
    readAt: number,
  ): Promise<Reading | null> {
    const page = await findPublicPageById({ store, organizationId }, id, audience);
    if (page === null || page.visibility !== head.visibility) return null;
    return { page, loaded: await loaderOf(store)(page, now), readAt };
  }

  return {
    /**
     * Returns the shared data of a page, read again at most once a second while it changes. Null for a deleted page,
     * or if its visibility differs from `head`.
     */
    findReading(head: PageHead, audience: Audience): Promise<Reading | null> {
      sweep();
      const { organizationId } = head;
      const key = `${head.id} ${audience}`;
      const known = cached.get(key);
      if (known !== undefined && !(isStale(known) && canRenew(renewalsOf(key), monotonic())))
        return known.reading;
      if (known !== undefined) spent.set(key, spendRenewal(renewalsOf(key), monotonic()));
      const [now, readAt] = [clock(), monotonic()];
      const reading = readPublishedPage(head, audience, now, readAt);
      const one = { organizationId, now, readAt, reading };
      cached.set(key, one);
      // A failed reading is not cached, so the next request repeats it.
      reading.catch(() => cached.get(key) === one && cached.delete(key));
      return reading;
    },
    /** Marks the readings of an organization as stale after a change to its data. */
    touch: (organizationId: string) => void touched.set(organizationId, monotonic()),
    /** Discards the readings of an organization after a change to its pages. */
    drop(organizationId: string) {
      for (const [key, one] of cached)
        if (one.organizationId === organizationId) cached.delete(key);
    },
  };
}
