import { expect, test } from "bun:test";
import type { Overview, OverviewMonitor } from "../../src/dashboard/schema.ts";
import { filtersOf, matches } from "../../web/pages/monitors/filters.ts";
import { targetOf } from "../../web/pages/monitors/quick-add.ts";
import {
  itemsOf,
  membersOf,
  nextPosition,
  withMonitorsAt,
  withGroupAt,
} from "../../web/pages/monitors/rows.ts";
import { seriesOf } from "../../web/pages/monitors/statistics.ts";
import { percent } from "../../web/components/format.ts";

const group = (id: string) => ({
  id,
  name: id,
  description: "",
  color: "blue",
  tags: ["eu"],
  paused: false,
  muted: false,
  alertChannelIds: [],
  version: 1,
});

const monitor = (id: string, groupId: string | null, more: Partial<OverviewMonitor> = {}) => ({
  id,
  name: id,
  type: "http",
  groupId,
  tags: [],
  status: "up" as const,
  statusSince: "2026-11-20T10:00:00.000Z",
  lastMessage: null,
  latencyMs: 1,
  uptime24h: 1,
  paused: false,
  muted: false,
  target: `${id}.lan`,
  uptime30d: 1,
  since: null,
  day: "u",
  spark: "0",
  ...more,
});

const overview: Overview = {
  groups: [group("A"), group("B"), group("empty")],
  monitors: [
    monitor("a1", "A"),
    monitor("a2", "A", { status: "down", tags: ["web"] }),
    monitor("b1", "B"),
    monitor("free", null),
  ],
  position: "p",
};

test("the page lists folders with their rows, closed ones without, and the ungrouped last", () => {
  const keys = (folded: string[]) => itemsOf(overview, {}, new Set(folded)).map(({ key }) => key);
  expect(keys([])).toEqual([
    "head A",
    "a1",
    "a2",
    "head B",
    "b1",
    "head empty",
    "empty-group head empty",
    "head ungrouped",
    "free",
  ]);
  expect(keys(["A", "ungrouped"])).not.toContain("a1");
  expect(itemsOf(overview, { status: "down" }, new Set(["A"])).map(({ key }) => key)).toEqual([
    "head A",
    "a2",
  ]);
});

test("a filter looks at names, addresses, groups and the tags of both", () => {
  const found = (filters: object) =>
    overview.monitors
      .filter((one) =>
        matches(
          one,
          overview.groups.find(({ id }) => id === one.groupId),
          filters,
        ),
      )
      .map(({ id }) => id);
  expect(found({ q: "A2.LAN a" })).toEqual(["a2"]);
  expect(found({ tag: "eu" })).toEqual(["a1", "a2", "b1"]);
  expect(found({ tag: "web" })).toEqual(["a2"]);
  expect(filtersOf({ q: "", status: "down", page: 3, type: 1 })).toEqual({ status: "down" });
});

test("monitors and groups are put before others, and everybody else keeps their order", () => {
  const order = (next: Overview) => next.monitors.map(({ id, groupId }) => `${groupId} ${id}`);
  expect(order(withMonitorsAt(overview, ["free", "a1"], "B", "b1"))).toEqual([
    "A a2",
    "B free",
    "B a1",
    "B b1",
  ]);
  expect(membersOf(withMonitorsAt(overview, ["a1"], "A", null), "A")).toEqual(["a2", "a1"]);
  expect(withGroupAt(overview, "B", "A").groups.map(({ id }) => id)).toEqual(["B", "A", "empty"]);
});

test("one step down from the last row leads into the next folder, and nowhere from the very last", () => {
  expect(nextPosition(overview, "a1", 1)).toEqual({ groupId: "A", beforeId: null });
  expect(nextPosition(overview, "a2", 1)).toEqual({ groupId: "B", beforeId: "b1" });
  expect(nextPosition(overview, "b1", -1)).toEqual({ groupId: "A", beforeId: null });
  expect(nextPosition(overview, "a1", -1)).toBeNull();
  expect(nextPosition(overview, "free", 1)).toBeNull();
});

test("what is pasted says how it is to be watched", () => {
  expect(targetOf(" https://shop.example/health/ ")).toEqual({
    type: "http",
    name: "shop.example/health",
    url: "https://shop.example/health/",
  });
  expect(targetOf("acme.io")).toMatchObject({ type: "http", url: "https://acme.io" });
  expect(targetOf("db.lan:5432")).toMatchObject({ type: "tcp", host: "db.lan", port: 5432 });
  expect(targetOf("192.168.1.1")).toMatchObject({ type: "ping", host: "192.168.1.1" });
  for (const nothing of ["", "hello", "ftp://x", "db.lan:70000", "a b.c"])
    expect([nothing, targetOf(nothing)]).toEqual([nothing, null]);
});

test("figures are never rounded up, and gaps stay gaps", () => {
  expect(percent(0.999999)).toBe("99.99\u2009%");
  expect(percent(1)).toBe("100\u2009%");
  expect(percent(null)).toBe("–");
  const point = (minute: number) => ({
    at: new Date(Date.UTC(2026, 10, 20, 10, minute)).toISOString(),
    averageMs: 5,
    minMs: 1,
    maxMs: 9,
    checks: 1,
    p50Ms: 5,
    p95Ms: 9,
    p99Ms: 9,
  });
  const [, values] = seriesOf([point(0), point(1), point(2), point(9), point(10)]);
  expect(values).toEqual([5, 5, 5, null, 5, 5]);
});
