import { statSync } from "node:fs";
import type { Command } from "commander";
import { invalidFieldError } from "../core/validation.ts";
import { copyDatabase } from "../database/backup/copy.ts";
import { resolveCluster } from "../database/data.ts";
import { copyCluster } from "../database/rqlite/data.ts";
import { printJson } from "./support/output.ts";
import { readPassphrase, addPassphraseOption } from "./support/passphrase.ts";
import { type DataOptions, resolveExistingLocation, addDataOptions } from "./support/with-data.ts";

type BackupFlags = DataOptions & { passphraseFile?: string; includeKey?: boolean };

export function addBackup(program: Command) {
  const command = program.command("backup").argument("<file>", "new file to write");
  addDataOptions(addPassphraseOption(command))
    .description("write a copy of the database; the server can keep running")
    .option("--include-key", "include secret.key; needs a passphrase")
    .action(async (file: string, options: BackupFlags) => {
      const location = resolveExistingLocation(options);
      const passphrase = readPassphrase(options.passphraseFile);
      const withKey = options.includeKey === true;
      if (withKey && passphrase === null)
        throw invalidFieldError(
          "--include-key",
          "needs --passphrase-file: the key opens everything",
        );
      const sealing = passphrase === null ? null : { passphrase, withKey };
      const cluster = resolveCluster(location);
      if (cluster === null) await copyDatabase(location.dataDir, file, sealing);
      else await copyCluster(cluster, location.dataDir, file, sealing);
      const bytes = statSync(file).size;
      if (options.json) printJson({ file, bytes });
      else process.stdout.write(`${file}\n`);
      if (!withKey)
        process.stderr.write(
          "It holds no secret.key, which opens its secrets: keep a copy of that as well, elsewhere.\n",
        );
    });
}
