import type { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { DataError } from "../core/errors.ts";

/** A backup ends with this and the SHA-256 of all before it. SQLite looks at no byte behind its last page. */
const trailerMark = Buffer.from("signalbox sha256");
const trailerBytes = trailerMark.length + 32;
const chunkBytes = 1024 * 1024;

/** Offsets in the header of a SQLite file (sqlite.org/fileformat2.html). */
const header = {
  pageSize: 16,
  writeVersion: 18,
  changeCounter: 24,
  pages: 28,
  userVersion: 60,
  validFor: 92,
} as const;

/** `user_version` of a database that was copied: its next start is the first one of the copy. */
export const copiedVersion = 1;

export type BackupFile = {
  /** Bytes of the database in it. */
  bytes: number;
  /** Writes the database to a new file. Throws DATA_UNUSABLE where the bytes are not those that were backed up. */
  extract(to: string): void;
};

/** Writes a backup of an open database, as of one moment; it appears under its name when it is whole and on the disk. */
export function writeBackup(database: Database, to: string) {
  const part = `${to}.part`;
  rmSync(part, { force: true });
  try {
    database.query("VACUUM INTO ?").run(part);
    chmodSync(part, 0o600);
    finish(part);
    renameSync(part, to);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** Marks a fresh copy as one and adds its checksum. */
function finish(file: string) {
  const handle = openSync(file, constants.O_RDWR);
  try {
    markAsCopy(handle);
    const { size } = fstatSync(handle);
    const hash = new Bun.CryptoHasher("sha256");
    for (const chunk of chunksOf(handle, size)) hash.update(chunk);
    writeSync(handle, Buffer.concat([trailerMark, hash.digest()]), 0, trailerBytes, size);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** What is restored is a copy from then on, however it was made. */
function markAsCopy(handle: number) {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(copiedVersion);
  writeSync(handle, version, 0, 4, header.userVersion);
  // Not in WAL mode until it is opened for writing: looking at it makes no files beside it.
  writeSync(handle, Buffer.from([1, 1]), 0, 2, header.writeVersion);
}

/** Looks at a backup without reading it through. Throws DATA_UNUSABLE for what can't be one. */
export function openBackup(file: string): BackupFile {
  mustBePlainFile(file);
  const handle = openSync(file, "r");
  try {
    const { size } = fstatSync(handle);
    if (size === 0) throw refused(file, "is empty");
    const end = Buffer.alloc(trailerBytes);
    readSync(handle, end, 0, trailerBytes, Math.max(0, size - trailerBytes));
    const isChecked = end.subarray(0, trailerMark.length).equals(trailerMark);
    const bytes = isChecked ? size - trailerBytes : size;
    const promised = bytesByHeader(handle);
    if (promised !== null && promised !== bytes)
      throw refused(file, `is damaged: it has ${bytes} bytes of ${promised}`);
    const checksum = isChecked ? end.subarray(trailerMark.length) : null;
    return { bytes, extract: (to) => extract(file, to, bytes, checksum) };
  } finally {
    closeSync(handle);
  }
}

export function refused(file: string, what: string): DataError {
  return new DataError(
    "DATA_UNUSABLE",
    `${file} ${what}. Nothing was changed. Restore another backup.`,
  );
}

function mustBePlainFile(file: string) {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new DataError("DATA_UNUSABLE", `There is no file ${file}. Nothing was changed.`);
  if (found.isSymbolicLink())
    throw new DataError(
      "DATA_UNUSABLE",
      `${file} is a link. Nothing was changed. Name the backup itself${targetOf(file)}.`,
    );
  if (!found.isFile()) throw refused(file, "is not a file");
  const log = lstatSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw new DataError(
      "DATA_UNUSABLE",
      `${file} is no backup but a database in use: a part of it is in ${file}-wal. Nothing was changed. Make a backup of it with \`signalbox backup\`, and restore that.`,
    );
}

function targetOf(link: string): string {
  try {
    return `, ${realpathSync(link)}`;
  } catch {
    return "";
  }
}

/** How long the database says it is; null where it does not say. */
function bytesByHeader(handle: number): number | null {
  const bytes = Buffer.alloc(100);
  if (readSync(handle, bytes, 0, 100, 0) < 100) return null;
  if (bytes.readUInt32BE(header.changeCounter) !== bytes.readUInt32BE(header.validFor)) return null;
  const pageSize = bytes.readUInt16BE(header.pageSize);
  const pages = bytes.readUInt32BE(header.pages);
  return pages === 0 ? null : pages * (pageSize === 1 ? 65_536 : pageSize);
}

function extract(file: string, to: string, bytes: number, checksum: Uint8Array | null) {
  const source = openSync(file, "r");
  const target = openSync(to, "wx", 0o600);
  try {
    const hash = new Bun.CryptoHasher("sha256");
    for (const chunk of chunksOf(source, bytes)) {
      if (checksum !== null) hash.update(chunk);
      writeSync(target, chunk);
    }
    if (checksum !== null && !hash.digest().equals(checksum))
      throw refused(file, "is damaged: its checksum is not that of what it holds");
    markAsCopy(target);
    fsyncSync(target);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

function* chunksOf(handle: number, bytes: number): Generator<Buffer> {
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; at < bytes;) {
    const length = readSync(handle, buffer, 0, Math.min(chunkBytes, bytes - at), at);
    if (length === 0) throw new DataError("DATA_UNUSABLE", "The file became shorter.");
    yield buffer.subarray(0, length);
    at += length;
  }
}
