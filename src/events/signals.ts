import { EventEmitter } from "node:events";

export type StoredResult = { monitorId: string; at: string };

/** What changes without an event, said after its write and within this process alone. */
export type Signals = EventEmitter<{
  /** Results of checks were written. */
  results: [organizationId: string, results: readonly StoredResult[]];
  /** Deliveries to alert channels were made, tried or put off. */
  deliveries: [organizationId: string];
}>;

export const newSignals = (): Signals => new EventEmitter();
