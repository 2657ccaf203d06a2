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
import { dirname, join, resolve } from "node:path";
import { DataError } from "../../core/errors.ts";
import { invalid } from "../../core/validation.ts";
import { decrypted, decryptedBytes, encryptTo, isEncrypted } from "./encrypted-file.ts";
import { refusedBackup } from "./refused-backup.ts";
import { syncDirectory } from "../file/data-files.ts";

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

type BackupFile = {
  /** Bytes of the database in it. */
  bytes: number;
  isEncrypted: boolean;
  /** The key of its secrets, where that is in it. */
  key: Uint8Array | null;
  /** Writes the database to a new file. Throws DATA_UNUSABLE where the bytes are not those that were backed up. */
  extract(to: string): void;
};

/** How a backup is encrypted, where it is. */
type Encryption = {
  passphrase: string;
  /** The key of the stored secrets, where it is to be in the backup, too. */
  secretKey: Uint8Array | null;
  /** A directory for the plain copy, which is gone at the end. */
  workIn: string;
};

/** Writes a backup of an open database, as of one moment; it appears under its name when it is whole and on the disk. */
export function writeBackup(database: Database, to: string, encryption?: Encryption) {
  const part = `${to}.part`;
  const plain = encryption ? join(encryption.workIn, `${copyPrefix}${process.pid}.part`) : part;
  rmSync(part, { force: true });
  rmSync(plain, { force: true });
  try {
    database.query("VACUUM INTO ?").run(plain);
    chmodSync(plain, 0o600);
    if (encryption) encrypt(plain, part, encryption);
    else finish(plain);
    renameSync(part, to);
    syncDirectory(dirname(resolve(to)));
  } finally {
    rmSync(plain, { force: true });
    rmSync(part, { force: true });
  }
}

/** Copies that lie in a data directory for a while; what a crash leaves of them is removed at the next start. */
export const copyPrefix = "signalbox.db.backup-";

const keyBytes = 32;

/** Under the passphrase comes the secret key, or that there is none, and then the database. */
function encrypt(plain: string, to: string, { passphrase, secretKey }: Encryption) {
  const handle = openSync(plain, "r");
  try {
    const start = Buffer.alloc(1 + keyBytes);
    if (secretKey !== null) start.set([1, ...secretKey]);
    encryptTo(to, passphrase, after(start, chunksOf(handle, fstatSync(handle).size)));
  } finally {
    closeSync(handle);
  }
}

function* after(start: Uint8Array, rest: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield start;
  yield* rest;
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
export function openBackup(file: string, passphrase: string | null): BackupFile {
  mustBePlainFile(file);
  const handle = openSync(file, "r");
  try {
    const { size } = fstatSync(handle);
    if (size === 0) throw refusedBackup(file, "is empty");
    const start = Buffer.alloc(100);
    readSync(handle, start, 0, start.length, 0);
    return isEncrypted(start) ? encrypted(file, passphrase) : plain(file, handle, size);
  } finally {
    closeSync(handle);
  }
}

function encrypted(file: string, passphrase: string | null): BackupFile {
  if (passphrase === null)
    throw refusedBackup(file, "is encrypted", "Give its passphrase with --passphrase-file");
  const frames = decrypted(file, passphrase);
  const first = frames.next().value ?? new Uint8Array();
  const key = first[0] === 1 ? first.slice(1, 1 + keyBytes) : null;
  return {
    bytes: decryptedBytes(file) - 1 - keyBytes,
    isEncrypted: true,
    key,
    extract: (to) => write(to, after(first.subarray(1 + keyBytes), frames)),
  };
}

function plain(file: string, handle: number, size: number): BackupFile {
  const end = Buffer.alloc(trailerBytes);
  readSync(handle, end, 0, trailerBytes, Math.max(0, size - trailerBytes));
  const isChecked = end.subarray(0, trailerMark.length).equals(trailerMark);
  const bytes = isChecked ? size - trailerBytes : size;
  const promised = bytesByHeader(handle);
  if (promised !== null && promised !== bytes)
    throw refusedBackup(file, `is damaged: it has ${bytes} bytes of ${promised}`);
  const checksum = isChecked ? end.subarray(trailerMark.length) : null;
  return {
    bytes,
    isEncrypted: false,
    key: null,
    extract: (to) => write(to, checked(file, bytes, checksum)),
  };
}

function mustBePlainFile(file: string) {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw invalid(`The backup ${file}`, "does not exist. Nothing was changed");
  if (found.isSymbolicLink())
    throw refusedBackup(file, "is a link", `Name the backup itself${targetOf(file)}`);
  if (!found.isFile()) throw refusedBackup(file, "is not a file");
  const log = lstatSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw refusedBackup(
      file,
      `is not a backup but a database in use: a part of it is in ${file}-wal`,
      "Make a backup of it with `signalbox backup`, and restore that",
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

function write(to: string, chunks: Iterable<Uint8Array>) {
  const target = openSync(to, "wx", 0o600);
  try {
    for (const chunk of chunks) writeSync(target, chunk);
    markAsCopy(target);
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
}

/** The bytes of a file; at their end they must have this checksum. */
function* checked(file: string, bytes: number, checksum: Uint8Array | null): Generator<Uint8Array> {
  const source = openSync(file, "r");
  try {
    const hash = new Bun.CryptoHasher("sha256");
    for (const chunk of chunksOf(source, bytes)) {
      if (checksum !== null) hash.update(chunk);
      yield chunk;
    }
    if (checksum !== null && !hash.digest().equals(checksum))
      throw refusedBackup(file, "is damaged: its checksum is not that of what it holds");
  } finally {
    closeSync(source);
  }
}

function* chunksOf(handle: number, bytes: number): Generator<Buffer> {
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; at < bytes;) {
    const length = readSync(handle, buffer, 0, Math.min(chunkBytes, bytes - at), at);
    if (length === 0)
      throw new DataError("DATA_UNUSABLE", "The file was truncated while it was read.");
    yield buffer.subarray(0, length);
    at += length;
  }
}
