/** Records when this machine lacked a network or file handles, which checks and push reports need. */
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { hasFileHandles, noFileHandlesReason } from "../../../core/outgoing/file-handles.ts";
import { isLoopback } from "../../../core/security/target-guard.ts";

const families = ["IPv4", "IPv6"] as const;
type Family = (typeof families)[number];
type Resource = Family | "file handles";

export type Machine = {
  /** Address families that are usable now; null if the system can't list its interfaces. */
  network: () => ReadonlySet<Family> | null;
  hasHandles: () => boolean;
};
export const thisMachine: Machine = { network: listUsableFamilies, hasHandles: hasFileHandles };

/** A period without a resource, in monotonic milliseconds. `to` is Infinity while it lasts. */
type Gap = { resource: Resource; from: number; to: number };
/** End of a period in which no report could arrive, and its reason. */
export type Interruption = { until: number; reason: string };

/** Time after which a returned network is usable: carrier, address resolution and routes take a moment. */
const settlingMs = 2_000;
const maxGaps = 64;
const noNetworkReason = "this machine had no network";

/** Tracks gaps in the resources of one machine. All times are monotonic milliseconds. */
export class MachineWatch {
  private gaps: Gap[] = [];
  /** Families that were usable at some time. A family that the machine never had is not missing. */
  private readonly seenFamilies = new Set<Family>();
  private readonly machine: Machine;

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** Reads the state of the machine. A new gap is assumed to have started at `before`. */
  inspect(now: number, before: number) {
    this.recordGap("file handles", this.machine.hasHandles(), now, before);
    const usable = this.machine.network();
    // Interfaces can be unreadable, for example with a full file table. The last known state stays.
    if (usable === null) return;
    for (const family of families) {
      if (usable.has(family)) this.seenFamilies.add(family);
      if (this.seenFamilies.has(family)) this.recordGap(family, usable.has(family), now, before);
    }
  }

  /**
   * Names a resource that connections to these addresses lacked; null if they lacked none. Without addresses, any
   * usable network suffices.
   */
  findLackFor(addresses: readonly string[], from: number, now: number): string | null {
    if (this.listGaps("file handles", from, now).length > 0) return noFileHandlesReason;
    return this.hasLackedNetwork(addresses, from, now) ? noNetworkReason : null;
  }

  /** Returns the missing resource and the start of the gap; null if nothing is missing. */
  findCurrentLack(): { resource: "network" | "file handles"; from: number } | null {
    const open = this.gaps.filter(({ to }) => to === Infinity);
    const handles = open.find(({ resource }) => resource === "file handles");
    if (handles !== undefined) return { resource: "file handles", from: handles.from };
    const families = open.filter(({ resource }) => resource !== "file handles");
    if (families.length === 0 || families.length < this.seenFamilies.size) return null;
    return { resource: "network", from: Math.max(...families.map(({ from }) => from)) };
  }

  listInterruptions(from: number, now: number): Interruption[] {
    const networkUntil = this.hasLackedAll(from, now)
      ? Math.min(...[...this.seenFamilies].map((family) => this.findGapEnd(family, from, now)))
      : -Infinity;
    return [
      { until: networkUntil, reason: noNetworkReason },
      { until: this.findGapEnd("file handles", from, now), reason: noFileHandlesReason },
    ];
  }

  private recordGap(resource: Resource, isThere: boolean, now: number, before: number) {
    const open = this.gaps.find((gap) => gap.resource === resource && gap.to === Infinity);
    if (isThere && open !== undefined) open.to = now;
    if (!isThere && open === undefined)
      this.gaps = [...this.gaps, { resource, from: before, to: Infinity }].slice(-maxGaps);
  }

  /** Returns the gaps that overlap a period. A gap lasts `settlingMs` longer than recorded. */
  private listGaps(resource: Resource, from: number, to: number) {
    return this.gaps.filter(
      (gap) => gap.resource === resource && gap.from <= to && gap.to + settlingMs > from,
    );
  }

  private hasLackedAll(from: number, to: number): boolean {
    const { seenFamilies: seen } = this;
    return seen.size > 0 && [...seen].every((family) => this.listGaps(family, from, to).length > 0);
  }

  private findGapEnd(resource: Resource, from: number, to: number): number {
    return Math.max(-Infinity, ...this.listGaps(resource, from, to).map((gap) => gap.to));
  }

  private hasLackedNetwork(addresses: readonly string[], from: number, now: number): boolean {
    if (addresses.length === 0) return this.hasLackedAll(from, now);
    const usable = this.machine.network();
    return addresses.every((address) => {
      if (isLoopback(address)) return lacksLoopback();
      const family = address.includes(":") ? "IPv6" : "IPv4";
      return usable?.has(family) === false || this.listGaps(family, from, now).length > 0;
    });
  }
}

let interfaces: NetworkInterfaceInfo[] | null = null;

/**
 * Lists the addresses of interfaces that are up and have a carrier. Returns null if the system can't list them, for
 * example with a full file table. Caches the list for one turn of the event loop, in which many checks can fail.
 */
function readInterfaces(): NetworkInterfaceInfo[] | null {
  if (interfaces !== null) return interfaces;
  try {
    interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  } catch {
    return null;
  }
  setImmediate(() => (interfaces = null));
  return interfaces;
}

/** Returns the families with an address that is neither loopback nor link-local. */
function listUsableFamilies(): ReadonlySet<Family> | null {
  const usable = readInterfaces()?.filter(
    ({ internal, address }) => !internal && !address.startsWith("fe80:"),
  );
  return usable === undefined ? null : new Set(usable.map(({ family }) => family));
}

/** Whether this machine has no loopback interface; false if the system can't list its interfaces. */
export function lacksLoopback(): boolean {
  return readInterfaces()?.some(({ internal }) => internal) === false;
}
