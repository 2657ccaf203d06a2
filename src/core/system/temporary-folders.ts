import { hourMs } from "../time/clock.ts";
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "signalbox-check-";
/** Age from which a folder is a leftover. No check takes this long. */
const leftoverMs = hourMs;

let hasSwept = false;

/** Creates a folder for one check, accessible only to this user. The first call also removes leftovers. */
export function createTemporaryFolder(): string {
  if (!hasSwept) removeLeftovers(tmpdir(), Date.now());
  hasSwept = true;
  return mkdtempSync(join(tmpdir(), prefix));
}

/** Removes folders that a killed process left behind. Never throws. */
export function removeLeftovers(directory: string, now: number): void {
  try {
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(prefix)) continue;
      const path = join(directory, name);
      const { uid, mtimeMs } = lstatSync(path);
      // Skips other users' entries, whose symbolic links could redirect the removal.
      const isOwn = process.getuid === undefined || uid === process.getuid();
      if (isOwn && mtimeMs < now - leftoverMs) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Another process was faster, or the file system rejected the removal. The next start tries again.
  }
}
