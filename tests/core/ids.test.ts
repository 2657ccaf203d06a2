import { expect, test } from "bun:test";
import { createId, createToken, sha256 } from "../../src/core/ids.ts";

const now = Date.parse("2026-11-20T10:00:00.000Z");

test("ids sort by time, and by creation within one millisecond", () => {
  const ids = Array.from({ length: 20_000 }, (_, index) =>
    createId(now + Math.floor(index / 1_000)),
  );
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("interleaved requests of different milliseconds do not disturb the order", () => {
  const turns = Array.from({ length: 1_000 }, () => [createId(now), createId(now + 1)] as const);
  for (const side of [0, 1] as const) {
    const ids = turns.map((turn) => turn[side]);
    expect(ids.toSorted()).toEqual(ids);
  }
});

test("an id is a version 7 UUID that starts with its time", () => {
  expect(createId(now)).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(parseInt(createId(now).replaceAll("-", "").slice(0, 12), 16)).toBe(now);
});

test("a token has the requested length and only evenly distributed letters and digits", () => {
  const token = createToken(62_000);
  expect(token).toMatch(/^[0-9A-Za-z]{62000}$/);
  const counts = Map.groupBy(token, (letter) => letter);
  expect(counts.size).toBe(62);
  // The expected count is 1,000 with a deviation of 31; the limit is eight deviations.
  for (const { length } of counts.values()) expect(Math.abs(length - 1_000)).toBeLessThan(250);
  expect(new Set(Array.from({ length: 1_000 }, () => createToken(43))).size).toBe(1_000);
});

test("a hash is SHA-256 in hexadecimal", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
