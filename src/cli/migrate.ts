import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import { systemClock } from "../core/time/clock.ts";
import { DataError } from "../core/errors.ts";
import { configOf } from "../config.ts";
import { type DataPlace, openData } from "../database/data.ts";
import { printJson } from "./support/output.ts";
import { type DataOptions, existingPlaceOf, onData } from "./support/with-data.ts";

export function addMigrate(program: Command) {
  onData(program.command("migrate"))
    .description("upgrade older data to this version; stop the server first")
    .option("--require-copy", "refuse to upgrade if the disk has no space for a copy of the data")
    .action(async ({ json, ...options }: DataOptions & { requireCopy?: boolean }) => {
      const migrated = await upgraded(existingPlaceOf(options), configOf(options).requireCopy);
      if (json) printJson({ migrated });
      else
        process.stdout.write(
          migrated === 0 ? "The data is up to date.\n" : `${migrated} migrations applied.\n`,
        );
    });
}

/** Upgrades the data and returns the number of migrations. Exclusive access is required only if there are any. */
async function upgraded(place: DataPlace, requireCopy: boolean): Promise<number> {
  const options = { migrations: assets.migrations, clock: systemClock };
  const say = (message: string) => void process.stderr.write(`${message}\n`);
  try {
    await (await openData(place, options)).close();
    return 0;
  } catch (error) {
    if (!(error instanceof DataError) || error.code !== "MIGRATION_REFUSED") throw error;
    const data = await openData(place, {
      ...options,
      upgrade: true,
      requireCopy,
      onMissingCopy: say,
      onWait: () => say("Another machine upgrades the data: waiting for it."),
      exclusive: true,
    });
    await data.close();
    return data.migrated;
  }
}
