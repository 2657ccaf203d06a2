/** Examines a data directory for `doctor`, without writing to it. */
import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type Finding,
  createOkFinding,
  createProblemFinding,
  createUnusableFinding,
} from "../core/finding.ts";
import { createVault } from "../core/security/secrets.ts";
import { getDataFiles } from "./file/data-files.ts";
import { assertOurs, assertLogComplete, readKey } from "./file/data-directory.ts";
import { assertEnded } from "./file/run-marker.ts";
import { countPendingMigrations } from "./migrate.ts";
import { isKeyOf } from "./sealed-values.ts";
import { hasUnfinishedRestore } from "./backup/unfinished-restore.ts";

/** Checks all files of the data directory. Can take minutes for large databases. */
export function examineDirectory(directory: string, migrations: string): Finding[] {
  const path = resolve(directory);
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = `${path} ${isMissing ? "does not exist" : "can't be read by this user"}`;
    return [
      createUnusableFinding(
        "data directory",
        message,
        isMissing ? nameDirectoryAdvice : runAsOwnerAdvice,
      ),
    ];
  }
  const file = join(path, "signalbox.db");
  return [
    createOkFinding("data directory", path),
    ...examinePermissions(path),
    examineKey(path),
    ...(hasUnfinishedRestore(path)
      ? [
          createProblemFinding(
            "restore",
            "a restore was interrupted",
            "Start `signalbox serve`: it finishes it.",
          ),
        ]
      : []),
    ...(existsSync(file)
      ? examineFile(path, migrations)
      : [
          createUnusableFinding(
            "database",
            `${file} is missing`,
            "Restore a backup with `signalbox restore FILE`, or start with an empty database: `signalbox serve --init`.",
          ),
        ]),
  ];
}

const nameDirectoryAdvice =
  "Use the correct one with --data-dir, or start `signalbox serve`, which creates it.";
export const runAsOwnerAdvice = "Run `doctor` as the account that `serve` runs as, or as root.";

function examinePermissions(path: string): Finding[] {
  if (process.platform === "win32") return [];
  return ["", "signalbox.db", "secret.key", "set-up-token"].flatMap((name) => {
    const file = join(path, name);
    if (!existsSync(file)) return [];
    if ((statSync(file).mode & 0o077) === 0)
      return createOkFinding("permissions", `only the owner can read ${file}`);
    const mode = name === "" ? "700" : "600";
    return createProblemFinding(
      "permissions",
      `${file} is open to others`,
      `chmod ${mode} ${file}`,
    );
  });
}

function examineKey(path: string): Finding {
  const file = join(path, "secret.key");
  return existsSync(file)
    ? createOkFinding("key", `${file} is there`)
    : createUnusableFinding(
        "key",
        `${file} is missing: it opens the stored secrets`,
        "Restore it from your copy.",
      );
}

function examineSecrets(examineDatabase: Database, key: string): Finding {
  return isKeyOf(examineDatabase, createVault(readKey(key)))
    ? createOkFinding("secrets", `${key} decrypts the stored secrets`)
    : createUnusableFinding(
        "secrets",
        `${key} opens none of the stored secrets`,
        "Restore the correct key from your copy.",
      );
}

const restoreAdvice = "Stop the server and restore a backup: `signalbox restore FILE`.";

function examineFile(path: string, migrations: string): Finding[] {
  const { database: file, key } = getDataFiles(path);
  try {
    assertOurs(file);
    assertEnded(dirname(file));
    assertLogComplete(file);
    const database = new Database(file, { readonly: true });
    const damage = database
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check(5)")
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== "ok");
    const orphans = database.query("PRAGMA foreign_key_check").all().length;
    const pending = countPendingMigrations(database, migrations);
    const findings = [
      damage.length === 0
        ? createOkFinding("integrity", "all pages and indexes are intact")
        : createUnusableFinding("integrity", damage.join("; "), restoreAdvice),
      orphans === 0
        ? createOkFinding("references", "all referenced rows exist")
        : createProblemFinding(
            "references",
            `rows without their parent: ${orphans}`,
            restoreAdvice,
          ),
      pending === 0
        ? createOkFinding("schema", "up to date")
        : createProblemFinding(
            "schema",
            `older than this program; migrations to run: ${pending}`,
            "Stop the server and run `signalbox migrate`, or start the new `signalbox serve`.",
          ),
      ...(existsSync(key) ? [examineSecrets(database, key)] : []),
    ];
    database.close();
    return findings;
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (/^(SQLITE_(CANTOPEN|READONLY|PERM|IOERR)|EACCES)/.test(code))
      return [
        createUnusableFinding(
          "database",
          `${file} can't be opened (${code})`,
          `${runAsOwnerAdvice} Otherwise the disk is probably full, read-only or defective.`,
        ),
      ];
    return [describeUnusable(error)];
  }
}

/** Splits an error message into message and advice. Our own messages end with the next step. */
export function describeUnusable(error: unknown, otherwise = restoreAdvice): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  const [message = reason, ...advice] = reason.split(". ");
  return createUnusableFinding("database", message, advice.join(". ") || otherwise);
}
