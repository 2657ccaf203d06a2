import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { unreadable } from "../limits.ts";

/*
 * Checks the log of a SQLite database (https://sqlite.org/fileformat2.html#the_write_ahead_log). SQLite
 * itself stops at the first frame that is not intact, and ignores the rest without an error.
 */

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Logs that were started in the same file since its first one. A damaged salt looks much older. */
const maxAge = 1_000_000;
/** Without its lowest bit, which is set where checksums are of big-endian words. */
const magic = 0x377f0682;

/** Throws BAD_REQUEST for a log that is cut off or damaged. */
export function assertIntactLog(file: string, name: string) {
  const handle = openSync(file, "r");
  try {
    const fault = faultOf(handle, fstatSync(handle).size);
    if (fault !== null)
      throw unreadable(name, `${fault} Stop Uptime Kuma, and copy its whole data directory again.`);
  } finally {
    closeSync(handle);
  }
}

function faultOf(handle: number, size: number): string | null {
  const header = Buffer.alloc(headerBytes);
  if (readSync(handle, header, 0, headerBytes, 0) < headerBytes) return "it is cut off.";
  const isBigEndian = header.readUInt32BE(0) === magic + 1;
  if (!isBigEndian && header.readUInt32BE(0) !== magic) return "its header is damaged.";
  const pageBytes = header.readUInt32BE(8);
  if (pageBytes < 512 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0)
    return "its header is damaged.";
  const sum = new Checksum(isBigEndian);
  sum.add(header, 0, 24);
  if (!sum.isAt(header, 24)) return "its header is damaged.";
  const frame = Buffer.alloc(frameHeaderBytes + pageBytes);
  if ((size - headerBytes) % frame.length !== 0) return "it is cut off within a page.";
  const salt = header.subarray(16, 24);
  let isOver = false;
  for (let at = headerBytes; at < size; at += frame.length) {
    if (readSync(handle, frame, 0, frame.length, at) < frame.length) return "it is cut off.";
    const isOfThisLog = frame.subarray(8, 16).equals(salt);
    if (!isOfThisLog) {
      // Frames of earlier logs can follow the last one: each log adds 1 to the first word of the salt.
      const age = (salt.readUInt32BE(0) - frame.readUInt32BE(8)) >>> 0;
      if (age === 0 || age > maxAge) return `it is damaged near byte ${at}.`;
      isOver = true;
    } else {
      sum.add(frame, 0, 8);
      sum.add(frame, frameHeaderBytes, frame.length);
      if (isOver || !sum.isAt(frame, 16)) return `it is damaged near byte ${at}.`;
    }
  }
  return null;
}

/** The running checksum of a log (https://sqlite.org/fileformat2.html#checksum_algorithm). */
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
