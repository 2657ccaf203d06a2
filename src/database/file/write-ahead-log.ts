import { existsSync, readFileSync } from "node:fs";

const walHeaderBytes = 32;
const frameHeaderBytes = 24;
/** The index begins with two equal copies of this many bytes (https://sqlite.org/walformat.html#the_wal_index_file_format). */
const indexHeaderBytes = 48;

/**
 * How many frames of committed writes are missing in the log beside a database, or can't be read. SQLite takes
 * the first frame that is not whole for the end of the log, and begins a new one: what was behind it would be
 * gone without a word. The index beside it, which is written after each commit, knows where the end was.
 */
export function missingFrames(database: string): number {
  for (;;) {
    const index = contentOf(`${database}-shm`);
    const known = index === null ? null : readIndex(index);
    if (known === null || known.frames <= known.copied) return 0;
    const missing = known.frames - wholeFrames(contentOf(`${database}-wal`), known.salt);
    if (missing <= 0) return 0;
    // Another process that has it open may have begun a new log meanwhile.
    if (contentOf(`${database}-shm`)?.equals(index as Buffer) === true) return missing;
  }
}

const contentOf = (file: string) => (existsSync(file) ? readFileSync(file) : null);

// SQLite writes both in the byte order of the machine, and every machine that Bun runs on is little-endian.
const magic = 0x377f0682;

/** What the index says of the log; null where the index itself is not whole, as after a power loss. */
function readIndex(index: Buffer) {
  if (index.length < 2 * indexHeaderBytes + 8) return null;
  const header = index.subarray(0, indexHeaderBytes);
  if (!header.equals(index.subarray(indexHeaderBytes, 2 * indexHeaderBytes))) return null;
  const at = (offset: number) => index.readUInt32LE(offset);
  const sum = checksum(header, 0, 40, [0, 0]);
  if (header[12] !== 1 || sum[0] !== at(40) || sum[1] !== at(44)) return null;
  return { frames: at(16), salt: header.subarray(32, 40), copied: at(2 * indexHeaderBytes) };
}

/** So many frames from its beginning on are whole and belong to the log with this salt. */
function wholeFrames(log: Buffer | null, salt: Buffer): number {
  if (log === null || log.length < walHeaderBytes || log.readUInt32BE(0) !== magic) return 0;
  const frameBytes = frameHeaderBytes + log.readUInt32BE(8);
  let sum = checksum(log, 0, 24, [0, 0]);
  const isSummed = (offset: number) =>
    log.readUInt32BE(offset) === sum[0] && log.readUInt32BE(offset + 4) === sum[1];
  const isOfLog = (offset: number) => log.subarray(offset, offset + 8).equals(salt);
  if (!isSummed(24) || !isOfLog(16)) return 0;
  for (let frame = 0, at = walHeaderBytes; ; frame++, at += frameBytes) {
    if (at + frameBytes > log.length || !isOfLog(at + 8)) return frame;
    sum = checksum(log, at, at + 8, sum);
    sum = checksum(log, at + frameHeaderBytes, at + frameBytes, sum);
    if (!isSummed(at + 16)) return frame;
  }
}

type Sum = readonly [number, number];

/** SQLite's own, over words of 32 bits (https://sqlite.org/fileformat2.html#checksum_algorithm). */
function checksum(bytes: Buffer, from: number, to: number, [first, second]: Sum): Sum {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + from, (to - from) / 4);
  for (let at = 0; at < words.length; at += 2) {
    first = (first + (words[at] ?? 0) + second) >>> 0;
    second = (second + (words[at + 1] ?? 0) + first) >>> 0;
  }
  return [first, second];
}
