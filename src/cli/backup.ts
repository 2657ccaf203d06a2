import type { Command } from "commander";
import { statSync } from "node:fs";
import { configOf } from "../config.ts";
import { copyDatabase } from "../database/copy.ts";
import { type DataOptions, onData } from "./with-data.ts";

export function addBackup(program: Command) {
  onData(program.command("backup").argument("<file>", "where to write it; must not exist yet"))
    .description("write a copy of the database, also while the server runs")
    .action((file: string, options: DataOptions) => {
      const { dataDir } = configOf({ dataDir: options.dataDir });
      copyDatabase(dataDir, file);
      const bytes = statSync(file).size;
      process.stdout.write(
        options.json ? `${JSON.stringify({ file, bytes }, null, 2)}\n` : `${file}\n`,
      );
      process.stderr.write(
        "It holds no secret.key, which opens its secrets: keep a copy of that as well, elsewhere.\n",
      );
    });
}
