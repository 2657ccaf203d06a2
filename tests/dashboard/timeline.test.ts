import { expect, test } from "bun:test";
import { dayMs, hourMs } from "../../src/core/time/clock.ts";
import { createVisitor } from "../support/visitor.ts";
import { buildTimeline } from "../../src/dashboard/timeline-service.ts";
import { getPeriodFigures } from "../../src/monitoring/uptime/service.ts";
import { TimelineQuery } from "../../src/dashboard/timeline-schema.ts";

const reason = "Status 502, expected 200–299.";

async function setUpTimeline() {
  const visitor = await createVisitor();
  const { id } = await visitor.monitor();
  const read = (agoMs: number, step: number) =>
    buildTimeline(visitor.ours.scope, id, {
      from: visitor.time.now - agoMs,
      to: visitor.time.now + 1,
      step,
    });
  return { ...visitor, id, read };
}

test("a timeline has the time per status, the latencies and the failure reasons of each point", async () => {
  await using world = await setUpTimeline();
  const { id, insertPastHeartbeats, createIncident, read } = world;
  const minute = 60_000;
  await insertPastHeartbeats(
    id,
    { ago: 50 * hourMs, latencyMs: 20 },
    { ago: 2 * hourMs, status: "down", latencyMs: null, message: reason },
    { ago: 2 * hourMs - minute, status: "degraded", latencyMs: 900, message: "Slow." },
    { ago: 2 * hourMs - 2 * minute, latencyMs: 100 },
    { ago: minute, latencyMs: 40 },
  );
  const opened = await createIncident({
    title: "Checkout fails",
    monitorId: id,
    severity: "major",
  });
  const { points, incidents } = await read(23 * hourMs, 3_600);
  expect(points).toMatchObject([
    {
      at: "2026-11-20T08:00:00.000Z",
      upSeconds: 60,
      degradedSeconds: 60,
      downSeconds: 60,
      checks: 2,
      averageMs: 500,
      maxMs: 900,
      reason,
    },
    { at: "2026-11-20T09:00:00.000Z", upSeconds: 60, p50Ms: 40, p95Ms: 40, reason: null },
  ]);
  expect(incidents).toMatchObject([{ id: opened.id, title: "Checkout fails", severity: "major" }]);
  const close = (await read(2 * hourMs, 60)).points;
  expect(close.map(({ reason }) => reason)).toEqual([reason, "Slow.", null, null]);
  expect((await read(52 * hourMs, 86_400)).points).toMatchObject([
    { at: "2026-11-18T00:00:00.000Z", averageMs: 20 },
    { at: "2026-11-20T00:00:00.000Z", checks: 3, reason },
  ]);
});

test("a past day whose single results are gone has hourly sums, in its timeline and in its figures", async () => {
  await using world = await setUpTimeline();
  const { id, insertPastHeartbeats, ours, store, time } = world;
  await insertPastHeartbeats(
    id,
    { ago: 20 * dayMs, latencyMs: 20 },
    { ago: 20 * dayMs - hourMs, status: "down", latencyMs: null, message: reason },
    { ago: 2 * dayMs, latencyMs: 40 },
  );
  const period = { from: time.now - 21 * dayMs, to: time.now - 19 * dayMs };
  const buildFigures = () => getPeriodFigures(ours.scope, id, period);
  const readTimeline = () => buildTimeline(ours.scope, id, { ...period, step: 600 });
  expect(await buildFigures()).toMatchObject({ ratio: 0.5, downSeconds: 60, checks: 1, p50Ms: 20 });
  expect((await readTimeline()).step).toBe(600);
  await store.atomic([
    {
      text: "delete from heartbeats where at < ?",
      parameters: [time.now - 14 * dayMs],
    },
  ]);
  expect(await buildFigures()).toMatchObject({ ratio: 0.5, downSeconds: 60, checks: 1, p50Ms: 20 });
  const { step, points } = await readTimeline();
  expect(step).toBe(3_600);
  expect(points.map(({ upSeconds, downSeconds }) => [upSeconds, downSeconds])).toEqual([
    [60, 0],
    [0, 60],
  ]);
  const empty = { from: time.now - 10 * dayMs, to: time.now - 9 * dayMs };
  expect(await getPeriodFigures(ours.scope, id, empty)).toMatchObject({ ratio: null, checks: 0 });
});

test("beyond three days the reasons come from state changes, also for an outage that started earlier", async () => {
  await using world = await setUpTimeline();
  const { id, insertPastHeartbeats, read, store, ours, time } = world;
  const buildEvent = (ago: number, type: string, message: string) =>
    store.atomic([
      {
        text: "insert into events (organization_id, at, type, subject_id, data) values (?, ?, ?, ?, ?)",
        parameters: [
          ours.id,
          new Date(time.now - ago).toISOString(),
          type,
          id,
          JSON.stringify({ message }),
        ],
      },
    ]);
  await buildEvent(12 * dayMs, "monitor.down", "Refused.");
  await buildEvent(6 * dayMs, "monitor.up", "Fine.");
  await buildEvent(2 * dayMs, "monitor.down", reason);
  await insertPastHeartbeats(
    id,
    ...[9, 7, 2].map((days) => ({ ago: days * dayMs, status: "down" as const, latencyMs: null })),
    { ago: 4 * dayMs },
  );
  const { points } = await read(10 * dayMs, 3_600);
  expect(points.map(({ reason }) => reason)).toEqual(["Refused.", "Refused.", null, reason]);
});

test("a timeline has at most 500 points, and of sums whole hours and days", () => {
  const from = "2026-11-01T00:00:00.000Z";
  const issueOf = (to: string, step: string) =>
    TimelineQuery.safeParse({ from, to, step }).error?.issues[0]?.path[0];
  expect(issueOf("2026-11-02T00:00:00.000Z", "300")).toBeUndefined();
  expect(issueOf("2026-11-02T00:00:00.000Z", "60")).toBe("step");
  expect(issueOf("2026-11-08T00:00:00.000Z", "1800")).toBe("step");
  expect(issueOf("2026-11-08T00:00:00.000Z", "5400")).toBe("step");
  expect(issueOf("2026-11-20T00:00:00.000Z", "90000")).toBe("step");
  expect(issueOf("2026-10-20T00:00:00.000Z", "3600")).toBe("from");
});
