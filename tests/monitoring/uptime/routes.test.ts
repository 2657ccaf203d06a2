import { dayMs, hourMs } from "../../../src/core/time/clock.ts";
import { describe, expect, test } from "bun:test";

import {
  findMeasured,
  type HeartbeatRow,
  insertHeartbeats,
} from "../../../src/monitoring/uptime/store.ts";
import { unknownId } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";

const minute = 60_000;

/** A monitor with results written by the test. */
async function measure() {
  const dashboard = await createDashboard();
  const { id } = await dashboard.monitor();
  const key = (await findMeasured(dashboard.store, dashboard.ours.id, id))?.key ?? 0;
  const path = `/api/v1/monitors/${id}`;
  return {
    ...dashboard,
    path,
    /** Stores results at an age in milliseconds. */
    past: async (...rows: (Partial<HeartbeatRow> & { ago: number })[]) => {
      const usual = { status: "up", latencyMs: 34, seconds: 60, message: null } as const;
      const heartbeats = rows.map(({ ago, ...row }) => ({
        ...usual,
        monitorKey: key,
        at: dashboard.time.now - ago,
        ...row,
      }));
      await dashboard.store.atomic(insertHeartbeats(heartbeats));
    },
    read: async (rest: string) => {
      const { status, json, text } = await dashboard.ours.reader("GET", `${path}/${rest}`);
      expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
      return json.data;
    },
  };
}

describe("heartbeats", () => {
  test("are listed newest first, each with its result and its period", async () => {
    const { past, read } = await measure();
    expect(await read("heartbeats")).toEqual([]);
    await past(
      { ago: 2 * minute, status: "down", latencyMs: null, message: "Timed out.", seconds: 20 },
      { ago: minute, status: "maintenance" },
      { ago: 0 },
    );
    expect(await read("heartbeats")).toEqual([
      {
        at: "2026-11-20T10:00:00.000Z",
        status: "up",
        latencyMs: 34,
        message: null,
        period: 60,
        number: null,
      },
      {
        at: "2026-11-20T09:59:00.000Z",
        status: "maintenance",
        latencyMs: 34,
        message: null,
        period: 60,
        number: null,
      },
      {
        at: "2026-11-20T09:58:00.000Z",
        status: "down",
        latencyMs: null,
        message: "Timed out.",
        period: 20,
        number: null,
      },
    ]);
  });

  test("from is inclusive, to is exclusive; times can have any offset", async () => {
    const { past, read } = await measure();
    await past({ ago: 3 * minute }, { ago: 2 * minute }, { ago: minute }, { ago: 0 });
    const minutesOf = async (query: string) =>
      (await read(`heartbeats?${query}`)).map(({ at }: { at: string }) => at.slice(14, 16));
    expect(await minutesOf("from=2026-11-20T09:58:00Z")).toEqual(["00", "59", "58"]);
    expect(await minutesOf("to=2026-11-20T09:58:00Z")).toEqual(["57"]);
    expect(await minutesOf("from=2026-11-20T09:58:00Z&to=2026-11-20T09:59:00Z")).toEqual(["58"]);
    expect(await minutesOf("from=2026-11-20T11:59:00%2B02:00")).toEqual(["00", "59"]);
    expect(await minutesOf("from=2026-11-20T09:58:00.001Z")).toEqual(["00", "59"]);
    expect(await minutesOf("limit=2")).toEqual(["00", "59"]);
  });

  test("are limited to 100 by default and 1,000 at most", async () => {
    const { past, read } = await measure();
    await past(...Array.from({ length: 1001 }, (_, index) => ({ ago: index * minute })));
    expect(await read("heartbeats")).toHaveLength(100);
    for (const limit of [1000, 1001, 999_999_999])
      expect(await read(`heartbeats?limit=${limit}`)).toHaveLength(1000);
  });
});

describe("uptime", () => {
  test("of an unchecked monitor is null, without days", async () => {
    const { read } = await measure();
    const ratios = { "24h": null, "7d": null, "30d": null, "90d": null, "365d": null };
    expect(await read("uptime")).toMatchObject({ ratios, days: [] });
  });

  const ages = {
    "24h": 23 * hourMs,
    "7d": 167 * hourMs,
    "30d": 29 * dayMs + 10 * hourMs,
    "90d": 89 * dayMs + 10 * hourMs,
    "365d": 364 * dayMs + 10 * hourMs,
  };
  for (const [period, ago] of Object.entries(ages))
    test(`of ${period} starts with its first hour or day and ends with the current one`, async () => {
      const { past, read } = await measure();
      await past({ ago: ago + 1, status: "down" }, { ago });
      expect((await read("uptime")).ratios[period]).toBe(1);
      await past({ ago: 0, status: "down" });
      expect((await read("uptime")).ratios[period]).toBe(0.5);
    });

  test("of 90 days is exact for each day and never rounded up to 1", async () => {
    const { past, read } = await measure();
    const days = Array.from({ length: 90 }, (_, index) => index);
    await past(...days.map((day) => ({ ago: day * dayMs, seconds: 86_400 })));
    await past({ ago: 45 * dayMs + minute, status: "down", seconds: 1 });
    await past({ ago: minute, status: "degraded" }, { ago: 2 * minute, status: "unknown" });
    const uptime = await read("uptime");
    const succeeded = 90 * 86_400 + 60;
    expect(uptime.ratios["90d"]).toBe(succeeded / (succeeded + 1));
    expect(uptime.ratios["30d"]).toBe(1);
    expect(uptime.days).toHaveLength(90);
    expect(uptime.days.map(({ date }: { date: string }) => date)).toEqual(
      uptime.days.map(({ date }: { date: string }) => date).toSorted(),
    );
    expect(uptime.days.at(-1)).toEqual({
      date: "2026-11-20",
      ratio: 1,
      upSeconds: 86_400,
      degradedSeconds: 60,
      downSeconds: 0,
      unknownSeconds: 60,
      maintenanceSeconds: 0,
    });
    expect(uptime.days.at(-46)).toMatchObject({ date: "2026-10-06", ratio: 86_400 / 86_401 });
  });

  test("is not affected by maintenance or by results of another monitor", async () => {
    const { past, read, monitor, store, ours } = await measure();
    const other = (await findMeasured(store, ours.id, (await monitor()).id))?.key ?? 0;
    await past(
      { ago: minute, status: "maintenance" },
      { ago: 2 * minute, monitorKey: other, status: "down" },
    );
    expect((await read("uptime")).ratios["24h"]).toBeNull();
    await past({ ago: 3 * minute });
    expect((await read("uptime")).ratios["24h"]).toBe(1);
  });
});

