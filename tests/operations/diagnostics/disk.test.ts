import { describe, expect, test } from "bun:test";
import { dayMs, hourMs, readSystemClock, formatTimestamp } from "../../../src/core/time/clock.ts";
import { openDataDirectory } from "../../../src/database/file/data-directory.ts";
import { examineDatabaseSize, examineDiskSpace } from "../../../src/operations/diagnostics/disk.ts";
import { computeDaysUntilFull } from "../../../src/operations/retention/growth.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { getBuiltMigrations } from "../../support/migration-folder.ts";

const newDirectory = createScratch();
const mebibyte = 1024 ** 2;

/** Findings for this free space, with monitors that were checked every second for three days. */
async function examine(freeBytes: number, monitors = 0) {
  const path = newDirectory();
  const data = openDataDirectory(path, {
    migrations: getBuiltMigrations(),
    clock: readSystemClock,
  });
  const { database, store } = data;
  const now = Date.now();
  const at = formatTimestamp(now);
  database.run("PRAGMA foreign_keys = OFF");
  for (let index = 0; index < monitors; index++) {
    database.run(
      `insert into monitors (organization_id, id, name, type, description, position, tags, interval_seconds,
         timeout_seconds, retries, retry_interval_seconds, paused, muted, settings, secrets, version, created_at, updated_at)
       values ('o', ?, 'Shop', 'tcp', '', 0, '[]', 1, 1, 0, 1, 0, 0, '{}', '{}', 1, ?, ?)`,
      [`m${index}`, at, at],
    );
    database.run(
      `insert into monitor_states (organization_id, monitor_id, status, since, paused, failures, epoch)
       values ('o', ?, 'up', ?, 0, 0, 0)`,
      [`m${index}`, at],
    );
    database.run(
      "insert into heartbeats (monitor_key, at, status, seconds) select max(key), ?, 0, 1 from monitor_states",
      [now - 3 * dayMs],
    );
  }
  database.run(
    `insert into uptime_hours (hour, monitor_key, up_seconds, degraded_seconds, down_seconds, unknown_seconds, maintenance_seconds, latency_count, latency_sum)
     values (?, 1, 3600, 0, 0, 0, 0, 0, 0)`,
    [Math.floor((now - 3 * dayMs) / hourMs)],
  );
  const disk = { free: freeBytes, total: 2e12 };
  const settings = { keepResults: 14, keepHours: 400 };
  const context = { path, store, clock: () => now, settings, diskOf: async () => disk };
  const findings = [examineDiskSpace(disk, false), ...(await examineDatabaseSize(context))];
  data.close();
  return (subject: string) => findings.find((finding) => finding.subject === subject);
}

test("a disk with free space is ok", async () => {
  const found = await examine(Number.MAX_SAFE_INTEGER, 1);
  for (const subject of ["disk space", "growth", "room for copies", "size", "log"])
    expect(found(subject)).toMatchObject({ verdict: "ok", advice: null });
});

test("a disk that fills up is reported with the date", async () => {
  // 86,400 results of 24 bytes per day each: ten monitors use 20.7 MB a day, for another eleven
  // days.
  const found = await examine(200 * mebibyte, 10);
  expect(found("disk space")).toMatchObject({ verdict: "problem" });
  expect(found("growth")).toMatchObject({
    verdict: "warning",
    message: "it grows by 20.8 MB a day: the disk is full in 10 days",
    advice: expect.stringContaining("--keep-results"),
  });
});

test("results stop growing once the oldest are removed", async () => {
  const found = await examine(1_500 * mebibyte, 10);
  expect(found("growth")).toMatchObject({ verdict: "ok" });
});

test("an upgrade needs free space for a copy", async () => {
  const found = await examine(mebibyte / 8);
  expect(found("room for copies")).toMatchObject({
    verdict: "warning",
    advice: expect.stringContaining("--require-copy"),
  });
});

describe("days until a disk is full", () => {
  test.each([
    [100, [], Infinity],
    [100, [{ bytesPerDay: 10, daysLeft: Infinity }], 10],
    [100, [{ bytesPerDay: 10, daysLeft: 9 }], Infinity],
    [100, [{ bytesPerDay: 10, daysLeft: -1 }], Infinity],
    // 60 in five days, then 8 a day.
    [
      100,
      [
        { bytesPerDay: 4, daysLeft: 5 },
        { bytesPerDay: 8, daysLeft: Infinity },
      ],
      10,
    ],
  ])("%i bytes, growing by %j: %i", (free, growing, days) => {
    expect(computeDaysUntilFull(free, growing)).toBe(days);
  });
});
