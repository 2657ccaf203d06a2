import type { Clock } from "../core/clock.ts";
import type { Store } from "../database/store.ts";
import { atMostEveryMs } from "./cache.ts";
import { type Loaded, loaderOf } from "./load.ts";
import { findPublicPageById, type PageHead, type PublicPage } from "./store.ts";

/** What a page publishes, as it was read at one time by the cache's own clock. */
type Reading = { page: PublicPage; loaded: Loaded; readAt: number };

type Kept = {
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
  const kept = new Map<string, Kept>();

  const isOver = ({ now, readAt }: Kept) =>
    monotonic() - readAt >= atMostEveryMs || Math.abs(clock() - now) >= atMostEveryMs;

  async function read(head: PageHead, now: number, readAt: number): Promise<Reading | null> {
    const page = await findPublicPageById({ store, organizationId: head.organizationId }, head.id);
    if (page === null || page.visibility !== head.visibility) return null;
    return { page, loaded: await loaderOf(store)(page, now), readAt };
  }

  return {
    /** Read at most once a second, whatever is made of it. Null for a page that is gone, or open to others than it was. */
    of(head: PageHead): Promise<Reading | null> {
      for (const [id, one] of kept) if (isOver(one)) kept.delete(id);
      const known = kept.get(head.id);
      if (known !== undefined) return known.reading;
      const { organizationId } = head;
      const [now, readAt] = [clock(), monotonic()];
      const reading = read(head, now, readAt);
      kept.set(head.id, { organizationId, now, readAt, reading });
      // What failed is tried again.
      reading.catch(() => kept.delete(head.id));
      return reading;
    },
    /** What was read of this organization's pages holds no more. */
    drop(organizationId: string) {
      for (const [id, one] of kept) if (one.organizationId === organizationId) kept.delete(id);
    },
  };
}
