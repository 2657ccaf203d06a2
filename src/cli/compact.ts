import type { Command } from "commander";
import { statSync } from "node:fs";
import { join } from "node:path";
import { assets } from "../core/assets.ts";
import { readSystemClock } from "../core/time/clock.ts";
import { formatBytes } from "../core/text/formatting.ts";
import { type DataDirectory, openDataDirectory } from "../database/file/data-directory.ts";
import { measureFreeBytes } from "../database/file/data-files.ts";
import { printJson } from "./support/output.ts";
import {
  type DataOptions,
  resolveDirectory,
  resolveExistingLocation,
  addDataOptions,
} from "./support/with-data.ts";

export function addCompact(program: Command) {
  addDataOptions(program.command("compact"))
    .description("return the space of deleted rows to the disk; stop the server first")
    .action((options: DataOptions) => {
      resolveDirectory(options, "rqlited does it with -auto-vacuum-int");
      const { dataDir } = resolveExistingLocation(options);
      const { migrations } = assets;
      const data = openDataDirectory(dataDir, {
        migrations,
        clock: readSystemClock,
        isExclusive: true,
      });
      try {
        compactDatabase(data, options.json);
      } finally {
        data.close();
      }
    });
}

function compactDatabase({ database, path }: DataDirectory, json: boolean | undefined) {
  const file = join(path, "signalbox.db");
  const before = statSync(file).size;
  const { used = before } =
    database
      .query<{ used: number }, []>(
        `select (page_count - freelist_count) * page_size as used
         from pragma_page_count, pragma_freelist_count, pragma_page_size`,
      )
      .get() ?? {};
  // The write-ahead log receives all new pages before the file does, next to SQLite's temporary
  // copy.
  const room = 2 * used;
  if (measureFreeBytes(path) < room)
    throw new Error(
      `This needs up to ${formatBytes(room)} in addition to the database, and the disk has less. Nothing was changed.`,
    );
  database.run("VACUUM");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const after = statSync(file).size;
  if (json) printJson({ file, before, after });
  else process.stdout.write(`${file}: ${formatBytes(before)}, now ${formatBytes(after)}\n`);
}
