import { EventEmitter } from "node:events";

export type StoredResult = { monitorId: string; at: string };

/** Changes without an event, signaled after their write within this process. */
export type Signals = EventEmitter<{
  /** Results of checks were written. */
  results: [organizationId: string, results: readonly StoredResult[]];
  /** Deliveries to alert channels were created, attempted or delayed. */
  deliveries: [organizationId: string];
}>;

export const newSignals = (): Signals => new EventEmitter();
