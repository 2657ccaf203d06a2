/** Detects faults of this appliance that invalidate check results: stalls, clock jumps and missing resources. */
import type { Clock } from "../../../core/time/clock.ts";
import { type Interruption, type Machine, MachineWatch, thisMachine } from "./own-machine.ts";

/** Maximum time between two ticks. */
export const tickMs = 200;
/** Lateness of a tick above which it counts as a stall. */
const latenessMs = 100;
/** Change between wall clock and monotonic clock above which the clock was set or the machine slept. */
const jumpMs = 2_000;
/** Standstill after which a report can be lost, because jobs wait only a few seconds for the response. */
const interruptionMs = 2_000;
const maxTroubles = 64;

type OwnLack = { resource: "network" | "file handles"; since: number };

type TroubleSpan = { from: number; to: number; hasJumped: boolean };

/** Detects standstills, clock jumps and a lost network, for checks, push monitors and reminders. */
export class TroubleWatch {
  private readonly clock: Clock;
  private readonly monotonic: Clock;
  private readonly machine: MachineWatch;
  private readonly troubles: TroubleSpan[] = [];
  private lastTick: number;
  /** Wall clock minus monotonic clock at the last tick. */
  private offset: number;
  private standstill: Interruption | null = null;
  /** Unix milliseconds of the end of the last standstill, or of the start of this process. */
  runningSince: number;

  constructor(clock: Clock, monotonic: Clock, machine: Machine = thisMachine) {
    this.clock = clock;
    this.monotonic = monotonic;
    this.machine = new MachineWatch(machine);
    this.lastTick = monotonic();
    this.offset = clock() - this.lastTick;
    this.runningSince = clock();
  }

  /** Must be called every `tickMs`. A late call shows that the event loop was blocked. */
  tick() {
    const now = this.monotonic();
    const trouble = this.detectTrouble(now);
    if (trouble !== null) {
      this.troubles.push(trouble);
      this.recordStandstill(trouble);
    }
    if (this.troubles.length > maxTroubles) this.troubles.shift();
    this.machine.inspect(now, this.lastTick);
    this.lastTick = now;
    this.offset = this.clock() - now;
  }

  /**
   * Returns why results between two monotonic times are unreliable: a clock jump, or stalls of more than
   * `toleratedMs` in total. Null if they are reliable.
   */
  findTroubleDuring(from: number, to: number, toleratedMs: number): string | null {
    // After a stall, the timer of a check can run before the tick that records the stall.
    const unnoticed = this.detectTrouble(this.monotonic());
    const overlapping = [...this.troubles, ...(unnoticed === null ? [] : [unnoticed])].filter(
      (trouble) => trouble.from < to && trouble.to > from,
    );
    if (overlapping.some(({ hasJumped }) => hasJumped)) return "the clock of this machine jumped";
    const stalledMs = overlapping.reduce((sum, trouble) => sum + trouble.to - trouble.from, 0);
    return stalledMs > toleratedMs ? "Signalbox was briefly blocked and could not check" : null;
  }

  /**
   * Names a resource that connections to these addresses lacked since `from`, so that a failure proves nothing. Null
   * if they lacked none. Without addresses, as after a failed lookup, any usable network suffices.
   */
  findLackFor(addresses: readonly string[], from: number): string | null {
    const now = this.monotonic();
    this.machine.inspect(now, this.lastTick);
    return this.machine.findLackFor(addresses, from, now);
  }

  /** Returns the missing resource and the start of the gap in Unix milliseconds; null if nothing is missing. */
  findCurrentLack(): OwnLack | null {
    const lack = this.machine.findCurrentLack();
    if (lack === null) return null;
    return { resource: lack.resource, since: this.clock() - (this.monotonic() - lack.from) };
  }

  /** Returns the last interruption since `from` in which no report could arrive; null if there is none. */
  findInterruptionSince(from: number): Interruption | null {
    const now = this.monotonic();
    this.machine.inspect(now, this.lastTick);
    const unnoticed = this.detectTrouble(now);
    if (unnoticed !== null) this.recordStandstill(unnoticed);
    const interruptions = this.machine.listInterruptions(from, now);
    if (this.standstill !== null) interruptions.push(this.standstill);
    const latest = interruptions.reduce((one, other) => (other.until > one.until ? other : one));
    return latest.until > from ? latest : null;
  }

  private detectTrouble(now: number): TroubleSpan | null {
    const hasJumped = Math.abs(this.clock() - now - this.offset) > jumpMs;
    const stalled = now - this.lastTick > tickMs + latenessMs;
    const from = hasJumped ? this.lastTick : this.lastTick + tickMs;
    return hasJumped || stalled ? { from, to: now, hasJumped } : null;
  }

  private recordStandstill({ from, to, hasJumped }: TroubleSpan) {
    // A clock that was set back does not mean a standstill.
    const isForward = hasJumped && this.clock() - to - this.offset > jumpMs;
    if (!isForward && to - from < interruptionMs) return;
    this.standstill = { until: to, reason: "this appliance stood still" };
    this.runningSince = this.clock();
  }
}
