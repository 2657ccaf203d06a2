/** `signalbox cluster`: moves data between a file and a cluster, and shows its nodes. */
import type { Command } from "commander";
import { databasesOf, serversOf } from "../cluster/status.ts";
import type { ClusterStatus } from "../cluster/schema.ts";
import { configOf } from "../config.ts";
import { assets } from "../core/assets.ts";
import { systemClock } from "../core/time/clock.ts";
import { bytesInWords, countInWords } from "../core/text/words.ts";
import { invalid } from "../core/validation.ts";
import {
  exportFromCluster,
  importToCluster,
  type Moved,
  type MoveOptions,
} from "../database/rqlite/cluster-move.ts";
import type { ClusterAddress } from "../database/address.ts";
import { clusterOf } from "../database/data.ts";
import { lookAtCluster } from "../database/rqlite/data.ts";
import { printJson, printTable } from "./support/output.ts";
import { type DataOptions, onData, placeOf } from "./support/with-data.ts";

export function addCluster(program: Command) {
  const cluster = program.command("cluster").description("data on a rqlite cluster");

  onData(cluster.command("import"))
    .description(
      "move the data of the data directory to a cluster and verify it; stop the server first",
    )
    .option("--replace", "replace existing data on the cluster, which is stored in a file")
    .action(async ({ replace = false, ...options }: DataOptions & { replace?: boolean }) => {
      const moved = await importToCluster({ ...moveOf(options), replace });
      const { keptAside, replaced, key } = moved;
      report(moved, options, [
        `The cluster holds ${inWords(moved)}, each table compared: the same rows in the same order.`,
        `The file is kept as ${keptAside}.`,
        ...(replaced === null ? [] : [`The former data of the cluster is stored as ${replaced}.`]),
        `Copy ${key} into the data directory of every other machine before it starts.`,
      ]);
    });

  onData(cluster.command("export"))
    .description(
      "move the data of a cluster into one file in the data directory and verify it; stop all Signalbox nodes first",
    )
    .action(async (options: DataOptions) => {
      const moved = await exportFromCluster(moveOf(options));
      report(moved, options, [
        `${moved.file} holds ${inWords(moved)}, each table compared: the same rows in the same order.`,
        "Start `signalbox serve` without --database, and stop the nodes of the database: they keep what they have.",
      ]);
    });

  onData(cluster.command("status"))
    .description("show the nodes of a cluster: leader, tasks and lag")
    .action(async (options: DataOptions) => {
      const machines = lookAtCluster(clusterIn(options), systemClock);
      const databases = await databasesOf(machines);
      const servers = await serversOf(machines).catch((error: Error) =>
        /no such table/.test(error.message) ? "not set up" : "not readable",
      );
      const wrong = [...wrongDatabases(databases), ...wrongServers(servers)];
      const known = typeof servers === "object" ? servers : {};
      if (options.json) printJson({ databases, ...known, wrong });
      else {
        printTable(databases.map(databaseRow));
        process.stdout.write("\n");
        if (typeof servers === "object") printTable(servers.nodes.map(nodeRow));
      }
      if (wrong.length > 0) throw new Error(`${wrong.join("; ")}.`);
    });
}

type Database = ClusterStatus["databases"][number];
type Server = ClusterStatus["nodes"][number];

const databaseRow = ({ address, leader, reachable }: Database) => ({
  database: address,
  role: leader ? "leader" : "follower",
  state: reachable ? "reachable" : "unreachable",
});

const nodeRow = ({ name, version, alive, shards, tasks, eventLag, clockOffsetMs }: Server) => ({
  signalbox: name,
  version,
  state: alive ? "alive" : "gone",
  shards: String(shards),
  "events behind": eventLag === null ? null : String(eventLag),
  clock: clockOffsetMs === null ? null : `${(clockOffsetMs / 1_000).toFixed(1)} s`,
  "does for all": tasks.join(", ") || null,
});

function wrongDatabases(databases: readonly Database[]): string[] {
  return [
    ...(databases.some(({ leader }) => leader) ? [] : ["no node of the database leads"]),
    ...databases
      .filter(({ reachable }) => !reachable)
      .map(({ address }) => `the database node ${address} can't be reached`),
  ];
}

type Servers = Omit<ClusterStatus, "databases"> | "not set up" | "not readable";

function wrongServers(servers: Servers): string[] {
  if (servers === "not set up") return ["no Signalbox has been started on this database yet"];
  if (servers === "not readable")
    return ["the list of Signalbox nodes can't be read while no node of the database leads"];
  const { nodes, freeShards } = servers;
  return [
    ...nodes
      .filter(({ alive }) => !alive)
      .map(({ name, lastSeenAt }) => `${name} is gone since ${lastSeenAt}`),
    ...(nodes.length > 0 && freeShards > 0
      ? [`${freeShards} shards of the monitors have no node`]
      : []),
  ];
}

function clusterIn(options: DataOptions): ClusterAddress {
  const cluster = clusterOf(placeOf(options));
  if (cluster === null) throw invalid("--database", "is needed: it names the cluster");
  return cluster;
}

function moveOf(options: DataOptions): MoveOptions {
  const { dataDir } = configOf({ dataDir: options.dataDir });
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const { migrations } = assets;
  return { dataDir, cluster: clusterIn(options), migrations, clock: systemClock, say };
}

function report(moved: Moved, { json }: DataOptions, sentences: readonly string[]) {
  if (json) printJson(moved);
  (json ? process.stderr : process.stdout).write(`${sentences.join("\n")}\n`);
}

const inWords = ({ tables, rows, bytes }: Moved) =>
  `${tables} tables with ${countInWords(rows)} rows (${bytesInWords(bytes)})`;
