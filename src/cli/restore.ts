import type { Command } from "commander";
import { assets } from "../core/assets.ts";
import { readSystemClock } from "../core/time/clock.ts";
import { restore, type Restored } from "../database/backup/restore.ts";
import { printJson } from "./support/output.ts";
import { readPassphrase, addPassphraseOption } from "./support/passphrase.ts";
import { type DataOptions, resolveDirectory, addDataOptions } from "./support/with-data.ts";

type RestoreFlags = DataOptions & { key?: string; passphraseFile?: string; dryRun?: boolean };

export function addRestore(program: Command) {
  addDataOptions(addPassphraseOption(program.command("restore").argument("<file>", "the backup")))
    .description("replace the data with a backup and preserve the old data; stop the server first")
    .option(
      "--key <file>",
      "the secret.key of the backup (default: the one in the backup, or in the data directory)",
    )
    .option("--dry-run", "verify the backup without restoring it")
    .action(async (file: string, { json, key, dryRun = false, ...options }: RestoreFlags) => {
      const dataDir = resolveDirectory(
        options,
        "restore it into an empty directory, and move that up with `cluster import`",
      );
      const { migrations } = assets;
      const passphrase = readPassphrase(options.passphraseFile);
      const clock = readSystemClock;
      const restored = await restore({ dataDir, file, key, passphrase, dryRun, migrations, clock });
      const lines = [...describeRestored(restored, dryRun), ""].join("\n");
      if (json) printJson({ ...restored, dryRun });
      (json ? process.stderr : process.stdout).write(lines);
    });
}

function describeRestored(restored: Restored, dryRun: boolean): string[] {
  const { dataDir, keptAside, organizations, monitors, migrations, secrets } = restored;
  const content = `${formatCount(organizations, "organization")}, ${formatCount(monitors, "monitor")}`;
  return [
    dryRun
      ? `The backup is complete and can be restored to ${dataDir}: ${content}. Nothing was changed.`
      : `Restored to ${dataDir}: ${content}.`,
    ...(keptAside !== null && !dryRun ? [`The previous data is in ${keptAside}.`] : []),
    ...(migrations > 0 ? ["It was written by an older version: the next start upgrades it."] : []),
    ...(secrets === "closed"
      ? [
          `Its secrets stay closed, and it does not start, until its secret.key is put into ${dataDir}.`,
        ]
      : []),
  ];
}

const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
