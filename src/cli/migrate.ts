import type { Command } from "commander";
import { assets } from "../assets.ts";
import { systemClock } from "../base/clock.ts";
import { configOf } from "../config.ts";
import { openDataDirectory } from "../database/data-directory.ts";
import { type DataOptions, onData } from "./with-data.ts";

export function addMigrate(program: Command) {
  onData(program.command("migrate"))
    .description("bring the data up to this version; a running server must be stopped first")
    .action((options: DataOptions) => {
      const { dataDir } = configOf({ dataDir: options.dataDir });
      const { migrations } = assets;
      const data = openDataDirectory(dataDir, {
        migrations,
        clock: systemClock,
        upgrade: true,
        exclusive: true,
      });
      const { migrated } = data;
      data.close();
      process.stdout.write(
        options.json
          ? `${JSON.stringify({ migrated })}\n`
          : migrated === 0
            ? "The data is up to date.\n"
            : `${migrated} migrations applied.\n`,
      );
    });
}