describe("latency", () => {
  test("is listed oldest first, without times of no measurement", async () => {
    const { past, read } = await measure();
    await past(
      { ago: 10 * minute, latencyMs: 10 },
      { ago: 10 * minute - 1, latencyMs: 21 },
      { ago: 5 * minute, latencyMs: null },
      { ago: 1, latencyMs: 0 },
      { ago: 0, latencyMs: 500 },
    );
    const query = "latency?from=2026-11-20T09:50:00Z&to=2026-11-20T10:00:00Z&points=10";
    expect(await read(query)).toEqual([
      {
        at: "2026-11-20T09:50:00.000Z",
        averageMs: 15.5,
        minMs: 10,
        maxMs: 21,
        checks: 2,
        p50Ms: 10,
        p95Ms: 21,
        p99Ms: 21,
      },
      {
        at: "2026-11-20T09:59:00.000Z",
        averageMs: 0,
        minMs: 0,
        maxMs: 0,
        checks: 1,
        p50Ms: 0,
        p95Ms: 0,
        p99Ms: 0,
      },
    ]);
  });

  test("has at most the requested points, even if its span starts within an hour or day", async () => {
    const { past, read } = await measure();
    const ages = Array.from({ length: 102 }, (_, index) => index * hourMs + 30 * minute);
    await past(...ages.map((ago) => ({ ago })));
    const hours = "from=2026-11-16T05:30:00Z&to=2026-11-20T09:30:00Z&points=100";
    expect((await read(`latency?${hours}`)).length).toBeLessThanOrEqual(100);
    expect((await read("latency?points=1")).length).toBe(1);
  });

  test("of decades contains the measured days", async () => {
    const { past, read } = await measure();
    await past({ ago: dayMs });
    expect(await read("latency?from=1970-01-01T00:00:00Z")).toMatchObject([{ checks: 1 }]);
  });
});

describe("an invalid query", () => {
  const span = "from=2026-11-20T10:00:00Z&to=2026-11-20T10:00:00Z";
  const refused: [query: string, field: string][] = [
    ...["yesterday", "", "2026-11-20", "2026-11-20T10:00:00", "2026-02-30T10:00:00Z", "1795168800"]
      .map((value) => ["from", "to"].map((field): [string, string] => [`${field}=${value}`, field]))
      .flat(),
    [span, "from"],
    [span.replace("T10", "T11"), "from"],
    ["page=1", "page"],
    [`${span}&from=2026-11-20T10:00:00Z`, "from"],
  ];
  const counts = ["0", "abc", "1e3", "", "-1", "1.5", "0x10"];

  for (const [question, count, foreign] of [
    ["heartbeats", "limit", "points"],
    ["latency", "points", "limit"],
  ] as const)
    test(`for ${question} is rejected with its parameter`, async () => {
      const { ours, path } = await measure();
      const all: [query: string, field: string][] = [
        ...refused,
        ...counts.map((value): [string, string] => [`${count}=${value}`, count]),
        [`${foreign}=5`, foreign],
      ];
      for (const [query, field] of all) {
        const { status, json } = await ours.reader("GET", `${path}/${question}?${query}`);
        expect([query, status, json.error?.details?.[0].path]).toEqual([query, 422, field]);
      }
    });

  test("for uptime is any query with a parameter", async () => {
    const { ours, path } = await measure();
    const { status, json } = await ours.reader("GET", `${path}/uptime?days=90`);
    expect([status, json.error.details[0].path]).toEqual([422, "days"]);
  });

  test("for an unknown, malformed or foreign monitor always returns the same 404", async () => {
    const { ours, theirs, past, path } = await measure();
    await past({ ago: 0 });
    const id = path.split("/").at(-1) ?? "";
    for (const question of ["heartbeats", "uptime", "latency"]) {
      const responses = await Promise.all([
        ours.reader("GET", `/api/v1/monitors/${unknownId}/${question}`),
        ours.reader("GET", `/api/v1/monitors/7/${question}`),
        ours.reader("GET", `/api/v1/monitors/${"x".repeat(500)}/${question}`),
        theirs.api("GET", `/api/v1/monitors/${id}/${question}`),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      const bodies = responses.map(({ json }) => ({ ...json.error, requestId: "" }));
      expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    }
  });
});
