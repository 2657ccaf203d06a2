/** Names of the files in a data directory, and writes that are complete or absent after a crash. */
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

/** The files of a data directory by what they hold. */
export const files = (path: string) => ({
  database: join(path, "signalbox.db"),
  key: join(path, "secret.key"),
  marker: join(path, "instance.json"),
  /** Names the machine among those on one cluster. */
  node: join(path, "node.id"),
  lock: join(path, "signalbox.lock"),
  /** Holds the address of the server that runs. */
  address: join(path, "signalbox.url"),
});

export function unusable(message: string): DataError {
  return new DataError("DATA_UNUSABLE", message);
}

/** No DataError: a service manager tries again, and finds room some time. */
export function noDisk(file: string, reason: string): Error {
  return new Error(
    `${file} can't be opened: ${reason}. Nothing was changed. ` +
      "Check whether its disk is full or read-only, then start again.",
  );
}

/** Bytes that may still be written there. */
export function freeBytesOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Writes a file that appears whole or not at all; the first of several writers wins. */
export function writeOnce(file: string, text: string) {
  const fresh = `${file}.new-${process.pid}`;
  rmSync(fresh, { force: true });
  writeNew(fresh, text);
  putInPlace(fresh, file);
}

/** Writes a new file and syncs it to the disk. Errors name the file. */
export function writeNew(file: string, content: string | Uint8Array) {
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

export function putInPlace(fresh: string, file: string) {
  try {
    linkSync(fresh, file);
    rmSync(fresh);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") rmSync(fresh);
    else renameSync(fresh, file);
  }
}

/** Has the names in a directory on the disk; Windows has no such thing. */
export function syncDirectory(directory: string) {
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  fsyncSync(handle);
  closeSync(handle);
}
