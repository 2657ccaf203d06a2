import { expect, test } from "bun:test";
import { networkLimit, rateLimit } from "../../src/http/access/rate-limit.ts";

test("each caller has its share of a minute, from its first request on", () => {
  let now = 0;
  const limit = rateLimit(2, () => now);
  expect([limit.take("a"), limit.take("a"), limit.take("b")]).toEqual([0, 0, 0]);
  now = 30_000;
  expect([limit.take("a"), limit.take("b")]).toEqual([30, 0]);
  now = 60_000;
  expect([limit.take("a"), limit.take("a"), limit.take("a")]).toEqual([0, 0, 60]);
});

test("what is given back can be taken again", () => {
  const limit = rateLimit(2, () => 0);
  limit.refund("a");
  for (const wait of [0, 0, 60, 60]) expect(limit.take("a")).toBe(wait);
  limit.refund("a");
  for (const wait of [0, 60]) expect(limit.take("a")).toBe(wait);
});

test("a clock that is set back shuts nobody out for longer than a minute", () => {
  let now = 86_400_000;
  const limit = rateLimit(1, () => now);
  expect([limit.take("a"), limit.take("a")]).toEqual([0, 60]);
  now = 0;
  expect([limit.take("a"), limit.take("a")]).toEqual([0, 60]);
});

test("who has used up their share does not get it anew by sending any number of others", () => {
  const limit = rateLimit(3, () => 0, { most: 100 });
  for (let i = 0; i < 3; i++) limit.take("guesser");
  for (let i = 0; i < 10_000; i++) expect(limit.take(`other ${i}`)).toBe(0);
  expect(limit.take("guesser")).toBe(60);
});

test("a million addresses take no more memory than the callers that are remembered", () => {
  const limit = rateLimit(10, () => 0);
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 1_000_000; i++)
    limit.take(`2001:db8:${(i >> 16).toString(16)}:${i & 0xffff}`);
  Bun.gc(true);
  const grown = process.memoryUsage().heapUsed - before;
  limit.take("still used");
  expect(grown).toBeLessThan(32 * 1024 * 1024);
});

test("a limit by network counts all addresses of one as one", () => {
  const limit = networkLimit(2, () => 0);
  expect([limit.take("2001:db8::1"), limit.take("2001:db8::2"), limit.take("2001:db8::3")]).toEqual(
    [0, 0, 60],
  );
  expect(limit.take("2001:db8:0:1::1")).toBe(0);
  limit.refund("2001:db8::4");
  expect(limit.take("2001:db8::5")).toBe(0);
});
