import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { logHeaderBytes, readLog } from "../../database/file/write-ahead-log.ts";
import { createUnreadableError } from "../limits.ts";

/** Maximum number of log restarts in the same file. A larger difference means a damaged salt. */
const maxLogRestarts = 1_000_000;

/** Throws BAD_REQUEST for a truncated or damaged write-ahead log. */
export function assertIntactLog(file: string, name: string) {
  const fault = findFault(file);
  if (fault !== null)
    throw createUnreadableError(
      name,
      `${fault} Stop Uptime Kuma, and copy its whole data directory again.`,
    );
}

function findFault(file: string): string | null {
  const handle = openSync(file, "r");
  try {
    const { size } = fstatSync(handle);
    if (size < logHeaderBytes) return "it is cut off.";
    const log = readLog(file);
    if (log === null) return "its header is damaged.";
    const { salt, frameBytes, intactFrames } = log;
    if ((size - logHeaderBytes) % frameBytes !== 0) return "it is cut off within a page.";
    const frameSalt = Buffer.alloc(4);
    for (let at = logHeaderBytes + intactFrames * frameBytes; at < size; at += frameBytes) {
      readSync(handle, frameSalt, 0, 4, at + 8);
      // Frames of earlier logs can follow the last frame: each restart adds 1 to the first word of the salt.
      const age = (salt.readUInt32BE(0) - frameSalt.readUInt32BE(0)) >>> 0;
      if (age === 0 || age > maxLogRestarts) return `it is damaged near byte ${at}.`;
    }
    return null;
  } finally {
    closeSync(handle);
  }
}
