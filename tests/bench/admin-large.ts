import { Database } from "bun:sqlite";
import { join } from "node:path";
import { startOwnedMachine, findRow } from "../support/admin-world.ts";
import type { launchChromium } from "../support/browser.ts";
import { copyMonitor, buildCopyId } from "../support/many-monitors.ts";
import { measureBaseline } from "./admin-baseline.ts";
import {
  measureScrolling,
  type Loaded,
  measureLoaded,
  open,
  openInContext,
  readLayoutShift,
  createUsedProfile,
  waitsWhileTyping,
} from "./admin-page.ts";
import { medianOf, computeQuantile } from "./process.ts";

const rounds = 7;
const liveSeconds = 600;

/** The Monitors page of an organization with more monitors than one response contains. */
export async function measureLargeAdmin(browser: ReturnType<typeof launchChromium>, count: number) {
  await using world = await createCopies(count);
  const options = { viewport: { width: 1440, height: 900 }, storageState: world.storageState };
  const first: number[] = [];
  let loaded: Loaded = { scripts: [], script: 0, data: 0, decoded: 0 };
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    first.push(await open(page, world.url));
    loaded = await measureLoaded(page);
    await context.close();
  }
  await using profile = await createUsedProfile(
    world.url,
    world.storageState.cookies,
    options.viewport,
  );
  const { context } = profile;
  const page = await context.newPage();
  await open(page, world.url);
  await using baseline = await measureBaseline(page, world.url);
  const [again, baselines]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    again.push(await openInContext(context, world.url));
    baselines.push(await openInContext(context, baseline.url));
  }
  const formatKb = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`;
  console.log(`\nadmin: ${count.toLocaleString("en")} monitors in 40 groups`);
  console.log(
    `first rows, opened again: ${medianOf(again)} (goal ≤ 400), ${(computeQuantile(again, 0.5) / computeQuantile(baselines, 0.5)).toFixed(1)} × a static page with the same rows, styles and data: ${medianOf(baselines)}; with nothing kept: ${medianOf(first)}`,
  );
  console.log(
    `data: ${formatKb(loaded.decoded)} (goal ≤ 300), ${formatKb(loaded.data)} of them on the wire`,
  );

  const shift = await readLayoutShift(page);
  console.log(`layout shift since it was opened: ${shift.toFixed(3)} (goal ≤ 0.02)`);
  const typed = await waitsWhileTyping(page, "service 777");
  console.log(
    `typing in the search field: longest task ${typed.longest} (goal: none over 50 ms), slowest key to its picture ${typed.slowest.toFixed(0)} ms (goal ≤ 100)`,
  );
  const from = performance.now();
  await page.getByRole("searchbox", { name: "Filter monitors" }).fill(`service ${count - 1}`);
  await findRow(page, `Service ${count - 1}`).waitFor();
  console.log(
    `found on the server: ${(performance.now() - from).toFixed(0)} ms after the last key`,
  );
  await page.getByRole("searchbox", { name: "Filter monitors" }).fill("");
  await findRow(page, "Service 1").waitFor();

  const session = await context.newCDPSession(page);
  const measureHeap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
    return usedSize / 1e6;
  };
  await measureLiveUpdates(world, 5);
  const before = await measureHeap();
  await measureLiveUpdates(world, liveSeconds);
  const after = await measureHeap();
  console.log(
    `heap of the page over ${liveSeconds} s of 200 changed rows a second: ${before.toFixed(1)} MB, then ${after.toFixed(1)} MB`,
  );
  const scrolled = await measureScrolling(page, 4_000);
  console.log(
    `scrolling the whole list, ${scrolled.pixels} px a frame: longest task ${scrolled.longest}, frames p99 ${scrolled.p99.toFixed(0)} ms`,
  );
}

/** Mutes and unmutes a hundred rows, twice a second. */
async function measureLiveUpdates(
  world: Awaited<ReturnType<typeof createCopies>>,
  seconds: number,
) {
  const monitorIds = Array.from({ length: 100 }, (_, index) => buildCopyId(index + 1));
  const until = performance.now() + seconds * 1_000;
  for (let muted = true; performance.now() < until; muted = !muted) {
    await world.ask("POST", "/api/v1/monitors/bulk", { monitorIds, change: { muted } });
    await Bun.sleep(500);
  }
}

async function createCopies(count: number) {
  const world = await startOwnedMachine();
  const groups: string[] = [];
  for (let number = 0; number < 40; number++)
    groups.push(
      (await world.ask("POST", "/api/v1/monitor-groups", { name: `Group ${number}` })).id,
    );
  const { id } = await world.ask("POST", "/api/v1/monitors", {
    type: "tcp",
    name: "Service 0",
    host: "10.0.0.1",
    port: 443,
    paused: true,
  });
  const database = new Database(join(world.box.dataDir, "signalbox.db"));
  database.run("PRAGMA busy_timeout = 5000");
  database.run("CREATE TEMP TABLE own (i INTEGER PRIMARY KEY, id TEXT)");
  for (const [index, group] of groups.entries())
    database.run("INSERT INTO own VALUES (?, ?)", [index, group]);
  copyMonitor(
    database,
    id,
    count - 1,
    {
      name: "'Service ' || i",
      group_id: `(SELECT id FROM own WHERE own.i = n.i * 40 / ${count})`,
      position: "i",
      paused: "0",
    },
    { status: "CASE i % 997 WHEN 0 THEN 'down' ELSE 'up' END", paused: "0" },
  );
  const hour = Math.floor(Date.now() / 3_600_000);
  for (let back = 0; back < 24; back++)
    database.run(
      `INSERT INTO uptime_hours SELECT ${hour - back}, key, 3600, 0, ${back}, 0, 0, 60, 2400, 12, 90, NULL
       FROM monitor_states WHERE true ON CONFLICT DO NOTHING`,
    );
  for (let back = 0; back < 30; back++)
    database.run(
      `INSERT INTO uptime_days SELECT ${Math.floor(hour / 24) - back}, key, 86400, 0, ${back}, 0, 0, 1440, 60000, 12, 90, NULL
       FROM monitor_states WHERE true ON CONFLICT DO NOTHING`,
    );
  database.close();
  return world;
}
