import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "signalbox-check-";
/** No check takes nearly as long. */
const leftoverMs = 3_600_000;

let hasSwept = false;

/** A folder for one check, which nobody else of this machine can enter. The first also removes leftovers. */
export function temporaryFolder(): string {
  if (!hasSwept) removeLeftovers(tmpdir(), Date.now());
  hasSwept = true;
  return mkdtempSync(join(tmpdir(), prefix));
}

/** Removes what an appliance that was killed in the middle of checks has left there; never throws. */
export function removeLeftovers(directory: string, now: number): void {
  try {
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(prefix)) continue;
      const path = join(directory, name);
      const { uid, mtimeMs } = lstatSync(path);
      // What somebody else put there could lead elsewhere while it is removed.
      const isOwn = process.getuid === undefined || uid === process.getuid();
      if (isOwn && mtimeMs < now - leftoverMs) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Another appliance was faster, or the file system refuses: the next start tries again.
  }
}
