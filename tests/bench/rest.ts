import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  binary,
  getFreePort,
  runSignalbox,
  startServer,
  waitUntilHealthy,
} from "../support/binary.ts";
import { measureUnderLoad } from "./rest-under-load.ts";

const rounds = 5;

/** Measures list, get, and create + update over HTTP, with 1,000 and 950,000 incidents. */
export async function benchRest() {
  const wrk = Bun.which("wrk");
  if (wrk === null) throw new Error("This suite needs wrk (Debian: apt-get install wrk).");
  console.log(`rest: medians of ${rounds} rounds, product and baseline in turn\n`);
  const first: Record<string, number> = {};
  // Below the limit of an organization, because the last measurement creates more.
  for (const count of [1_000, 950_000]) {
    const figures = await measure(count, wrk);
    console.log(`${count.toLocaleString("en")} incidents`);
    for (const { name, product, baseline, unit, goal } of figures) {
      const ratio = ((product / baseline) * 100).toFixed(0);
      const growth =
        first[name] === undefined
          ? ""
          : `, ${(first[name] / product).toFixed(2)}× the cost at 1,000`;
      first[name] ??= product;
      console.log(
        `  ${name.padEnd(16)} ${Math.round(product)} ${unit} = ${ratio} % of the baseline's ${Math.round(baseline)} (${goal})${growth}`,
      );
    }
  }
  await measureUnderLoad(wrk);
}

async function measure(count: number, wrk: string) {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  const dataDir = join(directory, "data");
  const slug = (
    await runSignalbox(["orgs", "create", "Bench", "--data-dir", dataDir])
  ).stdout.trim();
  const created = await runSignalbox([
    "keys",
    "create",
    "--org",
    slug,
    "--name",
    "bench",
    "--data-dir",
    dataDir,
  ]);
  const key = created.stdout.trim();
  const { organizationId, ids } = seed(join(dataDir, "signalbox.db"), count);
  const baselineFile = join(directory, "baseline.db");
  cpSync(join(dataDir, "signalbox.db"), baselineFile);

  const server = await startServer({ dataDir, flags: ["--rate-limit", "0"] });
  const baselinePort = getFreePort();
  const baseline = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "baseline.ts"),
      baselineFile,
      String(baselinePort),
      organizationId,
    ],
    { stdout: "inherit", stderr: "inherit" },
  );
  const baselineUrl = `http://127.0.0.1:${baselinePort}`;
  await waitUntilHealthy(baselineUrl);
  try {
    // The first two repeat one request, like polling clients. The other two cycle through more
    // requests than are cached, so that with 950,000 incidents each response is rendered.
    const pages = Array.from({ length: Math.min(1_500, count / 20) }, (_, index) => index + 1);
    const reads = [
      { name: "list of 20", paths: ["/api/v1/incidents"], goal: "goal ≥ 60 %" },
      { name: "get one", paths: [`/api/v1/incidents/${ids[0]}`], goal: "goal ≥ 60 %" },
      { name: "list, any page", paths: pages.map((page) => `/api/v1/incidents?page=${page}`) },
      { name: "get, any", paths: ids.map((id) => `/api/v1/incidents/${id}`) },
    ];
    const figures = [];
    for (const { name, paths, goal = "no goal" } of reads) {
      const script = join(directory, "paths.lua");
      await Bun.write(script, renderLuaScript(paths));
      const pairs = await measureAlternately(
        () => measureRequestsPerSecond(wrk, script, server.url, key),
        () => measureRequestsPerSecond(wrk, script, baselineUrl, key),
      );
      figures.push({ name, ...pairs, unit: "req/s", goal });
    }
    const pairs = await measureAlternately(
      () => measurePairsPerSecond(server.url, key),
      () => measurePairsPerSecond(baselineUrl, key),
    );
    figures.push({ name: "create + update", ...pairs, unit: "pairs/s", goal: "goal ≥ 1,000" });
    return figures;
  } finally {
    baseline.kill();
    await server.stop();
    rmSync(directory, { recursive: true });
  }
}

