/**
 * Records in instance.json whether a process serves the data directory. If a copy of a served directory lacks the
 * write-ahead log, this record reveals the loss. SQLite would silently open older data.
 */
import type { Database } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { getDataFiles, syncDirectory, unusableError, createFile, writeOnce } from "./data-files.ts";

/**
 * Content of the marker. Both variants have the same length, so that it can be overwritten in place, even on a full
 * disk.
 */
const formatMarker = (createdAt: string, isRunning: boolean) =>
  `{"createdAt":${JSON.stringify(createdAt)},"running":${isRunning ? "true " : "false"}}\n`;

type Marker = { createdAt: string; running?: boolean };

function readMarker(path: string): { content: string; marker: Marker } | null {
  try {
    const content = readFileSync(getDataFiles(path).marker, "utf8");
    return { content, marker: JSON.parse(content) as Marker };
  } catch {
    return null;
  }
}

/** Creates the marker of a directory. If several processes create it, the first one wins. */
export function writeMarker(path: string, createdAt: string) {
  writeOnce(getDataFiles(path).marker, formatMarker(createdAt, false));
}

const buildLogPath = (path: string) => `${getDataFiles(path).database}-wal`;

/** Throws DATA_UNUSABLE if the last run did not exit properly and its log is missing. */
export function assertEnded(path: string) {
  if (readMarker(path)?.marker.running !== true || existsSync(buildLogPath(path))) return;
  const { database } = getDataFiles(path);
  throw unusableError(
    `${database}-wal is missing, but the last run did not exit properly: that file contains its last writes. ` +
      "Nothing was changed. If this is a copy, copy signalbox.db-wal as well, or use `signalbox backup`; " +
      "to go on without these writes, start once with `serve --accept-missing-log`.",
  );
}

/**
 * Records the start of a run, after the log exists on the disk. From then on, a missing log means lost writes. Also
 * records the end at process exit, where closing the database removes the log. Returns a function that cancels this.
 */
export function recordRunStart(path: string, database: Database): () => void {
  // The first transaction creates the log file.
  database.run("BEGIN IMMEDIATE");
  database.run("ROLLBACK");
  if (!existsSync(buildLogPath(path))) return () => {};
  syncDirectory(path);
  recordRunning(path, true);
  const onExit = () => recordRunEnd(path);
  process.once("exit", onExit);
  return () => void process.off("exit", onExit);
}

/** Records the end of a run, before the log is removed. Fails silently on a read-only disk. */
export function recordRunEnd(path: string) {
  recordRunning(path, false);
}

function recordRunning(path: string, isRunning: boolean) {
  const known = readMarker(path);
  if (known === null || (known.marker.running ?? false) === isRunning) return;
  const content = formatMarker(known.marker.createdAt, isRunning);
  const { marker: file } = getDataFiles(path);
  try {
    if (known.content.length === content.length) overwriteFile(file, content);
    else replaceFile(file, content);
  } catch {
    // Without the marker, a missing log goes unnoticed. Nothing else depends on it.
  }
}

function overwriteFile(file: string, content: string) {
  const handle = openSync(file, "r+");
  writeSync(handle, content, 0);
  fsyncSync(handle);
  closeSync(handle);
}

/** Replaces the marker of an older version, which is shorter and can't be overwritten in place. */
function replaceFile(file: string, content: string) {
  const temporaryFile = `${file}.new-${process.pid}`;
  rmSync(temporaryFile, { force: true });
  createFile(temporaryFile, content);
  renameSync(temporaryFile, file);
}
