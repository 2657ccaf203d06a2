import { statSync } from "node:fs";
import type { Command } from "commander";
import { configOf } from "../config.ts";
import { invalid } from "../core/validation.ts";
import { copyDatabase } from "../database/copy.ts";
import { passphraseOf, withPassphrase } from "./passphrase.ts";
import { type DataOptions, onData } from "./with-data.ts";

type BackupFlags = DataOptions & { passphraseFile?: string; includeKey?: boolean };

export function addBackup(program: Command) {
  const command = program
    .command("backup")
    .argument("<file>", "where to write it; must not exist yet");
  onData(withPassphrase(command))
    .description("write a copy of the database, also while the server runs")
    .option("--include-key", "have secret.key in it, too; needs a passphrase")
    .action((file: string, options: BackupFlags) => {
      const { dataDir } = configOf({ dataDir: options.dataDir });
      const passphrase = passphraseOf(options.passphraseFile);
      const withKey = options.includeKey === true;
      if (withKey && passphrase === null)
        throw invalid("--include-key", "needs --passphrase-file: the key opens everything");
      copyDatabase(dataDir, file, passphrase === null ? null : { passphrase, withKey });
      const bytes = statSync(file).size;
      process.stdout.write(
        options.json ? `${JSON.stringify({ file, bytes }, null, 2)}\n` : `${file}\n`,
      );
      if (!withKey)
        process.stderr.write(
          "It holds no secret.key, which opens its secrets: keep a copy of that as well, elsewhere.\n",
        );
    });
}
