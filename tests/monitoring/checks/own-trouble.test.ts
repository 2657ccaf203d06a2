import { describe, expect, test } from "bun:test";
import { lacksLoopback } from "../../../src/monitoring/checks/engine/own-machine.ts";
import { tickMs, TroubleWatch } from "../../../src/monitoring/checks/engine/own-trouble.ts";

const stoodStill = "Signalbox was briefly blocked and could not check";
const jumped = "the clock of this machine jumped";

/** A watch over test clocks: `now` is monotonic, `wall` is the wall clock. */
function createTroubleWatch() {
  const time = { now: 5_000, wall: 1_000_000 };
  const watch = new TroubleWatch(
    () => time.wall,
    () => time.now,
  );
  const advance = (ms: number) => {
    time.now += ms;
    time.wall += ms;
  };
  return {
    watch,
    time,
    advance,
    /** Advances the clocks normally, with regular ticks of the watch. */
    passWithTicks: (ms: number) => {
      for (let left = ms; left > 0; left -= tickMs) {
        advance(Math.min(left, tickMs));
        watch.tick();
      }
    },
    /** Stalls the process for this time. */
    stall: (ms: number) => {
      advance(ms);
      watch.tick();
    },
  };
}

describe("a stall of the appliance", () => {
  test("is detected for its time and for no other", () => {
    const { watch, passWithTicks: calmly, stall, time } = createTroubleWatch();
    calmly(1_000);
    const from = time.now;
    stall(3_000);
    const to = time.now;
    calmly(5_000);
    expect(watch.findTroubleDuring(from, to, 700)).toBe(stoodStill);
    expect(watch.findTroubleDuring(from - 500, from + 1_000, 700)).toBe(stoodStill);
    expect(watch.findTroubleDuring(to - 1, to + 500, 700)).toBe(stoodStill);
    expect(watch.findTroubleDuring(from - 1_000, from, 0)).toBeNull();
    expect(watch.findTroubleDuring(to, time.now, 0)).toBeNull();
  });

  test("is detected before the next tick", () => {
    const { watch, passWithTicks: calmly, advance, time } = createTroubleWatch();
    calmly(1_000);
    advance(2_000);
    expect(watch.findTroubleDuring(time.now - 2_000, time.now, 700)).toBe(stoodStill);
  });

  test("is added to other stalls", () => {
    const { watch, passWithTicks: calmly, stall, time } = createTroubleWatch();
    const from = time.now;
    for (let times = 0; times < 3; times++) {
      stall(600);
      calmly(1_000);
    }
    expect(watch.findTroubleDuring(from, time.now, 1_199)).toBe(stoodStill);
    expect(watch.findTroubleDuring(from, time.now, 1_200)).toBeNull();
  });

  test("is ignored below the tolerance, as are slightly late ticks", () => {
    const { watch, passWithTicks: calmly, stall, time } = createTroubleWatch();
    const from = time.now;
    stall(tickMs + 100);
    calmly(1_000);
    expect(watch.findTroubleDuring(from, time.now, 0)).toBeNull();
    stall(tickMs + 101);
    expect(watch.findTroubleDuring(from, time.now, 0)).toBe(stoodStill);
    expect(watch.findTroubleDuring(from, time.now, 101)).toBeNull();
  });
});

describe("a clock that jumped", () => {
  for (const [direction, ms] of [
    ["forward, as after a machine's sleep,", 3_600_000],
    ["back", -10_000],
  ] as const)
    test(`${direction} is detected for its time and for no other`, () => {
      const { watch, passWithTicks: calmly, time } = createTroubleWatch();
      calmly(1_000);
      const before = time.now;
      time.wall += ms;
      calmly(200);
      const after = time.now;
      calmly(5_000);
      expect(watch.findTroubleDuring(before - 500, after + 300, 60_000)).toBe(jumped);
      expect(watch.findTroubleDuring(before - 1_000, before, 0)).toBeNull();
      expect(watch.findTroubleDuring(after, time.now, 0)).toBeNull();
      watch.tick();
      expect(watch.findTroubleDuring(after, time.now, 0)).toBeNull();
    });

  test("is detected at once, also for a check that ends right after it", () => {
    const { watch, passWithTicks: calmly, advance, time } = createTroubleWatch();
    calmly(1_000);
    advance(20);
    time.wall += 3_600_000;
    advance(20);
    expect(watch.findTroubleDuring(time.now - 100, time.now, 60_000)).toBe(jumped);
    watch.tick();
    expect(watch.findTroubleDuring(time.now - 100, time.now, 60_000)).toBe(jumped);
  });

  test("by less than two seconds is ignored, because clocks are corrected regularly", () => {
    const { watch, passWithTicks: calmly, time } = createTroubleWatch();
    const from = time.now;
    for (let times = 0; times < 10; times++) {
      time.wall += 1_900;
      calmly(1_000);
      time.wall -= 1_900;
      calmly(1_000);
    }
    expect(watch.findTroubleDuring(from, time.now, 0)).toBeNull();
  });
});

test("without trouble nothing is reported, and old trouble is removed to limit memory", () => {
  const { watch, passWithTicks: calmly, stall, time } = createTroubleWatch();
  const from = time.now;
  calmly(60_000);
  expect(watch.findTroubleDuring(from, time.now, 0)).toBeNull();
  for (let times = 0; times < 1_000; times++) stall(1_000);
  expect(watch.findTroubleDuring(time.now - 5_000, time.now, 700)).toBe(stoodStill);
  expect(watch.findTroubleDuring(from, from + 61_000, 700)).toBeNull();
});

test("loopback needs no network", () => {
  expect(lacksLoopback()).toBe(false);
  const noNetwork = { network: () => new Set<never>(), hasHandles: () => true };
  const watch = new TroubleWatch(Date.now, Date.now, noNetwork);
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    expect([address, watch.findLackFor([address], Date.now())]).toEqual([address, null]);
});

test("a missing resource is reported with its start, and no longer once it is back", () => {
  const world = { now: 0, network: true, handles: true };
  const clock = () => 1_000_000 + world.now;
  const watch = new TroubleWatch(clock, () => world.now, {
    network: () => new Set(world.network ? (["IPv4"] as const) : []),
    hasHandles: () => world.handles,
  });
  const advance = (ms: number) => {
    for (let elapsed = 0; elapsed < ms; elapsed += tickMs) {
      world.now += tickMs;
      watch.tick();
    }
  };
  advance(1_000);
  expect(watch.findCurrentLack()).toBeNull();
  world.network = false;
  const lostAt = clock();
  advance(5_000);
  expect(watch.findCurrentLack()).toEqual({ resource: "network", since: lostAt });
  world.handles = false;
  advance(1_000);
  expect(watch.findCurrentLack()?.resource).toBe("file handles");
  world.network = true;
  world.handles = true;
  advance(1_000);
  expect(watch.findCurrentLack()).toBeNull();
});
