/** Pure rules of the Monitors page: filters, rows, moves, chart data. */
import { describe, expect, test } from "bun:test";
import type { Overview, OverviewMonitor } from "../../src/dashboard/schema.ts";
import { parseFilters, isMatching } from "../../web/pages/monitors/list/filters.ts";
import { canAlert } from "../../web/pages/monitors/bulk-rules.ts";
import { parseTarget } from "../../web/pages/monitors/quick-add.ts";
import {
  buildItems,
  memberIdsOf,
  findNextPosition,
  listPositionsOfMonitors,
  moveMonitorsTo,
  moveGroupTo,
  restorePositions,
} from "../../web/pages/monitors/list/rows.ts";
import {
  buildColumns,
  listLonelyPoints,
  findRuns,
  chooseScale,
  chooseStep,
} from "../../web/pages/monitors/detail/chart-data.ts";
import type { Timeline, TimelinePoint } from "../../src/dashboard/timeline-schema.ts";
import { formatPercent } from "../../web/components/display/format.ts";

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

const buildMonitor = (id: string, groupId: string | null, more: Partial<OverviewMonitor> = {}) => ({
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
  pausedUntil: null,
  muted: false,
  target: `${id}.lan`,
  uptime30d: 1,
  since: null,
  day: "u",
  month: "u",
  spark: "0",
  ...more,
});

const overview: Overview = {
  groups: [group("A"), group("B"), group("empty")],
  monitors: [
    buildMonitor("a1", "A"),
    buildMonitor("a2", "A", { status: "down", tags: ["web"] }),
    buildMonitor("b1", "B"),
    buildMonitor("free", null),
  ],
  position: "p",
};

