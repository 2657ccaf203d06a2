import { expect, test } from "bun:test";
import { hourMs, minuteMs } from "../../../src/core/time/clock.ts";
import {
  createResolvedName,
  findResolvedChange,
  updateHistory,
  type ResolvedHistory,
} from "../../../src/monitoring/checks/resolved-rules.ts";
import { getFreePort } from "../../support/binary.ts";
import { runCheckOfType } from "../../support/check-runs.ts";

const start = Date.parse("2026-11-20T10:00:00.000Z");

/** Checks a name at these minutes with these addresses, and returns the change that the last check finds. */
function check(found: readonly [minute: number, addresses: string][], intervalSeconds = 60) {
  let known: ResolvedHistory | null = null;
  let at = start;
  for (const [minute, addresses] of found) {
    at = start + minute * minuteMs;
    known = updateHistory(known, createResolvedName("shop.lan", addresses.split(" ")), {
      at,
      intervalSeconds,
    });
  }
  const change = findResolvedChange(known, at);
  return change && `${change.before} → ${change.after} at ${change.at.slice(11, 16)}`;
}

test("another address after an hour with the same one is a change, for an hour", () => {
  expect(check([[0, "10.0.0.7"]])).toBeNull();
  const changed = [
    [0, "10.0.0.7"],
    [60, "10.0.0.9"],
  ] as [number, string][];
  expect(check(changed)).toBe("10.0.0.7 → 10.0.0.9 at 11:00");
  expect(check([...changed, [120, "10.0.0.9"]])).toBe("10.0.0.7 → 10.0.0.9 at 11:00");
  expect(check([...changed, [121, "10.0.0.9"]])).toBeNull();
  // Further addresses within the hour don't replace the last stable one.
  expect(check([...changed, [62, "10.0.0.11"]])).toBe("10.0.0.7 → 10.0.0.11 at 11:00");
});

test("addresses that rotate are no change", () => {
  const order = Array.from({ length: 200 }, (_, n): [number, string] => [
    n,
    n % 2 === 0 ? "10.0.0.7 10.0.0.9" : "10.0.0.9 10.0.0.7",
  ]);
  const single = Array.from({ length: 200 }, (_, n): [number, string] => [n, `10.0.0.${n % 3}`]);
  const pool = Array.from({ length: 200 }, (_, n): [number, string] => [
    n,
    `10.0.0.${n % 50} 10.0.1.${n % 7}`,
  ]);
  for (const rotating of [order, single, pool]) expect(check(rotating)).toBeNull();
  // The rotation can begin with a long series, and can be slow.
  const resumed: [number, string][] = [
    [0, "10.0.0.7"],
    [300, "10.0.0.9"],
    [301, "10.0.0.7"],
    [302, "10.0.0.9"],
  ];
  expect(check(resumed)).toBeNull();
  const slow: [number, string][] = [0, 60, 120, 180].map((at) => [at, `10.0.0.${at}`]);
  expect(check(slow, hourMs / 1000)).toBeNull();
});

test("a check reports the addresses of the name that its monitor has, and none for an address", async () => {
  const port = getFreePort();
  const named = await runCheckOfType("tcp", { host: "localhost", port });
  expect(named).toMatchObject({ status: "down", resolved: { name: "localhost" } });
  expect(named.resolved?.values).toContain("127.0.0.1");
  expect(await runCheckOfType("tcp", { host: "127.0.0.1", port })).not.toHaveProperty("resolved");
});
