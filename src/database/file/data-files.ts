/** Names the files in a data directory, and writes them so that a crash leaves no partial file. */
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DataError } from "../../core/errors.ts";

/** Paths of all files in a data directory. */
export const getDataFiles = (path: string) => ({
  database: join(path, "signalbox.db"),
  key: join(path, "secret.key"),
  marker: join(path, "instance.json"),
  /** ID of this machine in a cluster. */
  node: join(path, "node.id"),
  lock: join(path, "signalbox.lock"),
  /** URL of the running server. */
  address: join(path, "signalbox.url"),
});

export function unusableError(message: string): DataError {
  return new DataError("DATA_UNUSABLE", message);
}

/** Creates an error that is no DataError, so that the service manager retries until there is disk space. */
export function noDiskError(file: string, reason: string): Error {
  return new Error(
    `${file} can't be opened: ${reason}. Nothing was changed. ` +
      "Check whether its disk is full or read-only, then start again.",
  );
}

/** Returns the free disk space for this user, in bytes. */
export function measureFreeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Creates a file atomically. If several processes create it, the first one wins. */
export function writeOnce(file: string, text: string) {
  const temporaryFile = `${file}.new-${process.pid}`;
  rmSync(temporaryFile, { force: true });
  createFile(temporaryFile, text);
  moveIntoPlace(temporaryFile, file);
}

/** Writes a new file and syncs it to the disk. Errors contain its path. */
export function createFile(file: string, content: string | Uint8Array) {
  const handle = openSync(file, "wx", 0o600);
  try {
    writeFileSync(handle, content);
    fsyncSync(handle);
  } catch (error) {
    throw Object.assign(error as Error, { path: file });
  } finally {
    closeSync(handle);
  }
}

export function moveIntoPlace(fresh: string, file: string) {
  try {
    linkSync(fresh, file);
    rmSync(fresh);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") rmSync(fresh);
    else renameSync(fresh, file);
  }
}

/** Syncs directory entries to the disk. Windows does not support it. */
export function syncDirectory(directory: string) {
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  fsyncSync(handle);
  closeSync(handle);
}
