import { loadavg } from "node:os";
import { join } from "node:path";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { createRqliteStore } from "../../src/database/rqlite/store.ts";
import type { Store } from "../../src/database/store.ts";
import { getFreePort, waitUntilHealthy } from "../support/binary.ts";
import {
  buildClusterAddress,
  findLeader,
  type RqliteNode,
  startCluster,
} from "../support/rqlite.ts";
import { type Server, createServers } from "../support/servers.ts";
import { type SlottedResult, findWrongSlots } from "../support/slots.ts";
import { measureCheckCost } from "./cluster-cost.ts";
import { readCpuSeconds, computeQuantile, readResidentMb } from "./process.ts";
import { readRaftLog } from "./raft.ts";

/** 99th percentile of the delay between two checks of a monitor, beyond its interval. */
const lateMs = 1_000;
const listMs = 100;

type Bench = {
  databases: readonly RqliteNode[];
  store: Store;
  servers: readonly Server[];
  key: string;
  target: string;
};

/** Measures capacity and cost per check of one to three servers over three database nodes on this machine. */
export async function benchCluster() {
  const load = loadavg().map((one) => one.toFixed(1));
  console.log(`cluster: three database nodes on loopback; load before ${load.join(" ")}\n`);
  await measureCheckCost();
  console.log("");
  for (const count of [1, 2, 3])
    await runWithServers(count, async (bench) => {
      console.log(`${count} of Signalbox: ${await measureRequests(bench)}`);
    });
  for (const [count, organizations] of [
    [1, 1],
    [2, 1],
    [3, 1],
    [2, 500],
  ] as const)
    await runWithServers(count, async (bench) => {
      const found = await measureChecks(bench, { monitors: 5_000, interval: 5, organizations }, 20);
      const many = organizations > 1 ? `, ${organizations} organizations` : "";
      console.log(`${count} of Signalbox${many}, 5,000 every 5 s: ${formatChecks(found)}`);
    });
  await runWithServers(2, async (bench) => {
    const load = { monitors: 5_000, interval: 60, organizations: 1, isAsked: true };
    const found = await measureChecks(bench, load, 190);
    console.log(
      `2 of Signalbox, 5,000 every 60 s (goal: each slot once, gap p99 ≤ ${60_000 + lateMs} ms, list p99 ≤ ${listMs} ms): ${formatChecks(found)}`,
    );
  });
}

/** Runs `use` with a cluster of this many servers and a target on loopback. */
async function runWithServers(count: number, use: (bench: Bench) => Promise<void>) {
  const port = getFreePort();
  const script = join(import.meta.dir, "check-target.ts");
  const target = Bun.spawn([process.execPath, script, String(port)], { stderr: "inherit" });
  const databases = await startCluster();
  const { servers, key } = await createServers(databases, count);
  try {
    await waitUntilHealthy(`http://127.0.0.1:${port}`, "/ok");
    const store = createRqliteStore(new RqliteClient(buildClusterAddress(...databases)), Date.now);
    await use({ databases, store, servers, key, target: `http://127.0.0.1:${port}/ok` });
  } finally {
    target.kill();
    await Promise.all(servers.map((server) => server.stop("SIGKILL")));
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    await Promise.all(databases.map((node) => node.kill()));
  }
}

/** Resolves when each server has its share of the shards. */
async function startAll({ servers, store }: Bench) {
  // With several organizations, loopback is blocked.
  for (const server of servers) await server.start(["--allow-target", "127.0.0.0/8"]);
  for (;;) {
    const [row] = await store.query<{ owned: number; owners: number }>(
      "select count(owner) as owned, count(distinct owner) as owners from leases where name like 'shard %'",
      [],
    );
    if (row?.owned === 64 && row.owners === servers.length) return;
    await Bun.sleep(200);
  }
}

