import { Database } from "bun:sqlite";
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "../../src/events/scope.ts";
import { openKuma } from "../../src/imports/kuma/open.ts";
import { buildKumaPlan } from "../../src/imports/kuma/plan.ts";
import type { ImportOptions } from "../../src/imports/prepare.ts";
import { runImport } from "../../src/imports/service.ts";

const fixtures = join(import.meta.dir, "..", "fixtures", "uptime-kuma");
const inflated = new Map<string, string>();

/** The path of a database or backup that Uptime Kuma itself wrote. */
export function inflateFixture(name: string): string {
  const known = inflated.get(name);
  if (known !== undefined) return known;
  const file = join(mkdtempSync(join(tmpdir(), "signalbox-fixture-")), name);
  writeFileSync(file, Bun.gunzipSync(readFileSync(join(fixtures, `${name}.gz`))));
  inflated.set(name, file);
  return file;
}

export async function importKuma(
  scope: Scope,
  from: string,
  options: Partial<ImportOptions> = {},
  change: (scope: Scope) => Scope = (same) => same,
) {
  const opened = await openKuma(from, tmpdir());
  try {
    return await runImport(change(scope), buildKumaPlan(opened, scope.clock()), opened.history, {
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
export function copyFixture(name: string, folder: string, ...statements: string[]): string {
  const file = join(folder, "kuma.db");
  copyFileSync(inflateFixture(name), file);
  const database = new Database(file);
  database.run("pragma synchronous = off");
  for (const statement of statements) database.run(statement);
  database.close();
  return file;
}
