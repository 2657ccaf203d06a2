import { expect, test } from "bun:test";
import { crowd } from "../../src/http/crowd.ts";

const after = (...writes: [at: number, port: number][]) => {
  let now = 0;
  const writers = crowd(() => now);
  for (const [at, port] of writes) {
    now = at;
    writers.enter(port);
  }
  return writers.isCrowded();
};

test("clients that write in turns within a moment are a crowd", () => {
  expect(after([1, 1], [2, 2], [3, 1])).toBe(true);
  expect(after([1, 1], [2, 2], [3, 3])).toBe(true);
});

test("a lone client is no crowd, however much it writes, nor is one that follows another", () => {
  expect(after()).toBe(false);
  expect(after([1, 1], [1, 1], [2, 1], [2, 1])).toBe(false);
  expect(after([1, 1], [100, 2], [101, 2])).toBe(false);
  expect(after([1, 1], [100, 2], [200, 1])).toBe(false);
});
