import { expect, test } from "bun:test";
import { createWriteContention } from "../../src/http/write-contention.ts";

const recordWrites = (...writes: [at: number, port: number][]) => {
  let now = 0;
  const contention = createWriteContention(() => now);
  for (const [at, port] of writes) {
    now = at;
    contention.recordWrite(port);
  }
  return contention.isContended();
};

test("clients that alternate writes within a short time contend", () => {
  expect(recordWrites([1, 1], [2, 2], [3, 1])).toBe(true);
  expect(recordWrites([1, 1], [2, 2], [3, 3])).toBe(true);
});

test("a lone client does not contend, however much it writes, nor does one that follows another", () => {
  expect(recordWrites()).toBe(false);
  expect(recordWrites([1, 1], [1, 1], [2, 1], [2, 1])).toBe(false);
  expect(recordWrites([1, 1], [100, 2], [101, 2])).toBe(false);
  expect(recordWrites([1, 1], [100, 2], [200, 1])).toBe(false);
});
