/** Reads the published data of each page at most once a second, and shares it between all renders. */
import type { Clock } from "../core/time/clock.ts";
import type { Store } from "../database/store.ts";
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
  const cached = new Map<string, CachedReading>();
  /** Renewals by page id, for pages that were read again after a change. */
  const spent = new Map<string, Renewals>();
  /** Time of the last change to an organization's data. */
  const touched = new Map<string, number>();

  const isOver = ({ now, readAt }: CachedReading) =>
    monotonic() - readAt >= renewMs || Math.abs(clock() - now) >= renewMs;

  const isStale = ({ organizationId, readAt }: CachedReading) =>
    (touched.get(organizationId) ?? -Infinity) >= readAt;

  const renewalsOf = (id: string) => spent.get(id) ?? createRenewals(monotonic());

  function sweep() {
    for (const [id, one] of cached) if (isOver(one)) cached.delete(id);
    for (const [id, one] of spent) if (isFull(one, monotonic())) spent.delete(id);
  }

  async function readPublishedPage(
    head: PageHead,
    now: number,
    readAt: number,
  ): Promise<Reading | null> {
    const page = await findPublicPageById({ store, organizationId: head.organizationId }, head.id);
    if (page === null || page.visibility !== head.visibility) return null;
    return { page, loaded: await loaderOf(store)(page, now), readAt };
  }

  return {
    /**
     * Returns the shared data of a page, read again at most once a second while it changes. Null for a deleted page,
     * or if its visibility differs from `head`.
     */
    findReading(head: PageHead): Promise<Reading | null> {
      sweep();
      const { id, organizationId } = head;
      const known = cached.get(id);
      if (known !== undefined && !(isStale(known) && canRenew(renewalsOf(id), monotonic())))
        return known.reading;
      if (known !== undefined) spent.set(id, spendRenewal(renewalsOf(id), monotonic()));
      const [now, readAt] = [clock(), monotonic()];
      const reading = readPublishedPage(head, now, readAt);
      const one = { organizationId, now, readAt, reading };
      cached.set(id, one);
      // A failed reading is not cached, so the next request repeats it.
      reading.catch(() => cached.get(id) === one && cached.delete(id));
      return reading;
    },
    /** Marks the readings of an organization as stale after a change to its data. */
    touch: (organizationId: string) => void touched.set(organizationId, monotonic()),
    /** Discards the readings of an organization after a change to its pages. */
    drop(organizationId: string) {
      for (const [id, one] of cached) if (one.organizationId === organizationId) cached.delete(id);
    },
  };
}
