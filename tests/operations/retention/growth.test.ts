import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { growingTables } from "../../docs/growth.ts";
import { assets } from "../../../src/core/assets.ts";
import { getBuiltMigrations } from "../../support/migration-folder.ts";
import { dayMs, hourMs } from "../../../src/core/time/clock.ts";
import {
  type DataDirectory,
  openDataDirectory,
} from "../../../src/database/file/data-directory.ts";
import { createEmbeddedStore, openDatabase } from "../../../src/database/file/embedded.ts";
import { migrate } from "../../../src/database/migrate.ts";
import { heartbeatStatuses } from "../../../src/core/statuses.ts";
import { insertHeartbeats } from "../../../src/monitoring/uptime/store.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { measureBytes, counted, createSimulatedYear } from "../../support/simulated-year.ts";

const newDirectory = createScratch();
const plan = { monitors: 25, days: 20, resultDays: 2, end: Date.UTC(2026, 10, 22) };

describe("a simulated year", () => {
  let data: DataDirectory;
  beforeAll(async () => {
    const clock = () => plan.end - plan.days * dayMs;
    data = openDataDirectory(newDirectory(), { migrations: getBuiltMigrations(), clock });
    data.database.run("PRAGMA synchronous = OFF");
    await createSimulatedYear(data, plan);
  });
  afterAll(() => data.close());

  // Tables that the simulation does not fill are documented from experience.
  for (const { content, bytes, each } of growingTables.filter(({ content }) => content in counted))
    test(`${content}: the documented ${bytes} bytes ${each} match the measured size`, () => {
      const measured = measureBytes(data.database, content) ?? 0;
      expect(bytes / measured).toBeGreaterThan(0.7);
      expect(bytes / measured).toBeLessThan(1.5);
    });

  test("has the same sums as recording its results one by one", async () => {
    type Row = { key: number; at: number; status: number; ms: number | null; seconds: number };
    const results = data.database
      .query<Row, [number]>(
        `SELECT monitor_key AS key, at, status, latency_ms AS ms, seconds FROM heartbeats
         WHERE at >= ? ORDER BY at`,
      )
      .all(plan.end - dayMs);
    expect(results.length).toBe(plan.monitors * 1_440);
    expect(results.some(({ status }) => status === 2)).toBe(true);
    const database = openDatabase(":memory:");
    migrate(database, assets.migrations);
    const recorded = createEmbeddedStore(database);
    for (let index = 0; index < results.length; index += 1_000)
      await recorded.atomic(
        insertHeartbeats(
          results.slice(index, index + 1_000).map(({ key, at, status, ms, seconds }) => ({
            monitorKey: key,
            at,
            status: heartbeatStatuses[status] ?? "unknown",
            latencyMs: ms,
            seconds,
            message: null,
          })),
        ),
      );
    for (const [table, period, periodMs] of [
      ["uptime_hours", "hour", hourMs],
      ["uptime_days", "day", dayMs],
    ] as const) {
      const rows = `SELECT * FROM ${table} WHERE ${period} >= ? ORDER BY ${period}, monitor_key`;
      const since = (plan.end - dayMs) / periodMs;
      // The sums do not depend on the order of recording.
      const valuesOf = (from: Database) =>
        from
          .query(rows)
          .values(since)
          .map((row) => [...row.slice(0, -1), JSON.parse(String(row.at(-1)))]);
      expect(valuesOf(data.database)).toEqual(valuesOf(database));
    }
    recorded.close();
  });
});
