import { Database } from "bun:sqlite";
import type { Command } from "commander";
import { join } from "node:path";
import { assets, buildInfo, version } from "../core/assets.ts";
import { printJson } from "./support/output.ts";

export function addVersion(program: Command) {
  program
    .command("version")
    .description("print the version")
    .option("--json", "print JSON, including the commit")
    .action(({ json }: { json?: boolean }) => {
      if (!json) return void process.stdout.write(`${version}\n`);
      const facts = {
        version,
        ...buildInfo,
        bun: Bun.version,
        sqlite: readSqliteVersion(),
        platform: `${process.platform}-${process.arch}`,
      };
      printJson(facts);
    });
}

function readSqliteVersion(): string {
  using database = new Database(":memory:");
  const row = database.query<{ version: string }, []>("select sqlite_version() as version").get();
  return row?.version ?? "unknown";
}

export function addLicenses(program: Command) {
  program
    .command("licenses")
    .description("print the licenses of all components of the executable")
    .action(async () => {
      const packed = await Bun.file(join(assets.legal, "licenses.txt.zst")).bytes();
      process.stdout.write(await Bun.zstdDecompress(packed));
    });
}
