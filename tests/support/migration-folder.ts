import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { prebuildEmptyDatabase } from "../../src/database/file/data-directory.ts";

type Journal = { entries: object[] };

const emptyJournal = { version: "7", dialect: "sqlite", entries: [] };

/** Writes a folder of migrations like drizzle-kit: those of `base`, then one per text. */
export function writeMigrationFolder(
  folder: string,
  texts: readonly string[],
  base: string | null = assets.migrations,
): string {
  mkdirSync(join(folder, "meta"), { recursive: true });
  if (base !== null) cpSync(base, folder, { recursive: true });
  const file = join(folder, "meta", "_journal.json");
  const journal: Journal = base === null ? emptyJournal : JSON.parse(readFileSync(file, "utf8"));
  const entries = [...journal.entries];
  for (const text of texts) {
    const index = entries.length;
    const tag = `${String(index).padStart(4, "0")}_test`;
    // Later than any real migration, in order.
    const createdAt = Date.parse("2100-01-01") + index;
    entries.push({ idx: index, version: "6", when: createdAt, tag, breakpoints: true });
    writeFileSync(join(folder, `${tag}.sql`), text);
  }
  writeFileSync(file, JSON.stringify({ ...journal, entries }));
  return folder;
}

/** Migrations before the one of this name, as an older version had them. */
export function copyMigrationsBefore(folder: string, name: string): string {
  cpSync(assets.migrations, folder, { recursive: true });
  const file = join(folder, "meta", "_journal.json");
  const journal: { entries: { tag: string }[] } = JSON.parse(readFileSync(file, "utf8"));
  const index = journal.entries.findIndex(({ tag }) => tag.endsWith(`_${name}`));
  if (index === -1) throw new Error(`There is no migration ${name}.`);
  writeFileSync(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, index) }));
  return folder;
}

let prebuilt: string | undefined;

/** All migrations with the empty database of a build, because running them takes 0.2 s of CPU time. */
export function getBuiltMigrations(): string {
  if (prebuilt !== undefined) return prebuilt;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-migrations-"));
  cpSync(assets.migrations, folder, { recursive: true });
  prebuildEmptyDatabase(folder);
  return (prebuilt = folder);
}
