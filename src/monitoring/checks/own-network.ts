import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

export const families = ["IPv4", "IPv6"] as const;
export type Family = (typeof families)[number];

let interfaces: NetworkInterfaceInfo[] | null = null;

/**
 * Addresses of interfaces that are up and have a carrier; null where the system can't read them, as with a
 * full file table. Read once in a turn of the event loop, however many checks fail in it.
 */
export function interfacesNow(): NetworkInterfaceInfo[] | null {
  if (interfaces !== null) return interfaces;
  try {
    interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  } catch {
    return null;
  }
  setImmediate(() => (interfaces = null));
  return interfaces;
}

/** Families with an address that reaches more than this machine and its link. */
export const usableFamilies = (all: readonly NetworkInterfaceInfo[]): ReadonlySet<Family> =>
  new Set(
    all
      .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
      .map(({ family }) => family),
  );

/** The families that can be used now; null where that can't be read. */
export type ReadNetwork = () => ReadonlySet<Family> | null;

export function readNetwork(): ReturnType<ReadNetwork> {
  const all = interfacesNow();
  return all && usableFamilies(all);
}
