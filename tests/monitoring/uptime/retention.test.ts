import { dayMs, hourMs } from "../../../src/core/time/clock.ts";
import { describe, expect, test } from "bun:test";
import type { Store } from "../../../src/database/store.ts";
import { createSweeping } from "../../../src/database/backup/sweeping.ts";
import { sweepRemovedMonitors, sweepResults } from "../../../src/monitoring/uptime/retention.ts";

import { findMeasured, insertHeartbeats } from "../../../src/monitoring/uptime/store.ts";
import { sweepDeletedRecords } from "../../../src/operations/deleted-records/store.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { isOnRqlite } from "../../support/engines.ts";

const retention = { heartbeatDays: 14, hourDays: 400 };
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
const tables = ["heartbeats", "uptime_hours", "uptime_days"] as const;

/** An appliance with results written by the test, and a store that records the rows of each write. */
async function createArchive() {
  const dashboard = await createDashboard();
  const { database, store, time, ours } = dashboard;
  const portions: number[] = [];
  let afterPortion = async () => {};
  const counting: Store = {
    ...store,
    async atomic(statements) {
      await store.atomic(statements);
      portions.push(database.query<{ rows: number }, []>("SELECT changes() rows").get()?.rows ?? 0);
      await afterPortion();
    },
  };
  return {
    ...dashboard,
    portions,
    afterPortion: (then: () => Promise<void>) => (afterPortion = then),
    sweep: async (isOver?: () => boolean) => {
      const sweeping = createSweeping(counting, time.now, isOver);
      await sweepRemovedMonitors(sweeping);
      await sweepResults(sweeping, retention);
    },
    watched: async () => {
      const { id } = await dashboard.monitor();
      return { id: id as string, key: (await findMeasured(store, ours.id, id))?.key ?? 0 };
    },
    /** Permanently deletes a monitor. */
    remove: async (id: string) => {
      await dashboard.api("DELETE", `/api/v1/monitors/${id}`);
      await dashboard.api("DELETE", `/api/v1/deleted-records/${id}`);
      await sweepDeletedRecords(createSweeping(dashboard.store, time.now));
    },
    /** Stores one result of the monitor per age in days. */
    past: async (monitorKey: number, ...ages: number[]) => {
      const row = { monitorKey, status: "up", latencyMs: 3, seconds: 60, message: null } as const;
      await store.atomic(
        insertHeartbeats(ages.map((age) => ({ ...row, at: time.now - Math.round(age * dayMs) }))),
      );
    },
    /** Stores `count` results a millisecond apart, starting at an age in days, without sums. */
    many: (monitorKey: number, count: number, age: number) =>
      database.run(
        `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ? - 1)
         INSERT INTO heartbeats SELECT ?, ? + n, 0, 3, 60, NULL, NULL FROM n`,
        [count, monitorKey, time.now - age * dayMs],
      ),
    /** Number of the monitor's heartbeats, hours and days. */
    rowsOf: (key: number) =>
      tables.map(
        (table) =>
          database
            .query<{ rows: number }, [number]>(
              `SELECT count(*) rows FROM ${table} WHERE monitor_key = ?`,
            )
            .get(key)?.rows,
      ),
  };
}