/** Writes of 32 clients, and views of a page by 16 at each server, over all of them. */
async function measureRequests(bench: Bench): Promise<string> {
  await startAll(bench);
  const idle = await measureIdle(bench);
  const { servers, key, databases } = bench;
  const seconds = 4;
  const clients = servers.map((server) => server.createServerKeyClient(key));
  const leader = await findLeader(databases);
  const [cpu, log] = [readCpuSeconds(leader.pid()), await readRaftLog(leader)];
  const until = performance.now() + seconds * 1_000;
  let writes = 0;
  await Promise.all(
    Array.from({ length: 32 }, async (_, i) => {
      while (performance.now() < until) {
        const body = { title: "Checkout is slow" };
        const response = await clients[i % clients.length]?.("POST", "/api/v1/incidents", { body });
        if (response?.status !== 201)
          throw new Error(`A write was answered with ${response?.status}.`);
        writes++;
      }
    }),
  );
  const leaderMs = ((readCpuSeconds(leader.pid()) - cpu) / writes) * 1_000;
  const { entries } = await readRaftLog(leader);
  const views = await measureViews(servers, seconds);
  return (
    `${idle}; ${Math.round(writes / seconds)} writes/s (${((entries - log.entries) / writes).toFixed(2)} entries, ` +
    `${leaderMs.toFixed(2)} ms of processor on the leader each), ${Math.round(views)} page views/s`
  );
}

/** Cost of idle nodes: heartbeats, leases and polling for events. */
async function measureIdle({ databases, servers }: Bench): Promise<string> {
  const seconds = 10;
  const leader = await findLeader(databases);
  const readLoad = () => [
    readCpuSeconds(leader.pid()),
    sumOf(servers.map((one) => readCpuSeconds(one.pid()))) / servers.length,
  ];
  const [before, log] = [readLoad(), await readRaftLog(leader)];
  await Bun.sleep(seconds * 1_000);
  const [after, logged] = [readLoad(), await readRaftLog(leader)];
  const [ofLeader, ofServer] = after.map((one, i) => ((one - (before[i] ?? 0)) / seconds) * 100);
  return (
    `idle ${((logged.entries - log.entries) / seconds).toFixed(1)} entries/s with ` +
    `${((logged.bytes - log.bytes) / seconds).toFixed(0)} B/s in the log, ${ofLeader?.toFixed(1)} % of a core on the leader, ` +
    `${ofServer?.toFixed(1)} % in each`
  );
}

async function measureViews(servers: readonly Server[], seconds: number): Promise<number> {
  const wrk = Bun.which("wrk");
  if (wrk === null) throw new Error("This suite needs wrk (Debian: apt-get install wrk).");
  const runs = servers.map(async ({ url }) => {
    const args = ["-t1", "-c16", `-d${seconds}`, "-H", "Accept-Encoding: br", `${url}/status/acme`];
    const text = await new Response(Bun.spawn([wrk, ...args]).stdout).text();
    if (/Non-2xx/.test(text)) throw new Error(text);
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  });
  return (await Promise.all(runs)).reduce((sum, one) => sum + one, 0);
}

type Row = SlottedResult & { status: number };
type Load = { monitors: number; interval: number; organizations: number; isAsked?: boolean };

/** Checks of these monitors for a number of seconds after one complete round. */
async function measureChecks(bench: Bench, wanted: Load, seconds: number) {
  const { databases, store, servers, key } = bench;
  await seed(bench, wanted);
  await startAll(bench);
  await Bun.sleep(wanted.interval * 1_000 + 2_000);
  const leader = await findLeader(databases);
  const readLoad = () => ({
    leader: readCpuSeconds(leader.pid()),
    followers: sumOf(
      databases.filter((one) => one !== leader).map((one) => readCpuSeconds(one.pid())),
    ),
    servers: sumOf(servers.map((one) => readCpuSeconds(one.pid()))),
  });
  const [from, before, log] = [Date.now(), readLoad(), await readRaftLog(leader)];
  const listed =
    wanted.isAsked === true ? await measureListing(servers[0] as Server, key, seconds) : [];
  if (wanted.isAsked !== true) await Bun.sleep(seconds * 1_000);
  const [after, logged] = [readLoad(), await readRaftLog(leader)];
  const until = Date.now();
  const memory = Math.max(...servers.map((one) => readResidentMb(one.pid())));
  // Earlier results have been written by now.
  await Bun.sleep(2_000);
  const rows = await store.query<Row>(
    `select monitor_key as key, at, latency_ms as latencyMs, status from heartbeats
     where at >= ? and at < ? order by 1, 2`,
    [from, until],
  );
  const states = await store.query<{ key: number }>("select key from monitor_states", []);
  const keys = states.map(({ key }) => key);
  const averageMs = (of: keyof typeof after) => ((after[of] - before[of]) / rows.length) * 1_000;
  return {
    perSecond: rows.length / seconds,
    failed: rows.filter(({ status }) => status !== 0).length,
    ...findWrongSlots(rows, keys, wanted.interval * 1_000, [from, until]),
    gaps: computeGaps(rows),
    listed,
    cost: {
      leader: averageMs("leader"),
      followers: averageMs("followers"),
      servers: averageMs("servers"),
    },
    bytes: (logged.bytes - log.bytes) / rows.length,
    entries: (logged.entries - log.entries) / seconds,
    memory,
  };
}

