import type { Store } from "../database/store.ts";
import type { ApiResponse } from "./api-response.ts";

export type ResponseCache = ReturnType<typeof responseCache>;

type ReadRevision = { revision: string | null };

/** Characters kept in all; more than that begins anew. */
const capacity = 8 * 1024 * 1024;

/** Responses that hold until anything is written, by whomever: those who poll pay for a look-up. */
export function responseCache(store: Store) {
  let responses = new Map<string, ApiResponse>();
  let size = 0;
  let known: string | null = null;

  function clear() {
    responses = new Map();
    size = 0;
  }

  function revision() {
    const current = store.revision();
    if (current !== known && size > 0) clear();
    known = current;
    return current;
  }

  return {
    /** The response cached under this key, or the revision that `set` needs, from before its rows are read. */
    get(key: string): ApiResponse | ReadRevision {
      const current = revision();
      return responses.get(key) ?? { revision: current };
    },
    /** Caches a response unless something was written since. */
    set(key: string, read: ReadRevision, response: ApiResponse) {
      if (read.revision === null || read.revision !== revision()) return;
      size += key.length + response.body.length;
      if (size > capacity) clear();
      else responses.set(key, response);
    },
  };
}
