import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import type { Scope } from "../events/scope.ts";
import { systemClock } from "../core/clock.ts";
import { noLimits } from "../core/limits.ts";
import { ownHostsOf } from "../core/own-hosts.ts";
import { targetGuard } from "../core/target-guard.ts";
import { configOf } from "../config.ts";
import { type DataDirectory, openDataDirectory } from "../database/data-directory.ts";

export type DataOptions = { dataDir?: string; json?: boolean };

/** The options that every command on data has. */
export function onData(command: Command): Command {
  return command
    .option("--data-dir <dir>", "data directory (SIGNALBOX_DATA_DIR)")
    .option("--json", "print JSON for machines");
}

/** Runs `use` on the data directory, also while a server runs on it, unless it needs it for itself. */
export async function withData<T>(
  options: DataOptions,
  use: (data: DataDirectory) => Promise<T>,
  { exclusive = false }: { exclusive?: boolean } = {},
): Promise<T> {
  const { dataDir } = configOf({ dataDir: options.dataDir });
  const { migrations } = assets;
  const data = openDataDirectory(dataDir, { migrations, clock: systemClock, exclusive });
  try {
    return await use(data);
  } finally {
    data.close();
  }
}

/** Whoever sits at the command line, acting for one organization. */
export function commandLineScope(data: DataDirectory, organizationId: string): Scope {
  return {
    store: data.store,
    clock: systemClock,
    vault: data.vault,
    targets: targetGuard(() => []),
    ownHosts: ownHostsOf([]),
    limits: noLimits,
    organizationId,
    actor: { type: "command-line", id: null, name: "command line" },
    mayWrite: true,
    requestId: null,
    origin: "",
    ifMatch: null,
    remember: null,
  };
}

/** Rows as one JSON document, or as aligned columns under their headings. */
export function print(rows: readonly Record<string, string | null>[], json: boolean | undefined) {
  if (json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const names = Object.keys(rows[0] ?? {});
  const table = [names, ...rows.map((row) => names.map((name) => row[name] ?? "–"))];
  const widths = names.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows.length === 0 ? [] : table)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
}
