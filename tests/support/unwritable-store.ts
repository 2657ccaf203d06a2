import { AppError } from "../../src/core/errors.ts";
import type { Store } from "../../src/database/store.ts";
import { createWriteHealth } from "../../src/database/write-health.ts";

/** A database that accepts writes only while a test allows it, with the test's clock. */
export function makeUnstorable(store: Store, time: { now: number }) {
  const atomic = store.atomic.bind(store);
  const clock = () => time.now;
  Object.assign(store.writes, createWriteHealth(clock, clock));
  const rejectWrite = () =>
    Promise.reject(new AppError("UNAVAILABLE", "The database can't be written right now."));
  return {
    fill: () => void Object.assign(store, { atomic: rejectWrite }),
    free: () => void Object.assign(store, { atomic }),
  };
}
