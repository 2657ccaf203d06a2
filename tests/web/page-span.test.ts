import { expect, test } from "bun:test";
import { moveSpan, parseSpanSearch } from "../../web/pages/monitors/detail/spans.ts";

const hourMs = 3_600_000;

test("a period in an address is used if it is at most 90 days, in order, and a valid time", () => {
  expect(parseSpanSearch({ span: "7d", from: 1, to: 2 })).toEqual({ span: "7d", from: 1, to: 2 });
  for (const [from, to] of [
    [2, 1],
    [-1, 1],
    [0, 91 * 24 * hourMs],
    [9e15, 9e15 + 1],
    ["1", "2"],
    [1, undefined],
  ])
    expect(parseSpanSearch({ span: "30d", from, to })).toEqual({ span: "30d" });
  expect(parseSpanSearch({ span: "1y" })).toEqual({});
});

test("the time span of a monitor's page moves by its own length, and returns to the present", () => {
  const now = 1_000 * hourMs;
  const last = { name: "24h" as const, from: now - 24 * hourMs, to: null };
  const earlier = moveSpan(last, -1, now);
  expect(earlier).toEqual({ span: "24h", from: now - 48 * hourMs, to: now - 24 * hourMs });
  const before = { name: "24h" as const, from: now - 48 * hourMs, to: now - 24 * hourMs };
  expect(moveSpan(before, 1, now)).toEqual({ span: "24h" });
  expect(moveSpan(before, -1, now)).toMatchObject({ from: now - 72 * hourMs });
});
