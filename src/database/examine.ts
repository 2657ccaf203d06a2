/** Examines a data directory for `doctor`, without writing to it. */
import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Finding, fine, problem, unusable } from "../core/finding.ts";
import { vaultOf } from "../core/security/secrets.ts";
import { files } from "./file/data-files.ts";
import { mustBeOurs, mustHaveItsLog, readKey } from "./file/data-directory.ts";
import { mustHaveEnded } from "./file/run-marker.ts";
import { pendingMigrations } from "./migrate.ts";
import { isKeyOf } from "./sealed-values.ts";
import { hasUnfinishedRestore } from "./backup/unfinished-restore.ts";

/** Checks all files of the data directory. Can take minutes for large databases. */
export function examine(directory: string, migrations: string): Finding[] {
  const path = resolve(directory);
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = `${path} ${isMissing ? "does not exist" : "can't be read by this user"}`;
    return [unusable("data directory", message, isMissing ? naming : asTheOwner)];
  }
  const file = join(path, "signalbox.db");
  return [
    fine("data directory", path),
    ...permissions(path),
    key(path),
    ...(hasUnfinishedRestore(path)
      ? [
          problem(
            "restore",
            "a restore was interrupted",
            "Start `signalbox serve`: it finishes it.",
          ),
        ]
      : []),
    ...(existsSync(file)
      ? database(path, migrations)
      : [
          unusable(
            "database",
            `${file} is missing`,
            "Restore a backup with `signalbox restore FILE`, or start with an empty database: `signalbox serve --init`.",
          ),
        ]),
  ];
}

const naming = "Use the correct one with --data-dir, or start `signalbox serve`, which creates it.";
export const asTheOwner = "Run `doctor` as the account that `serve` runs as, or as root.";

function permissions(path: string): Finding[] {
  if (process.platform === "win32") return [];
  return ["", "signalbox.db", "secret.key", "set-up-token"].flatMap((name) => {
    const file = join(path, name);
    if (!existsSync(file)) return [];
    if ((statSync(file).mode & 0o077) === 0)
      return fine("permissions", `only the owner can read ${file}`);
    const mode = name === "" ? "700" : "600";
    return problem("permissions", `${file} is open to others`, `chmod ${mode} ${file}`);
  });
}

function key(path: string): Finding {
  const file = join(path, "secret.key");
  return existsSync(file)
    ? fine("key", `${file} is there`)
    : unusable(
        "key",
        `${file} is missing: it opens the stored secrets`,
        "Restore it from your copy.",
      );
}

function secrets(database: Database, key: string): Finding {
  return isKeyOf(database, vaultOf(readKey(key)))
    ? fine("secrets", `${key} decrypts the stored secrets`)
    : unusable(
        "secrets",
        `${key} opens none of the stored secrets`,
        "Restore the correct key from your copy.",
      );
}

const restoring = "Stop the server and restore a backup: `signalbox restore FILE`.";

function database(path: string, migrations: string): Finding[] {
  const { database: file, key } = files(path);
  try {
    mustBeOurs(file);
    mustHaveEnded(dirname(file));
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
      damage.length === 0
        ? fine("integrity", "all pages and indexes are intact")
        : unusable("integrity", damage.join("; "), restoring),
      orphans === 0
        ? fine("references", "all referenced rows exist")
        : problem("references", `rows without their parent: ${orphans}`, restoring),
      pending === 0
        ? fine("schema", "up to date")
        : problem(
            "schema",
            `older than this program; migrations to run: ${pending}`,
            "Stop the server and run `signalbox migrate`, or start the new `signalbox serve`.",
          ),
      ...(existsSync(key) ? [secrets(database, key)] : []),
    ];
    database.close();
    return findings;
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (/^(SQLITE_(CANTOPEN|READONLY|PERM|IOERR)|EACCES)/.test(code))
      return [
        unusable(
          "database",
          `${file} can't be opened (${code})`,
          `${asTheOwner} Otherwise the disk is probably full, read-only or defective.`,
        ),
      ];
    return [unusableFor(error)];
  }
}

/** Splits an error message into message and advice. Our own messages end with the next step. */
export function unusableFor(error: unknown, otherwise = restoring): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  const [message = reason, ...advice] = reason.split(". ");
  return unusable("database", message, advice.join(". ") || otherwise);
}