/** Medians of the two, measured alternately so that noise affects both. */
async function measureAlternately(product: () => Promise<number>, baseline: () => Promise<number>) {
  const results: { product: number; baseline: number }[] = [];
  for (let round = 0; round < rounds; round++)
    results.push({ product: await product(), baseline: await baseline() });
  const byRatio = results.sort((a, b) => a.product / a.baseline - b.product / b.baseline);
  return byRatio[Math.floor(rounds / 2)] as { product: number; baseline: number };
}

/** A wrk script that cycles through these paths. */
function renderLuaScript(paths: readonly string[]): string {
  return `local paths = {${paths.map((path) => JSON.stringify(path)).join(",")}}
local next = 0
function request()
  next = next % #paths + 1
  return wrk.format("GET", paths[next])
end
`;
}

async function measureRequestsPerSecond(
  wrk: string,
  script: string,
  url: string,
  key: string,
): Promise<number> {
  const authorization = `Authorization: Bearer ${key}`;
  const run = Bun.spawn([wrk, "-t1", "-c32", "-d3s", "-s", script, "-H", authorization, url]);
  const output = await new Response(run.stdout).text();
  if (/Non-2xx/.test(output)) throw new Error(output);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
}

/** 16 clients, each creating an incident and then updating it. */
async function measurePairsPerSecond(url: string, key: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const send = async (method: string, path: string, body: object) => {
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
    return ((await response.json()) as { data: { id: string } }).data.id;
  };
  const startedAt = performance.now();
  const until = startedAt + 3_000;
  let pairs = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (performance.now() < until) {
        const id = await send("POST", "/api/v1/incidents", { title: "Checkout is slow" });
        await send("PATCH", `/api/v1/incidents/${id}`, { status: "identified" });
        pairs++;
      }
    }),
  );
  return (pairs * 1000) / (performance.now() - startedAt);
}

/** Fills the only organization with incidents of two updates each, as the product would write them. */
function seed(file: string, count: number): { organizationId: string; ids: string[] } {
  const database = new Database(file);
  const { organizationId } = database
    .query<{ organizationId: string }, []>("SELECT id AS organizationId FROM organizations")
    .get() as { organizationId: string };
  const incident = database.query(
    `INSERT INTO incidents (organization_id, id, title, status, severity, origin, public,
     resolved_at, version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 'manual', 1, ?, 2, ?, ?)`,
  );
  const update = database.query(
    `INSERT INTO incident_updates (organization_id, incident_id, seq, id, status, message, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const severities = ["minor", "major", "critical"];
  const ids: string[] = [];
  const startMs = Date.now() - count * 1000;
  database.transaction(() => {
    for (let index = 0; index < count; index++) {
      const ms = startMs + index * 1000;
      const at = new Date(ms).toISOString();
      const resolved = index < count - 50;
      const id = Bun.randomUUIDv7("hex", ms);
      if (index % Math.ceil(count / 50_000) === 0) ids.push(id);
      incident.run(
        organizationId,
        id,
        `Checkout is slow for some customers (${index})`,
        resolved ? "resolved" : "investigating",
        severities[index % 3] ?? "minor",
        resolved ? at : null,
        at,
        at,
      );
      const text = Bun.randomUUIDv7("hex", ms);
      update.run(organizationId, id, 1, text, "investigating", "Incident opened.", at);
      const second = Bun.randomUUIDv7("hex", ms);
      update.run(
        organizationId,
        id,
        2,
        second,
        resolved ? "resolved" : "investigating",
        "Done.",
        at,
      );
    }
  })();
  database.close();
  return { organizationId, ids };
}

if (!(await Bun.file(binary).exists()))
  throw new Error(`${binary} is missing: run \`bun run build\` first.`);
