import { requestBounds } from "../../core/limits.ts";
import type { Store } from "../../database/store.ts";
import type { ApiResponse } from "./api-response.ts";

export type ResponseCache = ReturnType<typeof responseCache>;

type ReadRevision = { revision: string | null };
/** The tables that a response is made of; all of them, where none are named. */
type Tables = readonly string[] | undefined;
/** A response in memory; one that is written while it is sent is not cached. */
type Cached = ApiResponse & { body: string };

/** Characters kept in all; more than that begins anew. */
const capacity = requestBounds.cachedResponses.value;

/** Responses that hold until what they are made of is written, by whomever: those who poll pay for a look-up. */
export function responseCache(store: Store) {
  const responses = new Map<string, { revision: string; response: Cached }>();
  let size = 0;

  function remove(key: string) {
    const known = responses.get(key);
    if (known === undefined) return;
    size -= key.length + known.response.body.length;
    responses.delete(key);
  }

  return {
    /** The response cached under this key, or the revision that `set` needs, from before its rows are read. */
    get(key: string, tables?: Tables): ApiResponse | ReadRevision {
      const revision = store.revision(tables);
      const known = responses.get(key);
      if (known !== undefined && known.revision === revision) return known.response;
      remove(key);
      return { revision };
    },
    /** Caches a response unless something was written since. */
    set(key: string, read: ReadRevision, response: ApiResponse, tables?: Tables) {
      const { revision } = read;
      const { body } = response;
      if (typeof body !== "string") return;
      if (revision === null || revision !== store.revision(tables)) return;
      remove(key);
      size += key.length + body.length;
      if (size > capacity) {
        responses.clear();
        size = 0;
      } else responses.set(key, { revision, response: response as Cached });
    },
  };
}
