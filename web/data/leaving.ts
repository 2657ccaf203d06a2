import { external } from "./external.ts";

/** Ids of records that are being deleted: gone from every list unless that is taken back. */
const store = external<ReadonlySet<string>>(new Set());

export const useLeaving = store.use;

export const leave = (id: string) => store.set(new Set([...store.get(), id]));

export const stay = (id: string) =>
  store.set(new Set([...store.get()].filter((other) => other !== id)));
