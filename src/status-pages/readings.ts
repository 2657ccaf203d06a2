import type { Clock } from "../core/time/clock.ts";
import type { Store } from "../database/store.ts";
import { type Loaded, loaderOf } from "./load.ts";
import {
  afterRenewal,
  allRenewals,
  canRenew,
  isFull,
  renewMs,
  type Renewals,
} from "./site/renewals.ts";
import { findPublicPageById, type PageHead, type PublicPage } from "./store.ts";

/** The published data of a page, read at one time of the cache's monotonic clock. */
export type Reading = { page: PublicPage; loaded: Loaded; readAt: number };

type CachedReading = {
  organizationId: string;
  now: number;
  readAt: number;
  reading: Promise<Reading | null>;
};

export function pageReadings(
  store: Store,
  clock: Clock,
  monotonic: () => number = () => performance.now(),
) {
  const cached = new Map<string, CachedReading>();
  /** By page, of pages that were read because something changed. */
  const spent = new Map<string, Renewals>();
  /** When an organization's data changed last. */
  const touched = new Map<string, number>();

  const isOver = ({ now, readAt }: CachedReading) =>
    monotonic() - readAt >= renewMs || Math.abs(clock() - now) >= renewMs;

  const isStale = ({ organizationId, readAt }: CachedReading) =>
    (touched.get(organizationId) ?? -Infinity) >= readAt;

  const renewalsOf = (id: string) => spent.get(id) ?? allRenewals(monotonic());

  function sweep() {
    for (const [id, one] of cached) if (isOver(one)) cached.delete(id);
    for (const [id, one] of spent) if (isFull(one, monotonic())) spent.delete(id);
  }

  async function read(head: PageHead, now: number, readAt: number): Promise<Reading | null> {
    const page = await findPublicPageById({ store, organizationId: head.organizationId }, head.id);
    if (page === null || page.visibility !== head.visibility) return null;
    return { page, loaded: await loaderOf(store)(page, now), readAt };
  }

  return {
    /** Read once a second at most while it changes all the time, for all that is rendered of it. Null for a page that is gone, or open to others than it was. */
    of(head: PageHead): Promise<Reading | null> {
      sweep();
      const { id, organizationId } = head;
      const known = cached.get(id);
      if (known !== undefined && !(isStale(known) && canRenew(renewalsOf(id), monotonic())))
        return known.reading;
      if (known !== undefined) spent.set(id, afterRenewal(renewalsOf(id), monotonic()));
      const [now, readAt] = [clock(), monotonic()];
      const reading = read(head, now, readAt);
      const one = { organizationId, now, readAt, reading };
      cached.set(id, one);
      // A failed reading is repeated.
      reading.catch(() => cached.get(id) === one && cached.delete(id));
      return reading;
    },
    /** This organization's data has changed. */
    touch: (organizationId: string) => void touched.set(organizationId, monotonic()),
    /** Cached readings of this organization's pages are no longer valid. */
    drop(organizationId: string) {
      for (const [id, one] of cached) if (one.organizationId === organizationId) cached.delete(id);
    },
  };
}
