import type { Store } from "../../../database/store.ts";
import type { LoggedEvent } from "../../../events/catalog.ts";

/** Caches the additional certificate authorities of each organization, in PEM, until its settings change. */
export function createAuthoritiesCache(store: Store) {
  const known = new Map<string, Promise<string | null>>();

  async function readAuthorities(organizationId: string): Promise<string | null> {
    const [row] = await store.query<{ authorities: string | null }>(
      "select certificate_authorities as authorities from organization_settings where organization_id = ?",
      [organizationId],
    );
    return row?.authorities ?? null;
  }

  return {
    /** Returns the authorities; null if there are none. A failed read rejects and is not cached. */
    of(organizationId: string): Promise<string | null> {
      const found = known.get(organizationId);
      if (found !== undefined) return found;
      const reading = readAuthorities(organizationId);
      known.set(organizationId, reading);
      reading.catch(() => known.get(organizationId) === reading && known.delete(organizationId));
      return reading;
    },
    /** Removes the cached authorities of an organization. */
    forget: (organizationId: string) => void known.delete(organizationId),
    take(events: readonly LoggedEvent[]) {
      for (const { type, organizationId } of events)
        if (type === "settings.updated") known.delete(organizationId);
    },
  };
}
