/** `signalbox cluster`: moves data between a file and a cluster, and shows its nodes. */
import type { Command } from "commander";
import { readDatabases, readNodes } from "../cluster/status.ts";
import type { ClusterStatus } from "../cluster/schema.ts";
import { parseConfig } from "../config.ts";
import { assets } from "../core/assets.ts";
import { readSystemClock } from "../core/time/clock.ts";
import { formatBytes, formatCount } from "../core/text/formatting.ts";
import { invalidFieldError } from "../core/validation.ts";
import {
  exportFromCluster,
  importToCluster,
  type Moved,
  type MoveOptions,
} from "../database/rqlite/cluster-move.ts";
import type { ClusterAddress } from "../database/address.ts";
import { resolveCluster } from "../database/data.ts";
import { openClusterReadOnly } from "../database/rqlite/data.ts";
import { printJson, printTable } from "./support/output.ts";
import { type DataOptions, addDataOptions, resolveLocation } from "./support/with-data.ts";

export function addCluster(program: Command) {
  const cluster = program.command("cluster").description("data on a rqlite cluster");

  addDataOptions(cluster.command("import"))
    .description(
      "move the data of the data directory to a cluster and verify it; stop the server first",
    )
    .option("--replace", "replace existing data on the cluster, which is stored in a file")
    .action(async ({ replace = false, ...options }: DataOptions & { replace?: boolean }) => {
      const result = await importToCluster({ ...buildMoveOptions(options), replace });
      const { keptAside, previousCopy, key } = result;
      printMoved(result, options, [
        `The cluster holds ${describeMoved(result)}, each table compared: the same rows in the same order.`,
        `The file was renamed to ${keptAside}.`,
        ...(previousCopy === null
          ? []
          : [`The former data of the cluster is stored as ${previousCopy}.`]),
        `Copy ${key} into the data directory of every other machine before it starts.`,
      ]);
    });

  addDataOptions(cluster.command("export"))
    .description(
      "move the data of a cluster into one file in the data directory and verify it; stop all Signalbox nodes first",
    )
    .action(async (options: DataOptions) => {
      const result = await exportFromCluster(buildMoveOptions(options));
      printMoved(result, options, [
        `${result.file} holds ${describeMoved(result)}, each table compared: the same rows in the same order.`,
        "Start `signalbox serve` without --database, and stop the nodes of the database. Their data is unchanged.",
      ]);
    });

  addDataOptions(cluster.command("status"))
    .description("show the nodes of a cluster: leader, tasks and lag")
    .action(async (options: DataOptions) => {
      const machines = openClusterReadOnly(requireCluster(options), readSystemClock);
      const databases = await readDatabases(machines);
      const servers = await readNodes(machines).catch((error: Error) =>
        /no such table/.test(error.message) ? "not set up" : "not readable",
      );
      const wrong = [...describeDatabaseProblems(databases), ...describeServerProblems(servers)];
      const known = typeof servers === "object" ? servers : {};
      if (options.json) printJson({ databases, ...known, wrong });
      else {
        printTable(databases.map(toDatabaseRow));
        process.stdout.write("\n");
        if (typeof servers === "object") printTable(servers.nodes.map(toNodeRow));
      }
      if (wrong.length > 0) throw new Error(`${wrong.join("; ")}.`);
    });
}

type Database = ClusterStatus["databases"][number];
type Server = ClusterStatus["nodes"][number];

const toDatabaseRow = ({ address, leader, reachable }: Database) => ({
  database: address,
  role: leader ? "leader" : "follower",
  state: reachable ? "reachable" : "unreachable",
});

const toNodeRow = ({ name, version, alive, shards, tasks, eventLag, clockOffsetMs }: Server) => ({
  signalbox: name,
  version,
  state: alive ? "alive" : "gone",
  shards: String(shards),
  "events behind": eventLag === null ? null : String(eventLag),
  clock: clockOffsetMs === null ? null : formatClockOffset(clockOffsetMs),
  "does for all": tasks.join(", ") || null,
});

/** The database reports whole seconds, so smaller offsets are not significant. */
const formatClockOffset = (ms: number) =>
  Math.abs(ms) < 1_000 ? "<1 s" : `${(ms / 1_000).toFixed(1)} s`;

function describeDatabaseProblems(databases: readonly Database[]): string[] {
  return [
    ...(databases.some(({ leader }) => leader) ? [] : ["no node of the database leads"]),
    ...databases
      .filter(({ reachable }) => !reachable)
      .map(({ address }) => `the database node ${address} can't be reached`),
  ];
}

type Servers = Omit<ClusterStatus, "databases"> | "not set up" | "not readable";

function describeServerProblems(servers: Servers): string[] {
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

function requireCluster(options: DataOptions): ClusterAddress {
  const cluster = resolveCluster(resolveLocation(options));
  if (cluster === null) throw invalidFieldError("--database", "is needed: it names the cluster");
  return cluster;
}

function buildMoveOptions(options: DataOptions): MoveOptions {
  const { dataDir } = parseConfig({ dataDir: options.dataDir });
  const printLine = (line: string) => void process.stderr.write(`${line}\n`);
  const { migrations } = assets;
  return {
    dataDir,
    cluster: requireCluster(options),
    migrations,
    clock: readSystemClock,
    print: printLine,
  };
}

function printMoved(moved: Moved, { json }: DataOptions, sentences: readonly string[]) {
  if (json) printJson(moved);
  (json ? process.stderr : process.stdout).write(`${sentences.join("\n")}\n`);
}

const describeMoved = ({ tables, rows, bytes }: Moved) =>
  `${tables} tables with ${formatCount(rows)} rows (${formatBytes(bytes)})`;
