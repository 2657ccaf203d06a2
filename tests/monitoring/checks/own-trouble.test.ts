import { describe, expect, test } from "bun:test";
import { lacksLoopback } from "../../../src/monitoring/checks/engine/own-machine.ts";
import { tickMs, TroubleWatch } from "../../../src/monitoring/checks/engine/own-trouble.ts";

const stoodStill = "this appliance stalled for a moment";
const jumped = "the clock of this machine jumped";

/** A watch over clocks that the test sets: `now` only goes forward, `wall` is what the clock shows. */
function watched() {
  const time = { now: 5_000, wall: 1_000_000 };
  const watch = new TroubleWatch(
    () => time.wall,
    () => time.now,
  );
  const pass = (ms: number) => {
    time.now += ms;
    time.wall += ms;
  };
  return {
    watch,
    time,
    pass,
    /** Lets time go by as it should: the watch is looked at in time. */
    calmly: (ms: number) => {
      for (let left = ms; left > 0; left -= tickMs) {
        pass(Math.min(left, tickMs));
        watch.tick();
      }
    },
    /** The process does nothing for so long. */
    stall: (ms: number) => {
      pass(ms);
      watch.tick();
    },
  };
}

describe("an appliance that stood still", () => {
  test("knows it of the time in which it did, and of no other", () => {
    const { watch, calmly, stall, time } = watched();
    calmly(1_000);
    const from = time.now;
    stall(3_000);
    const to = time.now;
    calmly(5_000);
    expect(watch.during(from, to, 700)).toBe(stoodStill);
    expect(watch.during(from - 500, from + 1_000, 700)).toBe(stoodStill);
    expect(watch.during(to - 1, to + 500, 700)).toBe(stoodStill);
    expect(watch.during(from - 1_000, from, 0)).toBeNull();
    expect(watch.during(to, time.now, 0)).toBeNull();
  });

  test("knows it before the next look at the clock", () => {
    const { watch, calmly, pass, time } = watched();
    calmly(1_000);
    pass(2_000);
    expect(watch.during(time.now - 2_000, time.now, 700)).toBe(stoodStill);
  });

  test("knows of all its stalls together", () => {
    const { watch, calmly, stall, time } = watched();
    const from = time.now;
    for (let times = 0; times < 3; times++) {
      stall(600);
      calmly(1_000);
    }
    expect(watch.during(from, time.now, 1_199)).toBe(stoodStill);
    expect(watch.during(from, time.now, 1_200)).toBeNull();
  });

  test("forgives what is tolerated, and looks that are a little late", () => {
    const { watch, calmly, stall, time } = watched();
    const from = time.now;
    stall(tickMs + 100);
    calmly(1_000);
    expect(watch.during(from, time.now, 0)).toBeNull();
    stall(tickMs + 101);
    expect(watch.during(from, time.now, 0)).toBe(stoodStill);
    expect(watch.during(from, time.now, 101)).toBeNull();
  });
});

describe("a clock that jumped", () => {
  for (const [direction, ms] of [
    ["forward, as after a machine's sleep,", 3_600_000],
    ["back", -10_000],
  ] as const)
    test(`${direction} is known of the time in which it did, and of no other`, () => {
      const { watch, calmly, time } = watched();
      calmly(1_000);
      const before = time.now;
      time.wall += ms;
      calmly(200);
      const after = time.now;
      calmly(5_000);
      expect(watch.during(before - 500, after + 300, 60_000)).toBe(jumped);
      expect(watch.during(before - 1_000, before, 0)).toBeNull();
      expect(watch.during(after, time.now, 0)).toBeNull();
      watch.tick();
      expect(watch.during(after, time.now, 0)).toBeNull();
    });

  test("is known at once, also to a check that ends right after it", () => {
    const { watch, calmly, pass, time } = watched();
    calmly(1_000);
    pass(20);
    time.wall += 3_600_000;
    pass(20);
    expect(watch.during(time.now - 100, time.now, 60_000)).toBe(jumped);
    watch.tick();
    expect(watch.during(time.now - 100, time.now, 60_000)).toBe(jumped);
  });

  test("by less than two seconds is none: clocks are corrected all the time", () => {
    const { watch, calmly, time } = watched();
    const from = time.now;
    for (let times = 0; times < 10; times++) {
      time.wall += 1_900;
      calmly(1_000);
      time.wall -= 1_900;
      calmly(1_000);
    }
    expect(watch.during(from, time.now, 0)).toBeNull();
  });
});

test("nothing is wrong where nothing was, and old trouble is forgotten before memory grows", () => {
  const { watch, calmly, stall, time } = watched();
  const from = time.now;
  calmly(60_000);
  expect(watch.during(from, time.now, 0)).toBeNull();
  for (let times = 0; times < 1_000; times++) stall(1_000);
  expect(watch.during(time.now - 5_000, time.now, 700)).toBe(stoodStill);
  expect(watch.during(from, from + 61_000, 700)).toBeNull();
});

test("loopback needs no network", () => {
  expect(lacksLoopback()).toBe(false);
  const noNetwork = { network: () => new Set<never>(), hasHandles: () => true };
  const watch = new TroubleWatch(Date.now, Date.now, noNetwork);
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    expect([address, watch.lackedFor([address], Date.now())]).toEqual([address, null]);
});

test("what this machine lacks is known with its beginning, and forgotten when it returns", () => {
  const world = { now: 0, network: true, handles: true };
  const clock = () => 1_000_000 + world.now;
  const watch = new TroubleWatch(clock, () => world.now, {
    network: () => new Set(world.network ? (["IPv4"] as const) : []),
    hasHandles: () => world.handles,
  });
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += tickMs) {
      world.now += tickMs;
      watch.tick();
    }
  };
  pass(1_000);
  expect(watch.lackedNow()).toBeNull();
  world.network = false;
  const lostAt = clock();
  pass(5_000);
  expect(watch.lackedNow()).toEqual({ resource: "network", since: lostAt });
  world.handles = false;
  pass(1_000);
  expect(watch.lackedNow()?.resource).toBe("file handles");
  world.network = true;
  world.handles = true;
  pass(1_000);
  expect(watch.lackedNow()).toBeNull();
});
