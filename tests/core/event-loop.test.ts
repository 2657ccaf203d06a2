import { afterEach, expect, jest, spyOn, test } from "bun:test";
import { forEachYielding, mapYielding, yieldToEventLoop } from "../../src/core/time/event-loop.ts";

afterEach(() => jest.restoreAllMocks());

/** A clock that only work advances. */
function createWork() {
  let now = 0;
  spyOn(performance, "now").mockImplementation(() => now);
  return { work: (ms: number) => void (now += ms), elapsed: () => now };
}

const passTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("loops that yield share each turn, however many there are", async () => {
  const { work, elapsed } = createWork();
  let isOver = false;
  const loops = Array.from({ length: 80 }, () =>
    forEachYielding(Array.from({ length: 30 }), () => work(1)),
  );
  // Each loop does its first part at once, in the turn of its request.
  await passTurn();
  const all = Promise.all(loops).then(() => (isOver = true));
  const turns: number[] = [];
  while (!isOver) {
    const before = elapsed();
    await passTurn();
    turns.push(elapsed() - before);
  }
  await all;
  expect(elapsed()).toBe(80 * 30);
  expect(Math.max(...turns)).toBeLessThanOrEqual(10);
});

test("short yields of many loops share one turn, and none of them continues in the same turn", async () => {
  createWork();
  let turns = 0;
  let isOver = false;
  const countTurns = async () => {
    while (!isOver) {
      await passTurn();
      turns++;
    }
  };
  const counted = countTurns();
  const resumedAt: number[] = [];
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      await yieldToEventLoop();
      const first = turns;
      await yieldToEventLoop();
      resumedAt.push(turns - first);
    }),
  );
  isOver = true;
  await counted;
  expect(Math.min(...resumedAt)).toBeGreaterThanOrEqual(1);
  expect(turns).toBeLessThan(10);
});

test("a loop returns its results in order", async () => {
  const { work } = createWork();
  const results = await mapYielding([3, 9, 1], (value) => {
    work(value);
    return value * 2;
  });
  expect(results).toEqual([6, 18, 2]);
});
