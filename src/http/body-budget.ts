import { rateLimited } from "./rate-limit.ts";

/** Bytes of bodies that may be arriving at a time. */
export type BodyBudget = {
  /** Sets so many bytes aside for this client until what it returns is called. Throws RATE_LIMITED where too many are. */
  take(client: string, bytes: number): () => void;
};

/** `all` bytes in all, `each` for one client: bodies that never end take no more memory than that. */
export function bodyBudget(all: number, each: number): BodyBudget {
  const reserved = new Map<string, number>();
  let sum = 0;
  function add(client: string, bytes: number) {
    sum += bytes;
    const own = (reserved.get(client) ?? 0) + bytes;
    if (own > 0) reserved.set(client, own);
    else reserved.delete(client);
  }
  return {
    take(client, bytes) {
      const own = (reserved.get(client) ?? 0) + bytes;
      if (own > each || sum + bytes > all) throw rateLimited(1);
      add(client, bytes);
      return () => add(client, -bytes);
    },
  };
}
