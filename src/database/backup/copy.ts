/** Copies the database of a data directory to a backup, here or in a child process. */
import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { getOwnCommand } from "../../core/system/programs.ts";
import { DataError } from "../../core/errors.ts";
import { explainFileError } from "../../core/system/system-errors.ts";
import { writeBackup, writeEncryptedBackup } from "./backup-file.ts";
import { getDataFiles } from "../file/data-files.ts";
import { damagedError, assertOurs, assertLogComplete, readKey } from "../file/data-directory.ts";
import { assertEnded } from "../file/run-marker.ts";
import { isDamage } from "../file/embedded.ts";

/** Passphrase of an encrypted backup, and whether it includes `secret.key`. */
export type Sealing = { passphrase: string; withKey: boolean };

/**
 * Writes a consistent copy of the database, even while a server uses it. The file appears when it is complete. Throws
 * DataError for a foreign database, and Error for an existing file.
 */
export async function copyDatabase(
  directory: string,
  to: string,
  sealing: Sealing | null = null,
): Promise<void> {
  const from = join(resolve(directory), "signalbox.db");
  if (!existsSync(from)) throw new DataError("DATA_UNUSABLE", `There is no database at ${from}.`);
  assertCanBeCreated(to);
  try {
    assertOurs(from);
    assertEnded(dirname(from));
    assertLogComplete(from);
    const workIn = resolve(directory);
    const secretKey = sealing?.withKey ? readKey(getDataFiles(workIn).key) : null;
    using database = new Database(from, { readonly: true, strict: true });
    database.run("PRAGMA busy_timeout = 5000");
    if (sealing === null) writeBackup(database, to);
    else {
      const { passphrase } = sealing;
      await writeEncryptedBackup(database, to, { passphrase, secretKey, workIn });
    }
  } catch (error) {
    throw isDamage(error)
      ? damagedError(from, (error as Error).message)
      : explainCopyError(error, from, to);
  }
}

/** Throws if the file exists, or its folder does not. */
export function assertCanBeCreated(file: string) {
  if (existsSync(file)) throw new Error(`${file} exists already. Nothing was written.`);
  const folder = dirname(resolve(file));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${folder} does not exist. Create it, or choose another file.`);
}

function explainCopyError(error: unknown, from: string, to: string): unknown {
  const folder = dirname(resolve(to));
  const { code } = error as { code?: unknown };
  if (code === "SQLITE_FULL")
    return new Error(`The disk of ${folder} is full. Nothing was written.`, { cause: error });
  if (code === "SQLITE_CANTOPEN" || code === "SQLITE_READONLY")
    return new Error(`No file can be written into ${folder}: check its permissions.`, {
      cause: error,
    });
  // To read a database, SQLite creates its -shm file.
  if (typeof code === "string" && code.startsWith("SQLITE_IOERR"))
    return new Error(
      `${from} can't be copied to ${to}: ${(error as Error).message}. Nothing was written. Check whether a disk is full.`,
      { cause: error },
    );
  const reason = explainFileError(error, to);
  return reason === null ? error : new Error(reason, { cause: error });
}

export type RunningCopy = ReturnType<typeof copyInChild>;

/** Runs `copyDatabase` in a child process, because copying a large database would block the event loop. */
export function copyInChild(
  directory: string,
  to: string,
  sealing: Sealing | null = null,
  env?: Record<string, string | undefined>,
) {
  // Passes the passphrase through stdin, because other users can see the arguments of a process.
  const flags = sealing
    ? ["--passphrase-file", "-", ...(sealing.withKey ? ["--include-key"] : [])]
    : [];
  const child = Bun.spawn([...getOwnCommand(), "backup", to, "--data-dir", directory, ...flags], {
    stdin: sealing ? Buffer.from(sealing.passphrase) : "ignore",
    stdout: "ignore",
    stderr: "pipe",
    ...(env && { env }),
  });
  /** Rejects with the error message of the child. */
  async function waitForChild() {
    const errorOutput = await new Response(child.stderr).text();
    if ((await child.exited) !== 0)
      throw new Error(errorOutput.trim() || "The copy was not finished.");
  }
  return { done: waitForChild(), cancel: () => child.kill("SIGKILL") };
}
