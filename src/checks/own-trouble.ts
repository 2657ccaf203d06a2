import { networkInterfaces } from "node:os";
import type { Clock } from "../base/clock.ts";
import { isLoopback } from "../base/target-guard.ts";

/** Checks that ran while the process stood still for so long say nothing about their targets. */
const stallMs = 700;
/** A wall clock that moved so much against the monotonic one was set, or the machine slept. */
const jumpMs = 2_000;
const remembered = 32;

/** Notices when this appliance itself was the trouble. */
export type TroubleWatch = {
  /** To be called several times a second: what is late then was late for everybody. */
  tick(): void;
  /** What was wrong here at any moment between the two (monotonic milliseconds); null for nothing. */
  during(from: number, to: number): string | null;
};

/** Watches the event loop and the clocks. */
export function troubleWatch(clock: Clock, monotonic: Clock): TroubleWatch {
  const troubles: { from: number; to: number; what: string }[] = [];
  let last = monotonic();
  let offset = clock() - last;
  return {
    tick() {
      const now = monotonic();
      const what = troubleAt(now);
      if (what !== null) troubles.push({ from: last, to: now, what });
      if (troubles.length > remembered) troubles.shift();
      last = now;
      offset = clock() - now;
    },
    during(from, to) {
      // The timer of a check may run before the tick that would have noticed the stall.
      const unnoticed = to > last ? troubleAt(monotonic()) : null;
      if (unnoticed !== null) return unnoticed;
      return troubles.find((trouble) => trouble.from < to && trouble.to > from)?.what ?? null;
    },
  };

  function troubleAt(now: number): string | null {
    if (now - last > stallMs) return "this appliance stood still for a moment";
    if (Math.abs(clock() - now - offset) > jumpMs) return "the clock of this machine jumped";
    return null;
  }
}

/** Whether this machine has no network interface that could reach the address: its own network is gone. */
export function lacksNetworkFor(address: string): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  if (isLoopback(address)) return !interfaces.some(({ internal }) => internal);
  const family = address.includes(":") ? "IPv6" : "IPv4";
  return !interfaces.some(
    (own) => own.family === family && !own.internal && !own.address.startsWith("fe80:"),
  );
}
