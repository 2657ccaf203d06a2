import type { Clock } from "../../core/clock.ts";
import { isLoopback } from "../../core/target-guard.ts";
import { hasFileHandles, noFileHandles } from "../../core/outgoing/file-handles.ts";
import {
  families,
  type Family,
  interfacesNow,
  readNetwork,
  type ReadNetwork,
  usableFamilies,
} from "./own-network.ts";

/** How often the watch is looked at, at least. */
export const tickMs = 200;
/** A tick that is late by less than this is no stall. */
const latenessMs = 100;
/** A wall clock that moved so much against the monotonic one was set, or the machine slept. */
const jumpMs = 2_000;
/** A standstill of this length can keep a report from arriving: a job waits a few seconds for the answer. */
const interruptionMs = 2_000;
/** A network that has just returned is not usable at once: carrier, address resolution and routes take a moment. */
const settlingMs = 2_000;
const remembered = 64;

/** Notices when this appliance itself was the trouble: its event loop, its clocks or its network. */
export type TroubleWatch = ReturnType<typeof troubleWatch>;

type Trouble = { from: number; to: number; jumped: boolean };
/** What a check and a report need of this machine: addresses of a family, and free file handles. */
type Resource = Family | "file handles";
/** A time without a resource; `to` is Infinity while it lasts. */
type Gap = { resource: Resource; from: number; to: number };
/** The latest time in which no report could arrive, and why. */
type Interruption = { until: number; reason: string };

/** What the system tells about this machine now. */
const noNetwork = "this machine had no network";

export type Machine = { network: ReadNetwork; hasHandles: () => boolean };
const thisMachine: Machine = { network: readNetwork, hasHandles: hasFileHandles };

/** The one detector of standstills, jumps of the clock and a lost network, for checks, push monitors and reminders. */
export function troubleWatch(
  clock: Clock,
  monotonic: Clock,
  { network, hasHandles }: Machine = thisMachine,
) {
  const troubles: Trouble[] = [];
  let gaps: Gap[] = [];
  let last = monotonic();
  let offset = clock() - last;
  let standstill: Interruption | null = null;
  /** Wall-clock time since which this process has run without a standstill. */
  let runningSince = clock();
  /** Families that were usable at some time: what a machine never had is no trouble. */
  const seen = new Set<Family>();

  function since(now: number): Trouble | null {
    const jumped = Math.abs(clock() - now - offset) > jumpMs;
    const stalled = now - last > tickMs + latenessMs;
    return jumped || stalled ? { from: jumped ? last : last + tickMs, to: now, jumped } : null;
  }

  function noteStandstill({ from, to, jumped }: Trouble) {
    // A clock that was set back shows no standstill.
    const isForward = jumped && clock() - to - offset > jumpMs;
    if (!isForward && to - from < interruptionMs) return;
    standstill = { until: to, reason: "this appliance stood still" };
    runningSince = clock();
  }

  function note(resource: Resource, isThere: boolean, now: number) {
    const open = gaps.find((gap) => gap.resource === resource && gap.to === Infinity);
    if (isThere && open !== undefined) open.to = now;
    if (!isThere && open === undefined) gaps.push({ resource, from: last, to: Infinity });
    if (gaps.length > remembered) gaps = gaps.slice(-remembered);
  }

  function lookAtMachine(now: number) {
    note("file handles", hasHandles(), now);
    const usable = network();
    // Unreadable, as with a full file table: what was known before still counts.
    if (usable === null) return;
    for (const family of families) {
      if (usable.has(family)) seen.add(family);
      if (seen.has(family)) note(family, usable.has(family), now);
    }
  }

  /** Gaps that overlap a time, the moment after each of them included. */
  const gapsOf = (resource: Resource, from: number, to: number) =>
    gaps.filter((gap) => gap.resource === resource && gap.from <= to && gap.to + settlingMs > from);

  const lackedAll = (from: number, to: number) =>
    seen.size > 0 && [...seen].every((family) => gapsOf(family, from, to).length > 0);

  const endOf = (resource: Resource, from: number, to: number) =>
    Math.max(-Infinity, ...gapsOf(resource, from, to).map((gap) => gap.to));

  /** Whether the machine had no network that could reach these addresses; none at all, where there are no addresses. */
  function lackedNetwork(addresses: readonly string[], from: number, now: number): boolean {
    if (addresses.length === 0) return lackedAll(from, now);
    const usable = network();
    return addresses.every((address) => {
      if (isLoopback(address)) return lacksNetworkFor(address);
      const family = familyOf(address);
      return usable?.has(family) === false || gapsOf(family, from, now).length > 0;
    });
  }

  return {
    /** To be called every `tickMs`: what is late then was late for everybody. */
    tick() {
      const now = monotonic();
      const trouble = since(now);
      if (trouble !== null) {
        troubles.push(trouble);
        noteStandstill(trouble);
      }
      if (troubles.length > remembered) troubles.shift();
      lookAtMachine(now);
      last = now;
      offset = clock() - now;
    },
    /**
     * What was wrong here between the two (monotonic milliseconds); null where the process stood still
     * for no more than `toleratedMs` in all and the clock did not jump.
     */
    during(from: number, to: number, toleratedMs: number): string | null {
      // The timer of a check may run before the tick that would notice the stall.
      const unnoticed = since(monotonic());
      const met = [...troubles, ...(unnoticed === null ? [] : [unnoticed])].filter(
        (trouble) => trouble.from < to && trouble.to > from,
      );
      if (met.some(({ jumped }) => jumped)) return "the clock of this machine jumped";
      const stalledMs = met.reduce((sum, trouble) => sum + trouble.to - trouble.from, 0);
      return stalledMs > toleratedMs ? "this appliance stalled for a moment" : null;
    },
    /**
     * Why nothing can be said about these addresses, of which the machine lacked something at any time since
     * `from`; null where it did not. Without addresses, as where a name could not be resolved, it is about any network.
     */
    lackedFor(addresses: readonly string[], from: number): string | null {
      const now = monotonic();
      lookAtMachine(now);
      if (gapsOf("file handles", from, now).length > 0) return noFileHandles;
      return lackedNetwork(addresses, from, now) ? noNetwork : null;
    },
    /** Why no report could arrive for a part of the time since `from`, and until when that was so; null where it could. */
    interruptionSince(from: number): Interruption | null {
      const now = monotonic();
      lookAtMachine(now);
      const unnoticed = since(now);
      if (unnoticed !== null) noteStandstill(unnoticed);
      const networkUntil = lackedAll(from, now)
        ? Math.min(...[...seen].map((family) => endOf(family, from, now)))
        : -Infinity;
      const met: Interruption[] = [
        { until: networkUntil, reason: noNetwork },
        { until: endOf("file handles", from, now), reason: noFileHandles },
        ...(standstill === null ? [] : [standstill]),
      ];
      const latest = met.reduce((one, other) => (other.until > one.until ? other : one));
      return latest.until > from ? latest : null;
    },
    /** Unix milliseconds since which this process has run without a standstill. */
    runningSince: () => runningSince,
  };
}

const familyOf = (address: string): Family => (address.includes(":") ? "IPv6" : "IPv4");

/** Whether this machine has no network interface that could reach the address. */
export function lacksNetworkFor(address: string): boolean {
  const all = interfacesNow();
  if (all === null) return false;
  if (isLoopback(address)) return !all.some(({ internal }) => internal);
  return !usableFamilies(all).has(familyOf(address));
}
