/**
 * Detects damage in the write-ahead log of a SQLite database. SQLite silently treats the first damaged frame as the
 * end of the log, and ignores all frames after it (https://sqlite.org/walformat.html).
 */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

export const logHeaderBytes = 32;
const frameHeaderBytes = 24;
const indexHeaderBytes = 48;
/** Magic number of a log with little-endian checksums. Big-endian logs have the lowest bit set. */
const magic = 0x377f0682;

type Log = {
  /** Identifies this log. Frames of earlier logs in the same file have another salt. */
  salt: Buffer;
  frameBytes: number;
  /** Number of intact frames of this log, from the start of the file. */
  intactFrames: number;
};

/** Reads a log up to its first frame that is damaged or belongs to an earlier log. Null if its header is damaged. */
export function readLog(file: string): Log | null {
  const handle = openSync(file, "r");
  try {
    const header = Buffer.alloc(logHeaderBytes);
    readSync(handle, header, 0, logHeaderBytes, 0);
    const isBigEndian = header.readUInt32BE(0) === magic + 1;
    const checksum = new Checksum(isBigEndian);
    checksum.add(header, 0, 24);
    const pageBytes = header.readUInt32BE(8);
    const isPageSize =
      pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
    const hasMagic = isBigEndian || header.readUInt32BE(0) === magic;
    if (!hasMagic || !isPageSize || !checksum.isAt(header, 24)) return null;
    const salt = header.subarray(16, 24);
    const frame = Buffer.alloc(frameHeaderBytes + pageBytes);
    for (let intactFrames = 0; ; intactFrames++) {
      const start = logHeaderBytes + intactFrames * frame.length;
      const isComplete = readSync(handle, frame, 0, frame.length, start) === frame.length;
      checksum.add(frame, 0, 8);
      checksum.add(frame, frameHeaderBytes, frame.length);
      if (!isComplete || !frame.subarray(8, 16).equals(salt) || !checksum.isAt(frame, 16))
        return { salt, frameBytes: frame.length, intactFrames };
    }
  } finally {
    closeSync(handle);
  }
}

/**
 * Counts the committed frames that are missing or damaged in the log. The index file (`-shm`) contains their number:
 * SQLite updates it after each commit, and leaves it behind when it is killed.
 */
export function countMissingFrames(database: string): number {
  for (;;) {
    const index = readIndex(`${database}-shm`);
    if (index === null || index.frames <= index.copied) return 0;
    const log = readIfPresent(() => readLog(`${database}-wal`));
    const missing = index.frames - (log?.salt.equals(index.salt) ? log.intactFrames : 0);
    if (missing <= 0) return 0;
    // Reads the index again, because another process can have started a new log in the meantime.
    if (readIndex(`${database}-shm`)?.bytes.equals(index.bytes) === true) return missing;
  }
}

/** Returns null if the file does not exist. Another process can delete it at any time. */
function readIfPresent<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Reads the index of the log; null if it is missing or damaged, as after a power loss. */
function readIndex(file: string) {
  const bytes = readIfPresent(() => readFileSync(file));
  if (bytes === null || bytes.length < 2 * indexHeaderBytes + 8) return null;
  const header = bytes.subarray(0, indexHeaderBytes);
  const secondHeader = bytes.subarray(indexHeaderBytes, 2 * indexHeaderBytes);
  const isInitialized = header[12] === 1;
  if (!isInitialized || !header.equals(secondHeader)) return null;
  // The index has the machine's byte order. All machines that Bun supports are little-endian.
  return {
    bytes,
    frames: header.readUInt32LE(16),
    salt: header.subarray(32, 40),
    /** Number of frames that a checkpoint has copied to the database. */
    copied: bytes.readUInt32LE(2 * indexHeaderBytes),
  };
}

/** Running checksum of a log (https://sqlite.org/fileformat2.html#checksum_algorithm). */
class Checksum {
  #first = 0;
  #second = 0;
  readonly #isLittleEndian: boolean;

  constructor(isBigEndian: boolean) {
    this.#isLittleEndian = !isBigEndian;
  }

  add(bytes: Buffer, from: number, to: number) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (let at = from; at < to; at += 8) {
      this.#first = (this.#first + view.getUint32(at, this.#isLittleEndian) + this.#second) >>> 0;
      this.#second =
        (this.#second + view.getUint32(at + 4, this.#isLittleEndian) + this.#first) >>> 0;
    }
  }

  isAt(bytes: Buffer, offset: number): boolean {
    return (
      bytes.readUInt32BE(offset) === this.#first && bytes.readUInt32BE(offset + 4) === this.#second
    );
  }
}
