import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { vaultOf } from "../core/secrets.ts";
import { files, freeBytesOf, mustBeOurs, mustHaveItsLog, readKey } from "./data-directory.ts";
import { pendingMigrations } from "./migrate.ts";
import { isKeyOf } from "./sealed-values.ts";
import { hasUnfinishedRestore } from "./unfinished-restore.ts";

export type Finding = {
  /** `unusable` means that `serve` would not start on it. */
  verdict: "ok" | "problem" | "unusable";
  subject: string;
  message: string;
};

const lowDiskBytes = 500 * 1024 * 1024;

/** Reads the whole data directory and says what it found; for any size, so it may take minutes. */
export function examine(directory: string, migrations: string): Finding[] {
  const path = resolve(directory);
  if (!existsSync(path)) return [vital(false, "data directory", `${path} does not exist`)];
  const file = join(path, "signalbox.db");
  return [
    finding(true, "data directory", path),
    ...permissions(path),
    key(path),
    diskSpace(path),
    ...(hasUnfinishedRestore(path)
      ? [finding(false, "restore", "one was interrupted: the next start finishes it")]
      : []),
    ...(existsSync(file)
      ? database(path, migrations)
      : [vital(false, "database", `${file} is missing`)]),
  ];
}

function finding(
  ok: boolean,
  subject: string,
  message: string,
  otherwise: "problem" | "unusable" = "problem",
): Finding {
  return { verdict: ok ? "ok" : otherwise, subject, message };
}

const vital = (ok: boolean, subject: string, message: string) =>
  finding(ok, subject, message, "unusable");

function permissions(path: string): Finding[] {
  if (process.platform === "win32") return [];
  return ["", "signalbox.db", "secret.key", "set-up-token"].flatMap((name) => {
    const file = join(path, name);
    if (!existsSync(file)) return [];
    const open = (statSync(file).mode & 0o077) !== 0;
    return finding(!open, "permissions", `${file} ${open ? "is open to others" : "is ours alone"}`);
  });
}

function key(path: string): Finding {
  const file = join(path, "secret.key");
  const isThere = existsSync(file);
  return vital(
    isThere,
    "key",
    `${file} is ${isThere ? "there" : "missing: put it back from your backup"}`,
  );
}

function diskSpace(path: string): Finding {
  const free = freeBytesOf(path);
  return finding(free > lowDiskBytes, "disk space", `${Math.floor(free / 1024 ** 2)} MiB free`);
}

function secrets(database: Database, key: string): Finding {
  const fits = isKeyOf(database, vaultOf(readKey(key)));
  const what = fits
    ? "what is stored"
    : "none of the stored secrets: put the right one back from your backup";
  return finding(fits, "secrets", `${key} opens ${what}`);
}

function sizeOf(database: Database, file: string): string {
  const { free = 0 } =
    database
      .query<{ free: number }, []>(
        "select freelist_count * page_size as free from pragma_freelist_count, pragma_page_size",
      )
      .get() ?? {};
  const [all, unused] = [statSync(file).size, free].map((bytes) => (bytes / 1024 ** 2).toFixed(1));
  return `${all} MiB, of which ${unused} MiB are room for new rows (\`compact\` gives it back)`;
}

function database(path: string, migrations: string): Finding[] {
  const { database: file, key } = files(path);
  try {
    mustBeOurs(file);
    mustHaveItsLog(file);
    const database = new Database(file, { readonly: true });
    const damage = database
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check(5)")
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== "ok");
    const orphans = database.query("PRAGMA foreign_key_check").all().length;
    const pending = pendingMigrations(database, migrations);
    const findings = [
      vital(damage.length === 0, "integrity", damage.join("; ") || "every page and index is whole"),
      finding(orphans === 0, "references", `${orphans} rows without their parent`),
      finding(pending === 0, "schema", pending ? `${pending} migrations to run` : "up to date"),
      ...(existsSync(key) ? [secrets(database, key)] : []),
      finding(true, "size", sizeOf(database, file)),
    ];
    database.close();
    return findings;
  } catch (error) {
    return [vital(false, "database", error instanceof Error ? error.message : String(error))];
  }
}
