import { expect, test } from "bun:test";
import { createRecentSet } from "../../src/core/collections/recent-set.ts";

test("a set of recent values forgets the oldest ones", () => {
  const set = createRecentSet(3);
  for (const value of ["a", "b", "c", "a", "d"]) set.add(value);
  expect(["a", "b", "c", "d"].filter(set.has)).toEqual(["a", "c", "d"]);
  for (let i = 0; i < 10_000; i++) set.add(`${i}`);
  expect([set.size, set.has("9999")]).toEqual([3, true]);
});
