import { Database } from "bun:sqlite";
import { join } from "node:path";
import { dashboard } from "../support/routes.ts";
import type { Route } from "../../src/http/openapi.ts";
import { publicPaths } from "../../src/status-pages/site/public-paths.ts";
import { owner, signInAs } from "../support/admin-world.ts";
import { getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { buildCopyId } from "../support/many-monitors.ts";
import { nounOf } from "../support/records.ts";
import type { Held } from "./loop-server.ts";
import { createLoopWorld } from "./loop-world.ts";
import { computeQuantile } from "./process.ts";

const rounds = 3;
const goalMs = 50;

/** Measures how long each GET and each change of thousands of monitors blocks the event loop of a very large organization. */
export async function benchLoop(counts: readonly number[] = [2_000, 10_000, 30_000]) {
  for (const monitors of counts) {
    await using world = await createLoopWorld(monitors);
    await measure(world, monitors);
  }
}

async function measure(world: World, monitors: number) {
  const { email, password } = owner;
  await using server = await startMeasuredServer(world.dataDir);
  const { ask, cookie } = await signInAs(server.url, { email, password });
  for (const page of world.pages)
    await ask("POST", "/api/v1/status-pages", { title: "P", ...page });
  const { key } = await ask("POST", "/api-keys", {
    name: "Bench",
    scope: "read",
    expiresInDays: 1,
  });
  const database = new Database(join(world.dataDir, "signalbox.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run("CREATE TABLE bench (n INTEGER)");
  const found: { path: string; bytes: number; cold: Held; warm: Held[] }[] = [];
  const idle: Held[] = [];
  for (let round = 0; round < 20; round++) {
    await server.held();
    await Bun.sleep(200);
    idle.push(await server.held());
  }
  for (const path of listPaths(world)) {
    let bytes = 0;
    const held: Held[] = [];
    for (let round = 0; round <= rounds; round++) {
      // Cached responses are rendered again: API responses after any write, public pages a second after an event.
      database.run("INSERT INTO bench VALUES (1)");
      if (/^.(status|api)/.test(path)) {
        const severity = round % 2 === 0 ? "minor" : "major";
        await ask("PATCH", `/api/v1/incidents/${world.incident}`, { severity });
        await Bun.sleep(1_100);
      }
      await server.held();
      const response = await fetch(`${server.url}${path}`, {
        // The server can just have closed a reused connection as idle.
        keepalive: false,
        headers: {
          "Accept-Encoding": "gzip",
          ...(path.startsWith("/dashboard")
            ? { Cookie: cookie() }
            : { Authorization: `Bearer ${key}` }),
        },
      });
      bytes = (await response.bytes()).length;
      if (response.status >= 500 || response.status === 422)
        throw new Error(`${path}: ${response.status}`);
      held.push(await server.held());
    }
    const [cold, ...warm] = held;
    if (cold !== undefined) found.push({ path, bytes, cold, warm });
  }
  const written: string[] = [];
  for (const { name, method, path, body } of listWrites()) {
    await server.held();
    await ask(method, path, body);
    // Followers of the event log are included.
    await Bun.sleep(1_500);
    const { cpu, wall } = await server.held();
    written.push(`${cpu.toFixed(0).padStart(10)} ms, by the clock ${wall.toFixed(0)} ms: ${name}`);
  }
  database.close();
  const formatMs = (held: readonly number[]) =>
    `${computeQuantile(held, 0.5).toFixed(0)} (${Math.max(...held).toFixed(0)})`;
  const formatCpu = (held: readonly Held[]) => formatMs(held.map((one) => one.cpu));
  console.log(
    `\nloop: ${monitors} monitors; processor time, median (longest); idle ${formatCpu(idle)} ms`,
  );
  for (const { path, bytes, cold, warm } of found.sort((a, b) => findWorst(b) - findWorst(a)))
    if (findWorst({ cold, warm }) >= 10)
      console.log(
        `${formatCpu(warm).padStart(10)} ms, first ${cold.cpu.toFixed(0).padStart(3)} ms, by the clock ${formatMs(warm.map((one) => one.wall))} ms, ${(bytes / 1000).toFixed(0)} kB: ${path}`,
      );
  for (const line of written) console.log(line);
  console.log(`${found.length} addresses, goal ≤ ${goalMs} ms`);
}

/** Changes of thousands of monitors in one request. */
function listWrites() {
  const count = 5_000;
  const buildKeys = (name: string, length: number) =>
    Array.from({ length }, (_, index) => `${name}-${index}`);
  const buildConfiguration = (interval: number) => ({
    source: "bench",
    groups: Object.fromEntries(buildKeys("group", 20).map((key) => [key, {}])),
    monitors: Object.fromEntries(
      buildKeys("shop", count).map((key, index) => [
        key,
        { type: "tcp", host: "10.0.0.1", port: 443, interval, group: `group-${index % 20}` },
      ]),
    ),
  });
  const monitorIds = Array.from({ length: 1_000 }, (_, index) => buildCopyId(index + 1));
  const config = "/api/v1/config";
  const all = { method: "PUT", path: config };
  const bulk = { method: "POST", path: "/api/v1/monitors/bulk" };
  return [
    { name: "a configuration of 5,000 monitors", ...all, body: buildConfiguration(86_400) },
    { name: "the same without a change", ...all, body: buildConfiguration(86_400) },
    { name: "a change of each of them", ...all, body: buildConfiguration(43_200) },
    {
      name: "all of them removed",
      method: "PUT",
      path: `${config}?prune&yes`,
      body: { source: "bench" },
    },
    { name: "1,000 monitors paused", ...bulk, body: { monitorIds, change: { paused: true } } },
    { name: "1,000 monitors tagged", ...bulk, body: { monitorIds, change: { addTags: ["x"] } } },
    { name: "1,000 monitors deleted", ...bulk, body: { monitorIds, delete: true } },
  ];
}

const findWorst = ({ cold, warm }: { cold: Held; warm: Held[] }) =>
  Math.max(
    cold.cpu,
    computeQuantile(
      warm.map(({ cpu }) => cpu),
      0.5,
    ),
  );

type World = Omit<Awaited<ReturnType<typeof createLoopWorld>>, typeof Symbol.asyncDispose>;

/** Every GET of the route table, with its largest response. */
function listPaths(world: World): string[] {
  const month = new Date(Date.now() - 15 * 86_400_000).toISOString().slice(0, 7);
  const ids: Record<string, string> = {
    monitors: world.monitor,
    "monitor-groups": world.group,
    incidents: world.incident,
    "alert-channels": world.channel,
    "maintenance-windows": world.window,
    "status-pages": world.page.id,
  };
  const formatDay = (back: number) =>
    new Date(Math.floor(Date.now() / 86_400_000 - back) * 86_400_000).toISOString();
  const year = `from=${formatDay(365)}&to=${formatDay(0)}`;
  const queries: Record<string, string[]> = {
    "/overview": ["", "?q=service+12", "?status=down", "?tag=customers"],
    "/overview/rows": [`?groupId=${world.group}&count=500`, "?count=500&from=0&q=service"],
    "/monitors/:id/heartbeats": ["?limit=1000"],
    "/monitors/:id/latency": [`?${year}&points=1000`, "?points=1000"],
    "/monitors/:id/timeline": [
      `?${year}&step=86400`,
      `?from=${formatDay(20)}&to=${formatDay(0)}&step=3600`,
      `?from=${formatDay(3)}&to=${formatDay(0)}&step=600`,
    ],
    "/monitors/:id/figures": [
      `?from=${formatDay(90)}&to=${formatDay(0)}`,
      `?from=${formatDay(3)}&to=${formatDay(0)}`,
    ],
    "/monitors/:id/states": ["?limit=500", `?from=${formatDay(20)}&to=${formatDay(10)}`],
    "/reports/": [
      `?month=${month}`,
      `?month=${month}&statusPageId=${world.page.id}`,
      `?month=${month}&groupId=${world.group}`,
      `?month=${month}&monitorId=${world.monitor}`,
    ],
    "/reports/csv": [`?month=${month}`],
    "/configuration/records": [""],
    "/where": [`?kind=incident&id=${world.incident}`],
    "/incident-audience": [`?incidentId=${world.incident}`],
    "/audit-log/": ["?per_page=100", "?per_page=100&q=service"],
    "/incidents/": ["?per_page=100", "?per_page=100&q=incident+4"],
    "/monitors/": [
      "?per_page=100",
      "?per_page=100&q=service+19",
      "?per_page=100&tag=customers",
      "?per_page=100&page=15",
    ],
  };
  const skipped = /\/(live|where|session|backup\/:id|revisions|:subscriberId)/;
  const admin = (dashboard.routes as unknown as Route[])
    .filter(({ method, path }) => method === "GET" && !skipped.test(path))
    .flatMap(({ path, hooks }) => {
      const routePath = path.replace(/^\/dashboard(\/api\/v1)?/, "");
      const paged =
        hooks.detail?.endpoint?.query !== undefined &&
        /page/.test(Object.keys(hooks.detail.endpoint.query).join());
      const filledPath = path.replace(":id", ids[nounOf(path)] ?? "");
      return (queries[routePath] ?? [paged ? "?per_page=100" : ""]).map(
        (query) => filledPath + query,
      );
    })
    .filter((path) => !path.includes("incident-templates/") || path.endsWith("/"));
  const pages = [world.page.slug, ...world.pages.map(({ slug }) => slug)].flatMap((slug) =>
    [
      publicPaths.page,
      publicPaths.json,
      publicPaths.rss,
      publicPaths.atom,
      publicPaths.ics,
      publicPaths.history,
      publicPaths.uptimeKumaPage,
      publicPaths.uptimeKumaHeartbeats,
    ].map((path) => path.replace(":slug", slug)),
  );
  const further = [
    publicPaths.v2.replace(":slug", "large").replace(":name", "summary"),
    publicPaths.v2.replace(":slug", "large").replace(":name", "incidents"),
    `/status/${world.page.slug}/incidents/${world.incident}`,
  ];
  return [...admin, "/metrics", ...pages, ...further];
}

async function startMeasuredServer(dataDir: string) {
  const port = getFreePort();
  const waiting: ((held: Held) => void)[] = [];
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "loop-server.ts"), dataDir, String(port)],
    {
      stdio: ["ignore", "inherit", "inherit"],
      // Render pages like the executable.
      env: { ...process.env, NODE_ENV: "production" },
      ipc: (held: Held) => waiting.shift()?.(held),
    },
  );
  const url = `http://127.0.0.1:${port}`;
  await waitUntilHealthy(url);
  return {
    url,
    held: () =>
      new Promise<Held>((resolve) => {
        waiting.push(resolve);
        child.send("held");
      }),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}
