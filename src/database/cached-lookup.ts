import { cachePerStore, type Store } from "./store.ts";

/** Maximum cached records per lookup and store. */
const maxCachedRecords = 1_000;

/**
 * Caches the records that requests with a token look up, until the next write to one of the tables. Unknown tokens are
 * not cached. Without a revision of the store, every request reads.
 */
export function cacheLookup<T extends object>(
  tables: readonly string[],
  read: (store: Store, key: string) => Promise<T | null>,
) {
  const cacheOf = cachePerStore(() => ({ revision: "", records: new Map<string, T>() }));
  return async (store: Store, key: string): Promise<T | null> => {
    const revision = store.revision(tables);
    const cache = cacheOf(store);
    if (revision !== null && cache.revision === revision) {
      const known = cache.records.get(key);
      if (known !== undefined) return known;
    }
    const found = await read(store, key);
    if (found === null || revision === null || store.revision(tables) !== revision) return found;
    if (cache.revision !== revision || cache.records.size >= maxCachedRecords)
      cache.records.clear();
    cache.revision = revision;
    cache.records.set(key, found);
    return found;
  };
}