/** Gaps between checks of a monitor, in ms. */
const computeGaps = (rows: readonly Row[]) =>
  [...Map.groupBy(rows, ({ key }) => key).values()].flatMap((results) =>
    results.slice(1).map(({ at }, i) => at - (results[i]?.at ?? 0)),
  );

/** Latencies of the list in ms, requested constantly by a separate process. */
async function measureListing(server: Server, key: string, seconds: number): Promise<number[]> {
  const script = join(import.meta.dir, "ask-in-turn.ts");
  const url = `${server.url}/api/v1/monitors?per_page=100`;
  const asking = Bun.spawn([process.execPath, script, url, key], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  await Bun.sleep(seconds * 1_000);
  await asking.stdin.end();
  return JSON.parse(await new Response(asking.stdout).text()) as number[];
}

function formatChecks(found: Awaited<ReturnType<typeof measureChecks>>): string {
  const { cost, gaps, listed } = found;
  return [
    `${found.perSecond.toFixed(0)} checks/s, ${found.failed} not up`,
    `slots missing ${found.missing.length}, repeated ${found.repeated.length}`,
    `gap p50 ${computeQuantile(gaps, 0.5)} ms, p99 ${computeQuantile(gaps, 0.99)} ms, most ${computeQuantile(gaps, 1)} ms`,
    listed.length === 0
      ? "no lists asked for"
      : `list p50 ${computeQuantile(listed, 0.5).toFixed(1)} ms, p99 ${computeQuantile(listed, 0.99).toFixed(1)} ms`,
    `a check: ${found.bytes.toFixed(0)} B in the log, processor ${cost.servers.toFixed(3)} ms in Signalbox, ` +
      `${cost.leader.toFixed(3)} on the leader, ${cost.followers.toFixed(3)} on both followers`,
    `${found.entries.toFixed(1)} entries/s`,
    `${found.memory.toFixed(0)} MB a server`,
  ].join("; ");
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** Writes these monitors into the database, evenly divided among organizations, as the product would. */
async function seed({ store, target }: Bench, { monitors, interval, organizations }: Load) {
  for (let number = 1; number < organizations; number++)
    await createOrganization(store, Date.now, `Organization ${number}`);
  const owners = await store.query<{ id: string }>("select id from organizations", []);
  const at = new Date().toISOString();
  const settings = JSON.stringify({
    url: target,
    method: "GET",
    headers: {},
    body: null,
    basicAuth: null,
    expectedStatus: ["200-299"],
    followRedirects: true,
    followToPrivate: false,
    verifyTls: true,
    certificateExpiryDays: 14,
  });
  const statements = Array.from({ length: monitors }, (_, number) => {
    const [organizationId, id] = [owners[number % owners.length]?.id ?? "", Bun.randomUUIDv7()];
    return [
      {
        text: `insert into monitors (organization_id, id, name, type, description, position, tags,
            interval_seconds, timeout_seconds, retries, retry_interval_seconds, paused, muted, settings,
            secrets, version, created_at, updated_at)
          values (?, ?, ?, 'http', '', 0, '[]', ?, 5, 1, 10, 0, 0, ?, '{}', 1, ?, ?)`,
        parameters: [organizationId, id, `Monitor ${number}`, interval, settings, at, at],
      },
      {
        text: `insert into monitor_states (organization_id, monitor_id, status, since, paused, failures, epoch)
          values (?, ?, 'pending', ?, 0, 0, 0)`,
        parameters: [organizationId, id, at],
      },
    ];
  });
  for (let index = 0; index < monitors; index += 500)
    await store.atomic(statements.slice(index, index + 500).flat());
}
