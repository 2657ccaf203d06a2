import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import { readSystemClock } from "../core/time/clock.ts";
import { DataError } from "../core/errors.ts";
import { parseConfig } from "../config.ts";
import { type DataLocation, openData } from "../database/data.ts";
import { printJson } from "./support/output.ts";
import { type DataOptions, resolveExistingLocation, addDataOptions } from "./support/with-data.ts";

export function addMigrate(program: Command) {
  addDataOptions(program.command("migrate"))
    .description("upgrade older data to this version; stop the server first")
    .option("--require-copy", "do not upgrade if the disk has no space for a copy of the data")
    .action(async ({ json, ...options }: DataOptions & { requireCopy?: boolean }) => {
      const migrated = await upgradeData(
        resolveExistingLocation(options),
        parseConfig(options).requireCopy,
      );
      if (json) printJson({ migrated });
      else
        process.stdout.write(
          migrated === 0 ? "The data is up to date.\n" : `${migrated} migrations applied.\n`,
        );
    });
}

/** Upgrades the data and returns the number of migrations. Exclusive access is required only if there are any. */
async function upgradeData(location: DataLocation, requireCopy: boolean): Promise<number> {
  const options = { migrations: assets.migrations, clock: readSystemClock };
  const printLine = (message: string) => void process.stderr.write(`${message}\n`);
  try {
    await (await openData(location, options)).close();
    return 0;
  } catch (error) {
    if (!(error instanceof DataError) || error.code !== "MIGRATION_REFUSED") throw error;
    const data = await openData(location, {
      ...options,
      upgrade: true,
      requireCopy,
      onMissingCopy: printLine,
      onWait: () => printLine("Another machine upgrades the data: waiting for it."),
      isExclusive: true,
    });
    await data.close();
    return data.migrated;
  }
}
