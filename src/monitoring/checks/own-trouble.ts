import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import type { Clock } from "../../core/clock.ts";
import { isLoopback } from "../../core/target-guard.ts";

/** How often the watch is looked at, at least. */
export const tickMs = 200;
/** A tick that is late by less than this is no stall. */
const latenessMs = 100;
/** A wall clock that moved so much against the monotonic one was set, or the machine slept. */
const jumpMs = 2_000;
const remembered = 64;

/** Notices when this appliance itself was the trouble. */
export type TroubleWatch = ReturnType<typeof troubleWatch>;

type Trouble = { from: number; to: number; jumped: boolean };

/** Watches the event loop and the clocks. */
export function troubleWatch(clock: Clock, monotonic: Clock) {
  const troubles: Trouble[] = [];
  let last = monotonic();
  let offset = clock() - last;

  function since(now: number): Trouble | null {
    const jumped = Math.abs(clock() - now - offset) > jumpMs;
    const stalled = now - last > tickMs + latenessMs;
    return jumped || stalled ? { from: jumped ? last : last + tickMs, to: now, jumped } : null;
  }

  return {
    /** To be called every `tickMs`: what is late then was late for everybody. */
    tick() {
      const now = monotonic();
      const trouble = since(now);
      if (trouble !== null) troubles.push(trouble);
      if (troubles.length > remembered) troubles.shift();
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
  };
}

let interfaces: NetworkInterfaceInfo[] | null = null;

/** Read once in a turn of the event loop: where thousands of checks fail at once, each would ask the system for the same. */
function ownInterfaces(): NetworkInterfaceInfo[] {
  if (interfaces === null) setImmediate(() => (interfaces = null));
  interfaces ??= Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return interfaces;
}

/** Whether this machine has no network interface that could reach the address: its own network is gone. */
export function lacksNetworkFor(address: string): boolean {
  const all = ownInterfaces();
  if (isLoopback(address)) return !all.some(({ internal }) => internal);
  const family = address.includes(":") ? "IPv6" : "IPv4";
  return !all.some(
    (own) => own.family === family && !own.internal && !own.address.startsWith("fe80:"),
  );
}
