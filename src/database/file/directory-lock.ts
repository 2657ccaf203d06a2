import { Database } from "bun:sqlite";
import { existsSync, lstatSync } from "node:fs";
import { DataError } from "../../core/errors.ts";
import { files, noDisk, unusable } from "./data-files.ts";
import { isTemporary } from "./embedded.ts";

/**
 * Holds a directory for this process alone, and returns how to end that. An exclusive SQLite transaction
 * is an operating-system lock that dies with its process: none is ever stale. Throws ALREADY_RUNNING.
 */
export function lockDirectory(path: string): () => void {
  const file = files(path).lock;
  // A link would lock some other place, and tell of whoever runs there.
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw noLock(file, "it is a link, or no file at all");
  let holder: Database | null = null;
  try {
    holder = new Database(file, { create: true });
    holder.run("PRAGMA busy_timeout = 0");
    // Nothing is written for it, so a full disk keeps nobody from starting.
    holder.run("PRAGMA journal_mode = MEMORY");
    holder.run("BEGIN EXCLUSIVE");
  } catch (error) {
    holder?.close();
    const { code, message } = error as Error & { code?: string };
    if (code?.startsWith("SQLITE_BUSY") !== true)
      throw isTemporary(error) ? noDisk(file, message) : noLock(file, message);
    throw new DataError("ALREADY_RUNNING", `Another Signalbox is running on ${path}.`);
  }
  return () => holder.close();
}

/** Whether a process holds the directory for itself; asked without writing. */
export function isDirectoryLocked(path: string): boolean {
  const { lock } = files(path);
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

function noLock(file: string, reason: string): DataError {
  return unusable(
    `${file} can't be locked: ${reason}. ` +
      "Make sure that no Signalbox runs on this directory, remove it, and start again.",
  );
}
