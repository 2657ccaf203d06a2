/** Writes backup files, and extracts and verifies the database in them. */
import type { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
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
import { invalidFieldError } from "../../core/validation.ts";
import { syncDirectory } from "../file/data-files.ts";
import { decryptFile, encryptFile, isEncrypted } from "./encrypted-file.ts";
import { refusedBackupError } from "./refused-backup.ts";

/**
 * A backup is a SQLite file with up to two trailers, which SQLite ignores. They contain the key of the stored
 * secrets, and the SHA-256 of everything before it. An encrypted backup is the same file in the age format.
 */
const keyTrailer = { mark: Buffer.from("signalbox secret"), bytes: 32 };
const checksumTrailer = { mark: Buffer.from("signalbox sha256"), bytes: 32 };
const chunkBytes = 1024 * 1024;

/** Offsets in the header of a SQLite file (sqlite.org/fileformat2.html). */
const headerOffsets = {
  pageSize: 16,
  writeVersion: 18,
  changeCounter: 24,
  pages: 28,
  userVersion: 60,
  validFor: 92,
} as const;

/** `user_version` of a copied database. It shows the next start that the database is a copy. */
export const copiedVersion = 1;

/** Prefix of temporary copies in a data directory. The next start removes leftovers of a crash. */
export const copyPrefix = "signalbox.db.backup-";

/** Size of the database in a backup, and the key of its secrets if the backup includes it. */
type Extracted = { bytes: number; key: Uint8Array | null };

type BackupFile = {
  /** Size of the file, which is at least the size of its database. */
  bytes: number;
  isEncrypted: boolean;
  /** Writes the database to a new file. Throws DATA_UNUSABLE for a damaged backup. */
  extract(to: string): Promise<Extracted>;
};

type Encryption = {
  passphrase: string;
  /** Key of the stored secrets, to be included in the backup; null to omit it. */
  secretKey: Uint8Array | null;
  /** Directory of the temporary plain copy. */
  workIn: string;
};

/** Writes a consistent backup of an open database. The file gets its name when it is complete and synced. */
export function writeBackup(database: Database, to: string) {
  const part = `${to}.part`;
  rmSync(part, { force: true });
  try {
    writePlain(database, part, null);
    publishFile(part, to);
  } finally {
    rmSync(part, { force: true });
  }
}

/** Writes a backup that is encrypted with a passphrase. */
export async function writeEncryptedBackup(
  database: Database,
  to: string,
  { passphrase, secretKey, workIn }: Encryption,
) {
  const part = `${to}.part`;
  const plainCopy = join(workIn, `${copyPrefix}${process.pid}.part`);
  rmSync(part, { force: true });
  rmSync(plainCopy, { force: true });
  try {
    writePlain(database, plainCopy, secretKey);
    await encryptFile(plainCopy, part, passphrase);
    publishFile(part, to);
  } finally {
    rmSync(plainCopy, { force: true });
    rmSync(part, { force: true });
  }
}

function publishFile(part: string, to: string) {
  renameSync(part, to);
  syncDirectory(dirname(resolve(to)));
}

function writePlain(database: Database, to: string, key: Uint8Array | null) {
  database.query("VACUUM INTO ?").run(to);
  chmodSync(to, 0o600);
  const handle = openSync(to, constants.O_RDWR);
  try {
    markAsCopy(handle);
    if (key !== null) appendTrailer(handle, keyTrailer.mark, key);
    appendTrailer(handle, checksumTrailer.mark, computeChecksum(handle, fstatSync(handle).size));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function appendTrailer(handle: number, mark: Uint8Array, content: Uint8Array) {
  const trailer = Buffer.concat([mark, content]);
  writeSync(handle, trailer, 0, trailer.length, fstatSync(handle).size);
}

function markAsCopy(handle: number) {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(copiedVersion);
  writeSync(handle, version, 0, 4, headerOffsets.userVersion);
  // Disables WAL mode, so that readers of the copy create no additional files.
  writeSync(handle, Buffer.from([1, 1]), 0, 2, headerOffsets.writeVersion);
}

/** Opens a backup without reading all of it. Throws DATA_UNUSABLE for any other file. */
export function openBackup(file: string, passphrase: string | null): BackupFile {
  assertPlainFile(file);
  const handle = openSync(file, "r");
  try {
    const { size } = fstatSync(handle);
    if (size === 0) throw refusedBackupError(file, "is empty");
    const start = Buffer.alloc(100);
    readSync(handle, start, 0, start.length, 0);
    if (!isEncrypted(start)) {
      readTrailers(handle, file);
      return {
        bytes: size,
        isEncrypted: false,
        async extract(to) {
          copyFileSync(file, to, constants.COPYFILE_EXCL);
          chmodSync(to, 0o600);
          return removeTrailers(to, file);
        },
      };
    }
  } finally {
    closeSync(handle);
  }
  if (passphrase === null)
    throw refusedBackupError(file, "is encrypted", "Give its passphrase with --passphrase-file");
  return {
    bytes: lstatSync(file).size,
    isEncrypted: true,
    async extract(to) {
      await decryptFile(file, to, passphrase);
      return removeTrailers(to, file);
    },
  };
}

function assertPlainFile(file: string) {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw invalidFieldError(`The backup ${file}`, "does not exist. Nothing was changed");
  if (found.isSymbolicLink())
    throw refusedBackupError(file, "is a link", `Name the backup itself${describeTarget(file)}`);
  if (!found.isFile()) throw refusedBackupError(file, "is not a file");
  const log = lstatSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw refusedBackupError(
      file,
      `is not a backup but a database in use: a part of it is in ${file}-wal`,
      "Make a backup of it with `signalbox backup`, and restore that",
    );
}

function describeTarget(link: string): string {
  try {
    return `, ${realpathSync(link)}`;
  } catch {
    return "";
  }
}

type Trailers = Extracted & { checksum: Uint8Array | null };

/** Reads the trailers. Throws DATA_UNUSABLE if the database's header and the file disagree about the length. */
function readTrailers(handle: number, name: string): Trailers {
  let bytes = fstatSync(handle).size;
  const readTrailer = ({ mark, bytes: length }: typeof keyTrailer) => {
    const trailer = Buffer.alloc(mark.length + length);
    if (bytes < trailer.length) return null;
    readSync(handle, trailer, 0, trailer.length, bytes - trailer.length);
    if (!trailer.subarray(0, mark.length).equals(mark)) return null;
    bytes -= trailer.length;
    return trailer.subarray(mark.length);
  };
  const checksum = readTrailer(checksumTrailer);
  const key = readTrailer(keyTrailer);
  const expected = readLengthFromHeader(handle);
  if (expected !== null && expected !== bytes)
    throw refusedBackupError(name, `is damaged: it has ${bytes} bytes of ${expected}`);
  return { bytes, key, checksum };
}

/**
 * Verifies the checksum of an extracted backup, and reduces it to the database. `name` is the path of the backup, for
 * error messages.
 */
function removeTrailers(file: string, name: string): Extracted {
  const handle = openSync(file, constants.O_RDWR);
  try {
    const { bytes, key, checksum } = readTrailers(handle, name);
    const checked = bytes + (key === null ? 0 : keyTrailer.mark.length + key.length);
    if (checksum !== null && !computeChecksum(handle, checked).equals(checksum))
      throw refusedBackupError(name, "is damaged: its checksum does not match its content");
    ftruncateSync(handle, bytes);
    markAsCopy(handle);
    fsyncSync(handle);
    return { bytes, key };
  } finally {
    closeSync(handle);
  }
}

/** Length of the database from its header; null if the header lacks it. */
function readLengthFromHeader(handle: number): number | null {
  const bytes = Buffer.alloc(100);
  if (readSync(handle, bytes, 0, 100, 0) < 100) return null;
  if (
    bytes.readUInt32BE(headerOffsets.changeCounter) !== bytes.readUInt32BE(headerOffsets.validFor)
  )
    return null;
  const pageSize = bytes.readUInt16BE(headerOffsets.pageSize);
  const pages = bytes.readUInt32BE(headerOffsets.pages);
  return pages === 0 ? null : pages * (pageSize === 1 ? 65_536 : pageSize);
}

function computeChecksum(handle: number, bytes: number): Buffer {
  const hash = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; at < bytes;) {
    const length = readSync(handle, buffer, 0, Math.min(chunkBytes, bytes - at), at);
    if (length === 0)
      throw new DataError("DATA_UNUSABLE", "The file was truncated while it was read.");
    hash.update(buffer.subarray(0, length));
    at += length;
  }
  return hash.digest();
}
