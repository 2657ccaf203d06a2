import { AppError } from "../../src/core/errors.ts";
import type { Store } from "../../src/database/store.ts";
import { writeHealth } from "../../src/database/write-health.ts";

/** A database that accepts writes only while a test allows it, with the test's clock. */
export function unstorable(store: Store, time: { now: number }) {
  const atomic = store.atomic.bind(store);
  const clock = () => time.now;
  Object.assign(store.writes, writeHealth(clock, clock));
  const refused = () =>
    Promise.reject(new AppError("UNAVAILABLE", "The database can't be written right now."));
  return {
    fill: () => void Object.assign(store, { atomic: refused }),
    free: () => void Object.assign(store, { atomic }),
  };
}
