import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import { systemClock } from "../core/clock.ts";
import { bytesInWords } from "../core/text.ts";
import { invalid } from "../core/validation.ts";
import {
  exportFromCluster,
  importToCluster,
  type Moved,
  type MoveOptions,
} from "../database/cluster-move.ts";
import { clusterOf } from "../database/data.ts";
import { type DataOptions, onData, placeOf } from "./with-data.ts";

export function addCluster(program: Command) {
  const cluster = program.command("cluster").description("data on a rqlite cluster");

  onData(cluster.command("import"))
    .description(
      "move the data of the data directory onto a cluster, and compare it there; the server must be stopped first",
    )
    .option("--replace", "put it in the place of what the cluster holds, which is kept as a file")
    .action(async ({ replace = false, ...options }: DataOptions & { replace?: boolean }) => {
      const moved = await importToCluster({ ...moveOf(options), replace });
      const { keptAside, replaced, key } = moved;
      report(moved, options, [
        `The cluster holds ${inWords(moved)}, each table compared: the same rows in the same order.`,
        `The file is kept as ${keptAside}.`,
        ...(replaced === null ? [] : [`What the cluster held before is kept as ${replaced}.`]),
        `Copy ${key} into the data directory of every other machine before it starts.`,
      ]);
    });

  onData(cluster.command("export"))
    .description(
      "move the data of a cluster into one file in the data directory, and compare it; every Signalbox on the cluster must be stopped first",
    )
    .action(async (options: DataOptions) => {
      const moved = await exportFromCluster(moveOf(options));
      report(moved, options, [
        `${moved.file} holds ${inWords(moved)}, each table compared: the same rows in the same order.`,
        "Start `signalbox serve` without --database, and stop the nodes of the database: they keep what they have.",
      ]);
    });
}

function moveOf(options: DataOptions): MoveOptions {
  const { dataDir, ...place } = placeOf(options);
  const cluster = clusterOf({ dataDir, ...place });
  if (cluster === null) throw invalid("--database", "is needed: it names the cluster");
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  return { dataDir, cluster, migrations: assets.migrations, clock: systemClock, say };
}

function report(moved: Moved, { json }: DataOptions, sentences: readonly string[]) {
  if (json) process.stdout.write(`${JSON.stringify(moved, null, 2)}\n`);
  (json ? process.stderr : process.stdout).write(`${sentences.join("\n")}\n`);
}

const inWords = ({ tables, rows, bytes }: Moved) =>
  `${tables} tables with ${rows.toLocaleString("en")} rows (${bytesInWords(bytes)})`;
