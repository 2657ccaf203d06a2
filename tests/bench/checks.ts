import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getFreePort, runSignalbox, startServer, waitUntilHealthy } from "../support/binary.ts";
import { expectSuccess } from "../support/machine.ts";
import { countResults } from "./heartbeats.ts";
import { readCpuSeconds, computeQuantile, readResidentMb } from "./process.ts";
import { benchResults } from "./results.ts";

type Wanted = { path: string; interval: number; timeout?: number };

/** Measures checks against a target on loopback: rate, CPU cost, punctuality; then the size of their results. */
export async function benchChecks() {
  const port = getFreePort();
  const target = checkTarget(String(port));
  const refused = getFreePort();
  try {
    await waitUntilHealthy(`http://127.0.0.1:${port}`, "/ok");
    console.log("checks: http on loopback\n");

    const baselineMs = await measureBaselineMs(port);
    console.log(
      `baseline: a bare node:http loop, ${baselineMs.toFixed(3)} ms of processor a request`,
    );

    const buildWanted = (interval: number, count: number): Wanted[] =>
      Array.from({ length: count }, () => ({ path: `:${port}/ok`, interval }));
    for (const [name, wanted, seconds] of [
      ["7,500 @ 5 s (goal ≥ 1,500 checks/s, ≤ 2× the baseline)", buildWanted(5, 7_500), 30],
      ["10,000 @ 5 s (2,000 checks/s)", buildWanted(5, 10_000), 30],
      ["1,000 @ 20 s (goal ≤ 4 % of a core, ≤ 120 MB)", buildWanted(20, 1_000), 60],
      ["10,000 @ 60 s (goal ≤ 250 MB)", buildWanted(60, 10_000), 130],
      ["100,000 @ 60 s (goal ≤ 100 % of a core, ≤ 500 MB)", buildWanted(60, 100_000), 130],
    ] as const) {
      const found = await measure(wanted, seconds);
      const perCheck = (found.cpu / found.checks) * 1000;
      console.log(
        `${name}: ${(found.checks / seconds).toFixed(0)} checks/s, ${((found.cpu / seconds) * 100).toFixed(1)} % of a core, ` +
          `${perCheck.toFixed(3)} ms a check${found.checks / seconds > 1_000 ? ` = ${(perCheck / baselineMs).toFixed(2)}× the baseline` : ""}, ${found.memory.toFixed(0)} MB, ` +
          `gap p50 ${found.gap50} ms, p99 ${found.gap99} ms, not up: ${found.failed}`,
      );
    }

    const mix: Wanted[] = [
      ...buildWanted(10, 679),
      ...Array.from({ length: 300 }, () => ({ path: `:${port}/hang`, interval: 10, timeout: 10 })),
      ...Array.from({ length: 20 }, () => ({ path: `:${refused}/`, interval: 10 })),
      { path: `:${port}/endless`, interval: 10 },
    ];
    const found = await measure(mix, 45, true);
    console.log(
      `1,000 @ 10 s: 300 hanging, 20 refusing, one endless: gap p99 ${found.gap99} ms, most ${found.gapMax} ms, ` +
        `false failures ${found.failed} (goal 0), monitors without a result a period ${found.starved} (goal 0), ` +
        `REST list p99 ${found.list99.toFixed(1)} ms (goal ≤ 50 ms)`,
    );
  } finally {
    target.kill();
  }
  await benchResults();
}

/** A target, or a baseline loop against it (`check-target.ts`). */
export function checkTarget(...args: string[]) {
  const script = join(import.meta.dir, "check-target.ts");
  return Bun.spawn([process.execPath, script, ...args], { stdout: "pipe", stderr: "inherit" });
}

/** CPU time per request of a bare node:http loop, 50 at once, against this port, in milliseconds. */
export const measureBaselineMs = (port: number) => measureLoopMs(port, 2, 5, "at-once", 50);

/**
 * CPU time per request of a bare loop of fetches at a fixed rate. Each uses a new connection, so
 * wake-ups and connections cost the same as for checks.
 */
export const measurePacedBaselineMs = (port: number, perSecond: number) =>
  measureLoopMs(port, 4, 20, "a-second", perSecond);

