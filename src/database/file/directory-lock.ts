import { Database } from "bun:sqlite";
import { existsSync, lstatSync } from "node:fs";
import { DataError } from "../../core/errors.ts";
import { getDataFiles, noDiskError, unusableError } from "./data-files.ts";
import { isTemporary } from "./embedded.ts";

/**
 * Locks a directory for this process, and returns the unlock function. The lock is an exclusive SQLite transaction,
 * which the operating system releases when the process dies. Throws ALREADY_RUNNING.
 */
export function lockDirectory(path: string): () => void {
  const file = getDataFiles(path).lock;
  // Rejects a symbolic link, which would lock another directory.
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw noLockError(file, "it is a link, or no file at all");
  let holder: Database | null = null;
  try {
    holder = new Database(file, { create: true });
    holder.run("PRAGMA busy_timeout = 0");
    // Without a journal file, locking also works on a full disk.
    holder.run("PRAGMA journal_mode = MEMORY");
    holder.run("BEGIN EXCLUSIVE");
  } catch (error) {
    holder?.close();
    const { code, message } = error as Error & { code?: string };
    if (code?.startsWith("SQLITE_BUSY") !== true)
      throw isTemporary(error) ? noDiskError(file, message) : noLockError(file, message);
    throw new DataError("ALREADY_RUNNING", `Another Signalbox is running on ${path}.`);
  }
  return () => holder.close();
}

/** Whether a process has locked the directory. Does not write to it. */
export function isDirectoryLocked(path: string): boolean {
  const { lock } = getDataFiles(path);
  if (!existsSync(lock)) return false;
  const database = new Database(lock, { readonly: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.query("select 1 from sqlite_schema").all();
    return false;
  } catch (error) {
    return (error as { code?: string }).code?.startsWith("SQLITE_BUSY") === true;
  } finally {
    database.close();
  }
}

function noLockError(file: string, reason: string): DataError {
  return unusableError(
    `${file} can't be locked: ${reason}. ` +
      "Make sure that no Signalbox runs on this directory, remove it, and start again.",
  );
}