test("the page lists folders with their rows, closed ones without, and the ungrouped last", () => {
  const buildKeys = (folded: string[]) =>
    buildItems(overview, {}, new Set(folded)).map(({ key }) => key);
  expect(buildKeys([])).toEqual([
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
  expect(buildKeys(["A", "ungrouped"])).not.toContain("a1");
  expect(buildItems(overview, { status: "down" }, new Set(["A"])).map(({ key }) => key)).toEqual([
    "head A",
    "a2",
  ]);
});

test("a filter searches names, addresses, groups and the tags of both", () => {
  const findOutcome = (filters: object) =>
    overview.monitors
      .filter((one) =>
        isMatching(
          one,
          overview.groups.find(({ id }) => id === one.groupId),
          filters,
        ),
      )
      .map(({ id }) => id);
  expect(findOutcome({ q: "A2.LAN a" })).toEqual(["a2"]);
  expect(findOutcome({ tag: "eu" })).toEqual(["a1", "a2", "b1"]);
  expect(findOutcome({ tag: "web" })).toEqual(["a2"]);
  expect(parseFilters({ q: "", status: "down", page: 3, type: 1 })).toEqual({ status: "down" });
});

test("monitors and groups are moved before others, whose order stays the same", () => {
  const buildOrder = (next: Overview) => next.monitors.map(({ id, groupId }) => `${groupId} ${id}`);
  expect(buildOrder(moveMonitorsTo(overview, ["free", "a1"], "B", "b1"))).toEqual([
    "A a2",
    "B free",
    "B a1",
    "B b1",
  ]);
  expect(memberIdsOf(moveMonitorsTo(overview, ["a1"], "A", null), "A")).toEqual(["a2", "a1"]);
  expect(moveGroupTo(overview, "B", "A").groups.map(({ id }) => id)).toEqual(["B", "A", "empty"]);
});

test("one step down from the last row leads into the next folder, or to none after the last folder", () => {
  expect(findNextPosition(overview, "a1", 1)).toEqual({ groupId: "A", beforeId: null });
  expect(findNextPosition(overview, "a2", 1)).toEqual({ groupId: "B", beforeId: "b1" });
  expect(findNextPosition(overview, "b1", -1)).toEqual({ groupId: "A", beforeId: null });
  expect(findNextPosition(overview, "a1", -1)).toBeNull();
  expect(findNextPosition(overview, "free", 1)).toBeNull();
});

test("undo returns moved monitors to their position, even if others were added or removed", () => {
  const buildNames = (next: Overview) => next.monitors.map(({ id }) => id);
  for (const ids of [["a1"], ["a2"], ["b1", "a1"], ["a1", "a2", "free"], buildNames(overview)])
    for (const groupId of ["A", "B", "empty", null]) {
      const places = listPositionsOfMonitors(overview, ids);
      expect(restorePositions(moveMonitorsTo(overview, ids, groupId, null), places)).toEqual(
        overview,
      );
    }
  const places = listPositionsOfMonitors(overview, ["a1"]);
  const moved = moveMonitorsTo(overview, ["a1"], "B", null);
  const later = moveMonitorsTo(moved, ["a2"], null, null);
  expect(buildNames(restorePositions(later, places))).toEqual(["a1", "b1", "free", "a2"]);
  expect(
    buildNames(
      restorePositions(
        { ...moved, monitors: moved.monitors.filter(({ id }) => id !== "a1") },
        places,
      ),
    ),
  ).toEqual(["a2", "b1", "free"]);
});

test("a pasted address determines the type of monitor", () => {
  expect(parseTarget(" https://shop.example/health/ ")).toEqual({
    type: "http",
    name: "shop.example/health",
    url: "https://shop.example/health/",
  });
  expect(parseTarget("acme.io")).toMatchObject({ type: "http", url: "https://acme.io" });
  expect(parseTarget("db.lan:5432")).toMatchObject({ type: "tcp", host: "db.lan", port: 5432 });
  expect(parseTarget("192.168.1.1")).toMatchObject({ type: "ping", host: "192.168.1.1" });
  for (const nothing of ["", "hello", "ftp://x", "db.lan:70000", "a b.c"])
    expect([nothing, parseTarget(nothing)]).toEqual([nothing, null]);
});

test("figures are never rounded up", () => {
  expect(formatPercent(0.999999)).toBe("99.99\u202f%");
  expect(formatPercent(1)).toBe("100\u202f%");
  expect(formatPercent(null)).toBe("–");
});

describe("the latency chart", () => {
  const start = Date.UTC(2026, 10, 20, 10);
  const buildPoint = (slot: number, more: Partial<TimelinePoint> = {}): TimelinePoint => ({
    at: new Date(start + slot * 60_000).toISOString(),
    upSeconds: 60,
    degradedSeconds: 0,
    downSeconds: 0,
    unknownSeconds: 0,
    maintenanceSeconds: 0,
    checks: 1,
    averageMs: 5,
    p50Ms: 5,
    p95Ms: 9,
    p99Ms: 9,
    maxMs: 9,
    reason: null,
    ...more,
  });
  const buildTimeline = (...points: TimelinePoint[]): Timeline => ({
    from: new Date(start).toISOString(),
    to: new Date(start + 12 * 60_000).toISOString(),
    step: 60,
    points,
    incidents: [],
  });

  test("breaks its line only where a response or check is missing", () => {
    const down = { checks: 0, averageMs: null, p50Ms: null, upSeconds: 0, downSeconds: 60 };
    const { times, lines } = buildColumns(
      buildTimeline(
        buildPoint(0),
        buildPoint(1),
        buildPoint(2, down),
        buildPoint(3),
        buildPoint(4),
        buildPoint(10),
      ),
      undefined,
    );
    expect(times).toHaveLength(12);
    const [_, gap] = [undefined, null];
    expect(lines.p50).toEqual([5, 5, gap, 5, 5, gap, gap, gap, gap, gap, 5, _]);
    const sparse = buildTimeline(
      buildPoint(0),
      buildPoint(2),
      buildPoint(4, down),
      buildPoint(6),
      buildPoint(8),
    );
    expect(buildColumns(sparse, undefined).lines.p50.slice(0, 9)).toEqual([
      5,
      _,
      5,
      gap,
      gap,
      gap,
      5,
      _,
      5,
    ]);
    // A single check is a point without a line.
    expect(listLonelyPoints(lines.p50)).toEqual([10]);
    expect(listLonelyPoints([_, 5, _, 5, gap])).toEqual([]);
  });

  test("has a scale for usual values next to one slow hour, whose value it shows", () => {
    const usual = Array.from({ length: 99 }, (_, index) => 80 + (index % 20));
    expect(chooseScale([usual])).toEqual({ top: 150, step: 50, peak: null });
    expect(chooseScale([[...usual, 1_204]])).toEqual({
      top: 150,
      step: 50,
      peak: { index: 99, ms: 1_204 },
    });
    const day = Array.from({ length: 288 }, (_, slot) => 80 + (slot % 20));
    const slow = day.map((ms, slot) => (slot >= 100 && slot < 112 ? 1_000 + slot : ms));
    expect(chooseScale([slow])).toEqual({ top: 150, step: 50, peak: { index: 111, ms: 1_111 } });
    expect(chooseScale([[]])).toMatchObject({ top: 1, peak: null });
  });

  test("merges equal consecutive points, the worst first", () => {
    const down = { downSeconds: 30, degradedSeconds: 30 };
    const found = findRuns([
      buildPoint(0),
      buildPoint(1, down),
      buildPoint(2, down),
      buildPoint(3, { degradedSeconds: 60 }),
      undefined,
      buildPoint(5, { upSeconds: 0, maintenanceSeconds: 60 }),
      buildPoint(6, { upSeconds: 0, unknownSeconds: 60 }),
    ]);
    expect(found).toEqual([
      { state: "up", first: 0, last: 0, seconds: 60 },
      { state: "down", first: 1, last: 2, seconds: 60 },
      { state: "degraded", first: 3, last: 3, seconds: 60 },
      { state: "maintenance", first: 5, last: 5, seconds: 60 },
    ]);
  });

  test("shows an outage as one, even with points closer than the checks", () => {
    const down = { upSeconds: 0, downSeconds: 120 };
    const noFilter = undefined;
    const checked = [
      buildPoint(0),
      noFilter,
      buildPoint(2, down),
      noFilter,
      buildPoint(4, down),
      noFilter,
      buildPoint(6, down),
    ];
    expect(findRuns([...checked, noFilter, buildPoint(8)])).toEqual([
      { state: "up", first: 0, last: 0, seconds: 60 },
      { state: "down", first: 2, last: 6, seconds: 360 },
      { state: "up", first: 8, last: 8, seconds: 60 },
    ]);
  });

  test("requests at most 300 points, none closer than checks, and whole hours beyond three days", () => {
    for (const interval of [5, 20, 60, 3_600, 86_400])
      for (const hours of [0.1, 1, 24, 72, 73, 168, 720, 2_160, 9_000]) {
        const step = chooseStep({ from: start, to: start + hours * 3_600_000 }, interval);
        expect((hours * 3_600) / step).toBeLessThanOrEqual(hours > 7_200 ? 400 : 300);
        expect(step).toBeGreaterThanOrEqual(interval);
        if (hours > 72) expect(step % 3_600).toBe(0);
      }
    // A young monitor has a point for each of its checks.
    const buildMinutes = (count: number) => ({ from: start, to: start + count * 60_000 });
    expect([20, 60, 90, 5_400].map((interval) => chooseStep(buildMinutes(5), interval))).toEqual([
      20, 60, 90, 10_800,
    ]);
  });
});

test("a bulk change is held if it can alert a channel to a problem that already exists", () => {
  const [up, down] = [{ status: "up" as const }, { status: "down" as const }];
  for (const change of [{ muted: false }, { groupId: null }, { addAlertChannelIds: ["a"] }])
    expect([change, canAlert([up, down], change), canAlert([up], change)]).toEqual([
      change,
      true,
      false,
    ]);
  for (const change of [{ muted: true }, { paused: true }, { addTags: ["eu"] }])
    expect([change, canAlert([up, down], change)]).toEqual([change, false]);
});
