import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { growingTables } from "../docs/growth.ts";
import { dayMs, hourMs } from "../../src/core/time/clock.ts";
import { assets } from "../../src/core/assets.ts";
import { openDataDirectory } from "../../src/database/file/data-directory.ts";
import { getFreePort, runSignalbox, startServer } from "../support/binary.ts";
import { expectSuccess } from "../support/machine.ts";
import { measureBytes, createSimulatedYear } from "../support/simulated-year.ts";
import type { Cost } from "./housekeeping.ts";
import { readCpuSeconds, medianOf, computeQuantile, readResidentMb } from "./process.ts";

const monitors = 1_000;
const stored = { results: 14, hours: 400, audit: 400 };
const starts = 7;
const manyMonitors = 30_000;
const email = "ada@acme.example";

/** Measures size, start and responses with 400 days of 1,000 monitors, and the cost of each further day. */
export async function benchYear() {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  try {
    console.log(`year: ${stored.hours} days of ${monitors} monitors every 60 s\n`);
    const empty = join(directory, "empty");
    console.log(`start to the first answer, nothing there: ${await measureStart(empty)}`);
    console.log(`idle for 30 s: ${await measureIdle(empty, directory)} (goal ≤ 80)`);

    const many = join(directory, "many");
    cpSync(empty, many, { recursive: true });
    await copyOfMany(many);
    console.log(`start with ${manyMonitors} monitors: ${await measureStart(many)}`);

    const year = join(directory, "year");
    const password = await createYearOfData(year);
    console.log(`start with the year: ${await measureStart(year)}`);
    await measureFirstPages(year, password);
    const since = performance.now();
    await expectSuccess(runSignalbox(["compact", "--data-dir", year]));
    console.log(`compact: ${((performance.now() - since) / 1000).toFixed(1)} s`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Median memory of several processes, because each maps other pages of the executable. */
async function measureIdle(empty: string, directory: string): Promise<string> {
  const idle = await Promise.all(
    Array.from({ length: starts }, async (_, nth) => {
      const dataDir = join(directory, `idle-${nth}`);
      cpSync(empty, dataDir, { recursive: true });
      return startServer({ dataDir });
    }),
  );
  await Bun.sleep(30_000);
  const resident = idle.map(({ child }) => readResidentMb(child.pid));
  await Promise.all(idle.map((server) => server.stop()));
  return medianOf(resident, "MB");
}

/** Time and CPU time of a start, until the first response. */
async function measureStart(dataDir: string): Promise<string> {
  const [times, cpu]: [number[], number[]] = [[], []];
  for (let round = 0; round <= starts; round++) {
    const port = getFreePort();
    const since = performance.now();
    const server = await startServer({ dataDir, port });
    const time = performance.now() - since;
    // The first start creates or warms the files.
    if (round > 0) {
      times.push(time);
      cpu.push(readCpuSeconds(server.child.pid) * 1000);
    }
    await server.stop();
  }
  return `${medianOf(times)}, ${computeQuantile(cpu, 0.5).toFixed(0)} ms of processor time (goal ≤ 200)`;
}

/** Copies of one monitor, as many as in the largest measured appliance. */
async function copyOfMany(dataDir: string) {
  await expectSuccess(runSignalbox(["orgs", "create", "Many", "--data-dir", dataDir]));
  const database = new Database(join(dataDir, "signalbox.db"));
  const { id } = database.query<{ id: string }, []>("SELECT id FROM organizations").get() ?? {};
  const settings = JSON.stringify({
    url: "http://127.0.0.1:9/",
    method: "GET",
    headers: {},
    body: null,
    basicAuth: null,
    expectedStatus: ["200-299"],
    followRedirects: true,
    verifyTls: true,
    certificateExpiryDays: 14,
  });
  const at = new Date().toISOString();
  const monitor = database.query(
    `INSERT INTO monitors (organization_id, id, name, type, description, position, tags,
       interval_seconds, timeout_seconds, retries, retry_interval_seconds, paused, muted, settings,
       secrets, version, created_at, updated_at)
     VALUES (?1, ?2, ?3, 'http', '', 0, '[]', 3600, 10, 10, 10, 0, 0, ?4, '{}', 1, ?5, ?5)`,
  );
  const state = database.query(
    `INSERT INTO monitor_states (organization_id, monitor_id, status, since, paused, failures, epoch,
       last_checked_at, last_message) VALUES (?1, ?2, 'up', ?3, 0, 0, 0, ?3, 'HTTP 200 (OK) in 3 ms.')`,
  );
  database.transaction(() => {
    for (let number = 0; number < manyMonitors; number++) {
      const monitorId = Bun.randomUUIDv7();
      monitor.run(id ?? "", monitorId, `Service ${number}`, settings, at);
      state.run(id ?? "", monitorId, at);
    }
  })();
  database.close();
}

/** Creates a data directory with a year and three more days, whose housekeeping is measured. Returns a person's password. */
async function createYearOfData(dataDir: string): Promise<string> {
  // Ends before today, so that nothing is in the server's future.
  const end = (Math.floor(Date.now() / dayMs) - 3) * dayMs;
  const time = { now: end - stored.hours * dayMs };
  const data = openDataDirectory(dataDir, { migrations: assets.migrations, clock: () => time.now });
  const { database } = data;
  for (const setting of ["journal_mode = MEMORY", "synchronous = OFF", "cache_size = -200000"])
    database.run(`PRAGMA ${setting}`);
  const year = await createSimulatedYear(data, {
    monitors,
    days: stored.hours,
    resultDays: stored.results,
    end,
  });
  database.run("PRAGMA cache_size = -2000");
  database.run("PRAGMA journal_mode = WAL");
  console.log(`size: ${(statSync(join(dataDir, "signalbox.db")).size / 1e6).toFixed(0)} MB`);
  const readPages = () =>
    database
      .query<{ all: number; free: number }, []>(
        "SELECT page_count AS 'all', freelist_count AS free FROM pragma_page_count, pragma_freelist_count",
      )
      .get() ?? { all: 0, free: 0 };
  time.now = end;
  await measureHousekeeping(dataDir, time.now);
  for (const { content, bytes, each } of growingTables) {
    const measured = measureBytes(database, content);
    if (measured !== null)
      console.log(`  ${content}: ${measured.toFixed(1)} bytes ${each} (documented: ${bytes})`);
  }
  for (let day = 1; day <= 3; day++) {
    const before = readPages();
    database.run("PRAGMA synchronous = OFF");
    database.run("PRAGMA foreign_keys = OFF");
    for (let hour = 0; hour < 24; hour++) {
      year.results(time.now, time.now + hourMs);
      time.now += hourMs;
    }
    database.run("BEGIN");
    year.writeActivity(time.now / dayMs - 1);
    database.run("UPDATE followers SET seq = (SELECT max(seq) FROM events)");
    database.run("COMMIT");
    database.run("PRAGMA foreign_keys = ON");
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const { baseline, cost } = await measureHousekeeping(dataDir, time.now);
    const after = readPages();
    const used = (after.all - after.free - before.all + before.free) * 4096;
    console.log(
      `day ${day} more: housekeeping ${cost.cpu.toFixed(1)} s of processor time in ${cost.wall.toFixed(0)} s, ` +
        `the loop was held ${cost.heldCpu.toFixed(0)} ms of processor time at most (goal ≤ 50), ${cost.held.toFixed(0)} ms by the clock ` +
        `(idle before: ${baseline.held.toFixed(0)}), p99 ${cost.held99.toFixed(0)} ms; ` +
        `the file grew by ${(((after.all - before.all) * 4096) / 1e6).toFixed(2)} MB, what is used in it by ${(used / 1e6).toFixed(2)} MB`,
    );
  }
  data.close();
  const args = [
    "--org",
    "bench",
    "--email",
    email,
    "--name",
    "Ada",
    "--json",
    "--data-dir",
    dataDir,
  ];
  return JSON.parse(await expectSuccess(runSignalbox(["users", "create", ...args])))
    .password as string;
}

/** One run of housekeeping at this time, in a separate process without other garbage. */
async function measureHousekeeping(
  dataDir: string,
  now: number,
): Promise<{ baseline: Cost; cost: Cost }> {
  const script = join(import.meta.dir, "housekeeping.ts");
  const child = Bun.spawn([process.execPath, script, dataDir, String(now)], { stderr: "inherit" });
  return JSON.parse(await new Response(child.stdout).text()) as { baseline: Cost; cost: Cost };
}

/** The first admin page and the first public page after a start. */
async function measureFirstPages(dataDir: string, password: string) {
  const first = await startServer({ dataDir });
  const entered = await fetch(`${first.url}/dashboard/sign-in`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: first.url },
    body: JSON.stringify({ email, password }),
  });
  if (!entered.ok) throw new Error(await entered.text());
  const Cookie = entered.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  await first.stop();
  const [admin, open]: [number[], number[]] = [[], []];
  for (let round = 0; round < starts; round++) {
    const server = await startServer({ dataDir });
    const request = async (path: string) => {
      const since = performance.now();
      const response = await fetch(`${server.url}${path}`, { headers: { Cookie } });
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      await response.bytes();
      return performance.now() - since;
    };
    admin.push(await request("/dashboard/overview"));
    open.push(await request("/status/bench"));
    if (round === starts - 1)
      console.log(`memory after both: ${readResidentMb(server.child.pid).toFixed(0)} MB`);
    await server.stop();
  }
  console.log(`everything on the Monitors page, asked first after a start: ${medianOf(admin)}`);
  console.log(`a public page of 100 monitors with 90 days, asked first: ${medianOf(open)}`);
}
