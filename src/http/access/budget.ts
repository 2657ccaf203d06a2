import { rateLimited } from "../../core/errors.ts";

/** Shares `all` bytes, or another amount, among clients; each client can reserve `each`. */
export function budget(all: number, each: number) {
  const reserved = new Map<string, number>();
  let sum = 0;
  function add(client: string, amount: number) {
    sum += amount;
    const own = (reserved.get(client) ?? 0) + amount;
    if (own > 0) reserved.set(client, own);
    else reserved.delete(client);
  }
  return {
    /** Reserves an amount until the returned function is called. Throws RATE_LIMITED if too much is reserved. */
    take(client: string, amount: number): () => void {
      const own = (reserved.get(client) ?? 0) + amount;
      if (own > each || sum + amount > all) throw rateLimited(1);
      add(client, amount);
      return () => add(client, -amount);
    },
  };
}
