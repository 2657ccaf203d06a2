import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import { DataError } from "../core/errors.ts";
import { configOf } from "../config.ts";
import { examine } from "../database/examine.ts";
import { type DataOptions, onData } from "./with-data.ts";

export function addDoctor(program: Command) {
  onData(program.command("doctor"))
    .description("examine the data directory thoroughly, without changing any data")
    .action((options: DataOptions) => {
      const { dataDir } = configOf({ dataDir: options.dataDir });
      const findings = examine(dataDir, assets.migrations);
      if (options.json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
      else
        for (const { verdict, subject, message } of findings)
          process.stdout.write(`${verdict.padEnd(9)} ${subject}: ${message}\n`);
      if (findings.some(({ verdict }) => verdict === "unusable"))
        throw new DataError("DATA_UNUSABLE", "This data can't be used as it is; see above.");
      if (findings.some(({ verdict }) => verdict === "problem"))
        throw new Error("There are problems; see above.");
    });
}
