import { dayMs } from "../../src/core/time/clock.ts";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { createSweeping } from "../../src/database/backup/sweeping.ts";
import { createEmbeddedStore, openDatabase } from "../../src/database/file/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { sweepResults } from "../../src/monitoring/uptime/retention.ts";
import { listLastPeriods } from "../../src/monitoring/uptime/rules.ts";
import { insertHeartbeats, listSums, computeUptime24h } from "../../src/monitoring/uptime/store.ts";
import { computeQuantile } from "./process.ts";

const monitors = 1_000;
const minute = 60_000;
const start = Date.parse("2026-11-20T00:00:00.000Z");

/** Measures the size of a day of results, the speed of queries, and how long their removal blocks. */
export async function benchResults() {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const file = join(directory, "results.db");
  const database = openDatabase(file);
  migrate(database, assets.migrations);
  database.run("PRAGMA synchronous = OFF");
  database.run("PRAGMA foreign_keys = OFF");
  const state = database.query(
    `INSERT INTO monitor_states (key, organization_id, monitor_id, status, since, paused, failures, epoch)
     VALUES (?, 'bench', ?, 'up', '', 0, 0, 0)`,
  );
  for (let key = 1; key <= monitors; key++) state.run(key, String(key));
  const empty = database.query<{ size: number }, []>(
    "SELECT page_count AS size FROM pragma_page_count()",
  );
  const pagesBefore = empty.get()?.size ?? 0;
  const store = createEmbeddedStore(database);
  // The order and jitter of real checks: each monitor in its slot of the minute.
  const slots = Array.from({ length: monitors }, (_, index) => index + 1)
    .map((key) => ({ key, phase: ((key * 0.618033988749895) % 1) * minute }))
    .sort((a, b) => a.phase - b.phase);
  for (let at = start; at < start + dayMs; at += minute)
    for (let index = 0; index < monitors; index += 25)
      await store.atomic(
        insertHeartbeats(
          slots.slice(index, index + 25).map(({ key, phase }) => ({
            monitorKey: key,
            at: Math.floor(at + phase + Math.random() * 30),
            status: "up",
            latencyMs: Math.floor(20 + Math.random() * 400),
            seconds: 60,
            message: null,
          })),
        ),
      );
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const pages = (empty.get()?.size ?? 0) - pagesBefore;
  const checks = monitors * 24 * 60;
  console.log(
    `\nresults: 24 h × ${monitors} monitors × 60 s: ${(statSync(file).size / 1e6).toFixed(1)} MB, ` +
      `${((pages * 4096) / checks).toFixed(1)} B a check with its sums (goal ≤ 30)`,
  );

  const days = database.query(
    "INSERT INTO uptime_days SELECT ?, monitor_key, up_seconds, degraded_seconds, down_seconds, unknown_seconds, maintenance_seconds, latency_count, latency_sum, latency_min, latency_max, latency_counts FROM uptime_days WHERE day = ?",
  );
  const today = Math.floor(start / dayMs);
  for (let back = 1; back < 90; back++) days.run(today - back, today);
  const request = async (request: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let round = 0; round < 200; round++) {
      const askedAt = performance.now();
      await request();
      times.push(performance.now() - askedAt);
    }
    return `${computeQuantile(times, 0.5).toFixed(2)} ms, p99 ${computeQuantile(times, 0.99).toFixed(2)} ms`;
  };
  const now = start + dayMs - 1;
  const ninety = listLastPeriods(now, dayMs, 90);
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  console.log(
    `uptime of 90 days: ${await request(() => listSums(store, 500, "days", ninety))} (goal ≤ 10 ms)`,
  );
  console.log(
    `uptime of 24 h for a list of 100: ${await request(() => computeUptime24h(store, hundred, now))}`,
  );

  database.run("PRAGMA synchronous = FULL");
  const late: number[] = [];
  let last = performance.now();
  const ticking = setInterval(() => {
    late.push(performance.now() - last);
    last = performance.now();
  }, 1);
  await sweepResults(createSweeping(store, start + 15 * dayMs), {
    heartbeatDays: 14,
    hourDays: 400,
  });
  clearInterval(ticking);
  console.log(
    `removing a day of results: the loop was held up ${Math.max(...late).toFixed(0)} ms at most (goal ≤ 50 ms)`,
  );
  store.close();
  rmSync(directory, { recursive: true });
}
