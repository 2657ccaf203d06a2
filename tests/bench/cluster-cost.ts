import { assets } from "../../src/core/assets.ts";
import { formatTimestamp } from "../../src/core/time/clock.ts";
import { openDatabase } from "../../src/database/file/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { RqliteClient } from "../../src/database/rqlite/client.ts";
import { ownTables } from "../../src/database/rqlite/migrate.ts";
import { createRqliteStore } from "../../src/database/rqlite/store.ts";
import { compileStatement, type Statement, findWrittenTable } from "../../src/database/store.ts";
import { ResultWriter } from "../../src/monitoring/checks/engine/record.ts";
import type { Watched } from "../../src/monitoring/checks/engine/watched-monitors.ts";
import { soleNode } from "../../src/cluster/leases.ts";
import { createSignals } from "../../src/events/signals.ts";
import {
  buildClusterAddress,
  findLeader,
  type RqliteNode,
  startCluster,
} from "../support/rqlite.ts";
import { readCpuSeconds } from "./process.ts";
import { readRaftLog, countSyncs } from "./raft.ts";

const monitors = 5_000;
const countedWrites = 10;
const lease = { name: "shard 0", epoch: 0, owner: "bench" };

/** One way to store check results. */
type Way = {
  name: string;
  /** Results per write. */
  batch: number;
  writes: number;
  /** Checks per row: more than one when each node stores its raw results. */
  checks?: number;
};

const ways: readonly Way[] = [
  { name: "each result alone", batch: 1, writes: 200 },
  { name: "a quarter of a second of 40 checks/s", batch: 10, writes: 100 },
  { name: "a second of them", batch: 40, writes: 50 },
  { name: "a full write", batch: 250, writes: 40 },
  { name: "raw results stay, sums of a minute", batch: 40, writes: 50, checks: 1 },
  { name: "raw results stay, sums of five minutes", batch: 200, writes: 20, checks: 5 },
];

/** Measures the Raft log cost of a check by way of storage, independent of the machine's load. */
export async function measureCheckCost() {
  console.log("What a check costs on three database nodes:\n");
  for (const way of ways) {
    const { bytes, entries, syncs, leader, follower, ours } = await measureCost(way);
    const figures = [
      `${bytes.toFixed(0)} B in the log`,
      `${entries.toFixed(3)} entries`,
      syncs === null ? "syncs unknown without strace" : `${syncs.toFixed(3)} syncs a node`,
      `${leader.toFixed(0)} µs of processor on the leader`,
      `${follower.toFixed(0)} on a follower`,
      `${ours.toFixed(0)} in Signalbox`,
    ];
    console.log(`  ${way.name} (${way.batch} in a write): ${figures.join(", ")}`);
  }
}

async function measureCost({ batch, writes, checks }: Way) {
  const nodes = await startCluster();
  const leader = await findLeader(nodes);
  await load(leader);
  const store = createRqliteStore(new RqliteClient(buildClusterAddress(...nodes)), Date.now);
  const isKept = (statement: Statement) =>
    checks === undefined || findWrittenTable(compileStatement(statement).text) !== "heartbeats";
  const results = new ResultWriter({
    store: { ...store, atomic: (statements) => store.atomic(statements.filter(isKept)) },
    log: { info() {}, warn() {}, error: console.error },
    signals: createSignals(),
    leases: soleNode,
  });
  const since = "2026-11-01T00:00:00.000Z";
  const state = { status: "up", since, failures: 0, successes: 0 } as const;
  const unchanged = {
    before: state,
    after: state,
    certificateExpiresAt: null,
    details: null,
    screenshot: null,
  };
  const message = { reason: "HTTP 200", message: "HTTP 200" };
  const stand = checks ?? 1;
  let at = Date.parse("2026-11-01T00:00:00Z");
  let written = 0;
  const write = async () => {
    for (let index = 0; index < batch; index++) {
      // Consecutive results are spread over the rows.
      const key = ((written++ * 3_089) % monitors) + 1;
      const latencyMs = 20 + ((written * 7_919) % 400);
      at += 60_000 / monitors;
      const found = { status: "up", latencyMs, seconds: 60 * stand, message: null } as const;
      const monitor = { key, epoch: 0, organizationId: "bench", id: `${key}`, lease } as Watched;
      const heartbeat = { monitorKey: key, at: Math.round(at), ...found };
      const checkedAt = formatTimestamp(heartbeat.at);
      results.add({ monitor, heartbeat, isEarly: false, checkedAt, ...unchanged, ...message });
    }
    await results.flush();
  };
  const before = await measure(nodes, leader);
  for (let written = 0; written < writes; written++) await write();
  const after = await measure(nodes, leader);
  const total = written * stand;
  const averagePerCheck = (of: (one: typeof after) => number) => (of(after) - of(before)) / total;
  // Measured separately, because counting costs CPU time.
  const syncs = await countSyncs(leader.pid());
  for (let written = 0; written < countedWrites; written++) await write();
  const count = await syncs();
  await Promise.all(nodes.map((node) => node.kill()));
  return {
    bytes: averagePerCheck(({ log }) => log.bytes),
    entries: averagePerCheck(({ log }) => log.entries),
    syncs: count === null ? null : count / (countedWrites * batch * stand),
    leader: averagePerCheck((one) => one.leader) * 1e6,
    follower: averagePerCheck((one) => one.followers / 2) * 1e6,
    ours: averagePerCheck((one) => one.ours) * 1e6,
  };
}

async function measure(nodes: readonly RqliteNode[], leader: RqliteNode) {
  const { user, system } = process.cpuUsage();
  const followers = nodes.filter((node) => node !== leader);
  return {
    log: await readRaftLog(leader),
    leader: readCpuSeconds(leader.pid()),
    followers: followers.reduce((sum, node) => sum + readCpuSeconds(node.pid()), 0),
    ours: (user + system) / 1e6,
  };
}

/** Gives the nodes an empty database with the states of monitors, and a lease for the writes. */
async function load({ host }: RqliteNode) {
  using database = openDatabase(":memory:");
  migrate(database, assets.migrations);
  for (const table of ownTables) database.run(table);
  database.run("PRAGMA foreign_keys = OFF");
  database.run(
    `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${monitors})
     INSERT INTO monitor_states (key, organization_id, monitor_id, status, since, paused, failures, epoch)
     SELECT n, 'bench', n, 'up', '2026-11-01T00:00:00.000Z', 0, 0, 0 FROM n`,
  );
  database.run("INSERT INTO leases (name, owner, epoch) VALUES (?, ?, ?)", [
    lease.name,
    lease.owner,
    lease.epoch,
  ]);
  const loaded = await fetch(`http://${host}/db/load`, {
    method: "POST",
    body: database.serialize().slice(),
  });
  if (!loaded.ok) throw new Error(`The database could not be loaded: ${await loaded.text()}`);
}