describe("results", () => {
  test("are stored for 14 days, hourly sums for 400 days, daily sums forever", async () => {
    const { past, watched, sweep, rowsOf, database, time } = await createArchive();
    const { key } = await watched();
    await past(key, 0, 13, 14, 14.001, 15, 100, 400, 400.05, 401, 5000);
    await sweep();
    const readOldest = (table: string, column: string) =>
      database.query<{ at: number }, []>(`SELECT min(${column}) at FROM ${table}`).get()?.at;
    expect(readOldest("heartbeats", "at")).toBe(time.now - 14 * dayMs);
    expect(readOldest("uptime_hours", "hour")).toBe((time.now - 400 * dayMs) / hourMs);
    expect(rowsOf(key)).toEqual([3, 7, 8]);
    await sweep();
    expect(rowsOf(key)).toEqual([3, 7, 8]);
  });

  test("within the retention are not touched and cause no write", async () => {
    const { past, watched, sweep, rowsOf, portions } = await createArchive();
    const { key } = await watched();
    await sweep();
    await past(key, 0, 1, 13);
    await sweep();
    expect(rowsOf(key)).toEqual([3, 3, 3]);
    expect(portions).toEqual([]);
  });

  // changes() applies to one connection only.
  test.skipIf(isOnRqlite)("are deleted in writes of at most 1,000 rows", async () => {
    const { many, watched, sweep, rowsOf, portions } = await createArchive();
    const [one, other] = [await watched(), await watched()];
    many(one.key, 2500, 20);
    many(other.key, 1000, 20);
    await sweep();
    expect([rowsOf(one.key), rowsOf(other.key)]).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect(Math.max(...portions)).toBe(1000);
    expect(sumOf(portions)).toBe(3500);
  });

  test.skipIf(isOnRqlite)(
    "of thousands of monitors in one hour are deleted in writes of at most 1,000 rows, too",
    async () => {
      const { database, sweep, portions, time } = await createArchive();
      const hour = time.now / hourMs - 500 * 24;
      database.run(
        `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2200)
       INSERT INTO uptime_hours SELECT ?, n, 60, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL FROM n`,
        [hour],
      );
      database.run(
        "INSERT INTO uptime_hours SELECT hour + 1, monitor_key, 60, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL FROM uptime_hours WHERE monitor_key < 4",
      );
      await sweep();
      expect(database.query("SELECT * FROM uptime_hours").values()).toEqual([]);
      expect(Math.max(...portions)).toBe(1000);
      expect(sumOf(portions)).toBe(2203);
    },
  );

  test("stored during a sweep are not deleted", async () => {
    const { many, past, watched, sweep, rowsOf, afterPortion } = await createArchive();
    const [one, other] = [await watched(), await watched()];
    many(one.key, 2500, 20);
    let written = 0;
    afterPortion(async () => {
      written++;
      await past(one.key, written / 1000);
      await past(other.key, written / 1000);
    });
    await sweep();
    expect(written).toBeGreaterThan(2);
    expect([rowsOf(one.key)[0], rowsOf(other.key)[0]]).toEqual([written, written]);
  });
});

describe("a deleted monitor's results", () => {
  test("are deleted in portions at any age; results of other monitors stay", async () => {
    const { many, past, watched, remove, sweep, rowsOf, portions } = await createArchive();
    const [gone, live] = [await watched(), await watched()];
    many(gone.key, 2500, 1);
    await past(gone.key, 0, 5, 20, 300, 3000);
    await past(live.key, 0, 5, 13, 300, 3000);
    await remove(gone.id);
    await sweep();
    expect(rowsOf(gone.key)).toEqual([0, 0, 0]);
    expect(rowsOf(live.key)).toEqual([3, 4, 5]);
    expect(Math.max(...portions)).toBeLessThanOrEqual(1000);
  });

  test("are deleted with the reports of its job", async () => {
    const { engine, stranger, monitor, remove, sweep, database } = await createArchive();
    const { id, pingUrl } = await monitor({ type: "push", name: "Backup" });
    await engine.runOnce();
    await stranger("GET", new URL(pingUrl).pathname);
    const countReports = () => database.query("select at from push_reports").all().length;
    expect(countReports()).toBe(1);
    await remove(id);
    await sweep();
    expect(countReports()).toBe(0);
  });

  test("are deleted even if its heartbeats had already expired", async () => {
    const { past, watched, remove, sweep, rowsOf } = await createArchive();
    const { id, key } = await watched();
    await past(key, 20, 100);
    await sweep();
    expect(rowsOf(key)).toEqual([0, 2, 2]);
    await remove(id);
    await sweep();
    expect(rowsOf(key)).toEqual([0, 0, 0]);
  });
});

describe("an interrupted sweep", () => {
  test("stops between two portions, and the next sweep continues", async () => {
    const { many, watched, sweep, rowsOf, portions } = await createArchive();
    const [one, other] = [await watched(), await watched()];
    many(one.key, 2500, 20);
    many(other.key, 10, 20);
    await sweep(() => portions.length === 1);
    expect([rowsOf(one.key)[0], rowsOf(other.key)[0]]).toEqual([1500, 10]);
    await sweep();
    expect([rowsOf(one.key)[0], rowsOf(other.key)[0]]).toEqual([0, 0]);
  });

  test("can stop within a deleted monitor's sums, and the next sweep deletes the rest", async () => {
    const { past, watched, remove, sweep, rowsOf, portions } = await createArchive();
    const { id, key } = await watched();
    await past(key, 0, 100, 200, 300);
    await remove(id);
    await sweep(() => portions.length === 1);
    expect(portions).toHaveLength(1);
    await sweep();
    expect(rowsOf(key)).toEqual([0, 0, 0]);
  });

  test("changes nothing if it was stopped before its start", async () => {
    const { past, watched, remove, sweep, rowsOf, portions } = await createArchive();
    const { id, key } = await watched();
    await past(key, 0, 20, 500);
    await remove(id);
    await sweep(() => true);
    expect(rowsOf(key)).toEqual([3, 3, 3]);
    expect(portions).toEqual([]);
  });
});
