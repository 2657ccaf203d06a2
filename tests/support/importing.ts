import { Database } from "bun:sqlite";
import { copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "../../src/events/scope.ts";
import { openKuma } from "../../src/imports/kuma/open.ts";
import { planOf } from "../../src/imports/kuma/plan.ts";
import type { ImportOptions } from "../../src/imports/prepare.ts";
import { runImport } from "../../src/imports/service.ts";

/** Databases and a backup that Uptime Kuma wrote. */
export const fixture = (name: string) =>
  join(import.meta.dir, "..", "fixtures", "uptime-kuma", name);

export async function importKuma(
  scope: Scope,
  from: string,
  options: Partial<ImportOptions> = {},
  change: (scope: Scope) => Scope = (same) => same,
) {
  const opened = await openKuma(from, tmpdir());
  try {
    return await runImport(change(scope), planOf(opened, scope.clock()), opened.history, {
      keepResults: 14,
      keepHours: 400,
      picture: (path) => opened.picture(path),
      ...options,
    });
  } finally {
    await opened.close();
  }
}

/** A changed copy of a fixture. */
export function changedFixture(name: string, folder: string, ...statements: string[]): string {
  const file = join(folder, "kuma.db");
  copyFileSync(fixture(name), file);
  const database = new Database(file);
  for (const statement of statements) database.run(statement);
  database.close();
  return file;
}
