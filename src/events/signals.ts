import { EventEmitter } from "node:events";

export type StoredResult = { monitorId: string; at: string };

/** Changes without an event, signaled within this process after their write. */
export type Signals = EventEmitter<{
  /** Results of checks were written. */
  results: [organizationId: string, results: readonly StoredResult[]];
  /** Deliveries to alert channels were created, attempted or postponed. */
  deliveries: [organizationId: string];
}>;

export const createSignals = (): Signals => new EventEmitter();