/** CPU time per request of a loop after its warm-up. */
async function measureLoopMs(
  port: number,
  warmUpSeconds: number,
  seconds: number,
  ...mode: ["at-once" | "a-second", number]
): Promise<number> {
  const baseline = checkTarget(String(port), ...mode.map(String));
  await Bun.sleep(warmUpSeconds * 1_000);
  const idle = readCpuSeconds(baseline.pid);
  await Bun.sleep(seconds * 1_000);
  const used = readCpuSeconds(baseline.pid) - idle;
  baseline.kill("SIGTERM");
  const all = Number((await new Response(baseline.stdout).text()).trim());
  return (used / ((all * seconds) / (warmUpSeconds + seconds))) * 1_000;
}

/** Runs the appliance with these monitors for a number of seconds after one complete round of checks. */
async function measure(wanted: readonly Wanted[], seconds: number, withLists = false) {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const dataDir = join(directory, "data");
  await expectSuccess(runSignalbox(["orgs", "create", "Bench", "--data-dir", dataDir]));
  const args = ["keys", "create", "--org", "bench", "--name", "bench", "--data-dir", dataDir];
  const key = await expectSuccess(runSignalbox(args));
  seed(join(dataDir, "signalbox.db"), wanted);
  const server = await startServer({ dataDir, flags: ["--rate-limit", "0"] });
  const interval = wanted[0]?.interval ?? 0;
  try {
    await Bun.sleep(interval * 1000 + 1_000);
    const [from, cpuBefore] = [Date.now(), readCpuSeconds(server.child.pid)];
    const lists: number[] = [];
    while (Date.now() < from + seconds * 1000) {
      await Bun.sleep(withLists ? 20 : 1_000);
      if (!withLists) continue;
      const askedAt = performance.now();
      const url = `${server.url}/api/v1/monitors?per_page=100`;
      await (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).text();
      lists.push(performance.now() - askedAt);
    }
    const cpu = readCpuSeconds(server.child.pid) - cpuBefore;
    const memory = readResidentMb(server.child.pid);
    await server.stop();
    const results = countResults(join(dataDir, "signalbox.db"), from, interval);
    return { ...results, cpu, memory, list99: computeQuantile(lists, 0.99) };
  } finally {
    await server.stop("SIGKILL");
    rmSync(directory, { recursive: true });
  }
}

/** Writes these monitors into the only organization, as the product would. */
function seed(file: string, wanted: readonly Wanted[]) {
  const database = new Database(file);
  const { id } = database.query<{ id: string }, []>("SELECT id FROM organizations").get() ?? {};
  const at = new Date().toISOString();
  const monitor = database.query(
    `INSERT INTO monitors (organization_id, id, name, type, description, position, tags,
       interval_seconds, timeout_seconds, retries, retry_interval_seconds, paused, muted, settings,
       secrets, version, created_at, updated_at)
     VALUES (?, ?, ?, 'http', '', 0, '[]', ?, ?, 1, 10, 0, 0, ?, '{}', 1, ?, ?)`,
  );
  const state = database.query(
    `INSERT INTO monitor_states (organization_id, monitor_id, status, since, paused, failures, epoch)
     VALUES (?, ?, 'pending', ?, 0, 0, 0)`,
  );
  const defaults = {
    method: "GET",
    headers: {},
    body: null,
    basicAuth: null,
    expectedStatus: ["200-299"],
    keyword: null,
    keywordAbsent: null,
    jsonPath: null,
    jsonEquals: null,
    followRedirects: true,
    followToPrivate: false,
    verifyTls: true,
    certificateExpiryDays: 14,
  };
  database.transaction(() => {
    for (const [index, { path, interval, timeout = 5 }] of wanted.entries()) {
      const monitorId = Bun.randomUUIDv7();
      const settings = JSON.stringify({ url: `http://127.0.0.1${path}`, ...defaults });
      monitor.run(id ?? "", monitorId, `Monitor ${index}`, interval, timeout, settings, at, at);
      state.run(id ?? "", monitorId, at);
    }
  })();
  database.close();
}
