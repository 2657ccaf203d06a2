import { requestBounds } from "../../core/limits.ts";
import type { Store } from "../../database/store.ts";
import type { ApiResponse } from "./api-response.ts";

export type ResponseCache = ReturnType<typeof createResponseCache>;

type ReadRevision = { revision: string | null };
/** Tables that a response depends on; all tables if undefined. */
type Tables = readonly string[] | undefined;
/** A cached response. Streamed responses are not cached. */
type CachedResponse = ApiResponse & { body: string };

/** Maximum characters of all entries. When they exceed it, the cache is cleared. */
const maxCharacters = requestBounds.cachedResponses.value;

/**
 * Caches responses until any process writes to one of their tables. A request of a polling client then costs only a
 * lookup.
 */
export function createResponseCache(store: Store) {
  const responses = new Map<string, { revision: string; response: CachedResponse }>();
  let size = 0;

  function remove(key: string) {
    const known = responses.get(key);
    if (known === undefined) return;
    size -= key.length + known.response.body.length;
    responses.delete(key);
  }

  return {
    /** Returns the cached response, or the revision before its rows are read, which `set` needs. */
    get(key: string, tables?: Tables): ApiResponse | ReadRevision {
      const revision = store.revision(tables);
      const known = responses.get(key);
      if (known !== undefined && known.revision === revision) return known.response;
      remove(key);
      return { revision };
    },
    /** Caches a response, unless the tables have changed since the revision was read. */
    set(key: string, read: ReadRevision, response: ApiResponse, tables?: Tables) {
      const { revision } = read;
      const { body } = response;
      if (typeof body !== "string") return;
      if (revision === null || revision !== store.revision(tables)) return;
      remove(key);
      size += key.length + body.length;
      if (size > maxCharacters) {
        responses.clear();
        size = 0;
      } else responses.set(key, { revision, response: response as CachedResponse });
    },
  };
}
