/** Notices when this appliance itself was the trouble: its event loop, its clocks or its machine. */
import type { Clock } from "../../../core/time/clock.ts";
import { type Interruption, type Machine, MachineWatch, thisMachine } from "./own-machine.ts";

/** Longest time between two ticks of a watch. */
export const tickMs = 200;
/** A tick that is late by less than this is no stall. */
const latenessMs = 100;
/** Difference between the wall clock and the monotonic clock from which on the clock was set, or the machine slept. */
const jumpMs = 2_000;
/** A standstill of this length can keep a report from arriving: a job waits a few seconds for the response. */
const interruptionMs = 2_000;
const maxTroubles = 64;

export type OwnLack = { resource: "network" | "file handles"; since: number };

type Trouble = { from: number; to: number; jumped: boolean };

/** The one detector of standstills, jumps of the clock and a lost network, for checks, push monitors and reminders. */
export class TroubleWatch {
  private readonly clock: Clock;
  private readonly monotonic: Clock;
  private readonly machine: MachineWatch;
  private readonly troubles: Trouble[] = [];
  private lastTick: number;
  /** Wall clock minus monotonic clock at the last tick. */
  private offset: number;
  private standstill: Interruption | null = null;
  /** Unix milliseconds since which this process has run without a standstill. */
  runningSince: number;

  constructor(clock: Clock, monotonic: Clock, machine: Machine = thisMachine) {
    this.clock = clock;
    this.monotonic = monotonic;
    this.machine = new MachineWatch(machine);
    this.lastTick = monotonic();
    this.offset = clock() - this.lastTick;
    this.runningSince = clock();
  }

  /** Must be called every `tickMs`: a late tick means that everything else was late, too. */
  tick() {
    const now = this.monotonic();
    const trouble = this.troubleUntil(now);
    if (trouble !== null) {
      this.troubles.push(trouble);
      this.noteStandstill(trouble);
    }
    if (this.troubles.length > maxTroubles) this.troubles.shift();
    this.machine.look(now, this.lastTick);
    this.lastTick = now;
    this.offset = this.clock() - now;
  }

  /**
   * The trouble between two times of the monotonic clock, as a reason; null where the process stood still for at
   * most `toleratedMs` in all and the clock did not jump.
   */
  during(from: number, to: number, toleratedMs: number): string | null {
    // The timer of a check can run before the tick that would notice the stall.
    const unnoticed = this.troubleUntil(this.monotonic());
    const met = [...this.troubles, ...(unnoticed === null ? [] : [unnoticed])].filter(
      (trouble) => trouble.from < to && trouble.to > from,
    );
    if (met.some(({ jumped }) => jumped)) return "the clock of this machine jumped";
    const stalledMs = met.reduce((sum, trouble) => sum + trouble.to - trouble.from, 0);
    return stalledMs > toleratedMs ? "this appliance stalled for a moment" : null;
  }

  /**
   * Why a failure at these addresses proves nothing: a resource that the machine lacked at some time since `from`.
   * Null where it lacked none. Without addresses, as after a failed name lookup, any network would do.
   */
  lackedFor(addresses: readonly string[], from: number): string | null {
    const now = this.monotonic();
    this.machine.look(now, this.lastTick);
    return this.machine.lackedFor(addresses, from, now);
  }

  /** What this machine lacks now, and since when in Unix milliseconds; null for nothing. */
  lackedNow(): OwnLack | null {
    const lack = this.machine.lackedNow();
    if (lack === null) return null;
    return { resource: lack.resource, since: this.clock() - (this.monotonic() - lack.from) };
  }

  /** The last interruption since `from` in which no report could arrive; null for none. */
  interruptionSince(from: number): Interruption | null {
    const now = this.monotonic();
    this.machine.look(now, this.lastTick);
    const unnoticed = this.troubleUntil(now);
    if (unnoticed !== null) this.noteStandstill(unnoticed);
    const met = this.machine.interruptions(from, now);
    if (this.standstill !== null) met.push(this.standstill);
    const latest = met.reduce((one, other) => (other.until > one.until ? other : one));
    return latest.until > from ? latest : null;
  }

  private troubleUntil(now: number): Trouble | null {
    const jumped = Math.abs(this.clock() - now - this.offset) > jumpMs;
    const stalled = now - this.lastTick > tickMs + latenessMs;
    const from = jumped ? this.lastTick : this.lastTick + tickMs;
    return jumped || stalled ? { from, to: now, jumped } : null;
  }

  private noteStandstill({ from, to, jumped }: Trouble) {
    // A clock that was set back shows no standstill.
    const isForward = jumped && this.clock() - to - this.offset > jumpMs;
    if (!isForward && to - from < interruptionMs) return;
    this.standstill = { until: to, reason: "this appliance stood still" };
    this.runningSince = this.clock();
  }
}
