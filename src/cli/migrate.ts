import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import { systemClock } from "../core/clock.ts";
import { DataError } from "../core/errors.ts";
import { type Config, configOf } from "../config.ts";
import { openDataDirectory } from "../database/data-directory.ts";
import { type DataOptions, onData } from "./with-data.ts";

export function addMigrate(program: Command) {
  onData(program.command("migrate"))
    .description("bring older data up to this version; its server must be stopped first")
    .option("--require-copy", "refuse to upgrade data without room for a copy of it")
    .action(({ json, ...flags }: DataOptions & { requireCopy?: boolean }) => {
      const migrated = upgraded(configOf(flags));
      process.stdout.write(
        json
          ? `${JSON.stringify({ migrated })}\n`
          : migrated === 0
            ? "The data is up to date.\n"
            : `${migrated} migrations applied.\n`,
      );
    });
}

/** How many migrations ran. Only data that needs some has to be ours alone. */
function upgraded({ dataDir, requireCopy }: Config): number {
  const options = { migrations: assets.migrations, clock: systemClock };
  try {
    openDataDirectory(dataDir, options).close();
    return 0;
  } catch (error) {
    if (!(error instanceof DataError) || error.code !== "MIGRATION_REFUSED") throw error;
    const data = openDataDirectory(dataDir, {
      ...options,
      upgrade: true,
      requireCopy,
      onMissingCopy: (message) => process.stderr.write(`${message}\n`),
      exclusive: true,
    });
    data.close();
    return data.migrated;
  }
}
