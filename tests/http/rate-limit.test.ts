import { expect, test } from "bun:test";
import { createNetworkLimit, createRateLimit } from "../../src/http/access/rate-limit.ts";

test("each client has a limit per minute, starting with its first request", () => {
  let now = 0;
  const limit = createRateLimit(2, () => now);
  expect([limit.take("a"), limit.take("a"), limit.take("b")]).toEqual([0, 0, 0]);
  now = 30_000;
  expect([limit.take("a"), limit.take("b")]).toEqual([30, 0]);
  now = 60_000;
  expect([limit.take("a"), limit.take("a"), limit.take("a")]).toEqual([0, 0, 60]);
});

test("a refunded request can be used again", () => {
  const limit = createRateLimit(2, () => 0);
  limit.refund("a");
  for (const wait of [0, 0, 60, 60]) expect(limit.take("a")).toBe(wait);
  limit.refund("a");
  for (const wait of [0, 60]) expect(limit.take("a")).toBe(wait);
});

test("a clock that is set back blocks no client for longer than a minute", () => {
  let now = 86_400_000;
  const limit = createRateLimit(1, () => now);
  expect([limit.take("a"), limit.take("a")]).toEqual([0, 60]);
  now = 0;
  expect([limit.take("a"), limit.take("a")]).toEqual([0, 60]);
});

test("a client at its limit does not get a new one through any number of others", () => {
  const limit = createRateLimit(3, () => 0, { maxTracked: 100 });
  for (let i = 0; i < 3; i++) limit.take("guesser");
  for (let i = 0; i < 10_000; i++) expect(limit.take(`other ${i}`)).toBe(0);
  expect(limit.take("guesser")).toBe(60);
});

test("a million addresses use no more memory than the remembered clients", () => {
  const limit = createRateLimit(10, () => 0);
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 1_000_000; i++)
    limit.take(`2001:db8:${(i >> 16).toString(16)}:${i & 0xffff}`);
  Bun.gc(true);
  const grown = process.memoryUsage().heapUsed - before;
  limit.take("still used");
  expect(grown).toBeLessThan(32 * 1024 * 1024);
});

test("a limit by network counts all of its addresses as one", () => {
  const limit = createNetworkLimit(2, () => 0);
  expect([limit.take("2001:db8::1"), limit.take("2001:db8::2"), limit.take("2001:db8::3")]).toEqual(
    [0, 0, 60],
  );
  expect(limit.take("2001:db8:0:1::1")).toBe(0);
  limit.refund("2001:db8::4");
  expect(limit.take("2001:db8::5")).toBe(0);
});
