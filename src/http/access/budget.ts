import { rateLimitError } from "../../core/errors.ts";

/** Creates a budget of `all` bytes or other units, of which each client can reserve up to `each`. */
export function createBudget(all: number, each: number) {
  const reserved = new Map<string, number>();
  let sum = 0;
  function add(client: string, amount: number) {
    sum += amount;
    const reservedByClient = (reserved.get(client) ?? 0) + amount;
    if (reservedByClient > 0) reserved.set(client, reservedByClient);
    else reserved.delete(client);
  }
  return {
    /** Reserves an amount until the returned function is called. Throws RATE_LIMITED if the budget is exhausted. */
    take(client: string, amount: number): () => void {
      const reservedByClient = (reserved.get(client) ?? 0) + amount;
      if (reservedByClient > each || sum + amount > all) throw rateLimitError(1);
      add(client, amount);
      return () => add(client, -amount);
    },
  };
}
