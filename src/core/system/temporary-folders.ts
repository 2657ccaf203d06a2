import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "signalbox-check-";
/** Longer than any check takes. */
const leftoverMs = 3_600_000;

let hasSwept = false;

/** Creates a folder for one check, accessible only to this user. The first call also removes leftovers. */
export function temporaryFolder(): string {
  if (!hasSwept) removeLeftovers(tmpdir(), Date.now());
  hasSwept = true;
  return mkdtempSync(join(tmpdir(), prefix));
}

/** Removes folders of an appliance that was killed during checks; never throws. */
export function removeLeftovers(directory: string, now: number): void {
  try {
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(prefix)) continue;
      const path = join(directory, name);
      const { uid, mtimeMs } = lstatSync(path);
      // A symbolic link of another user could redirect the removal.
      const isOwn = process.getuid === undefined || uid === process.getuid();
      if (isOwn && mtimeMs < now - leftoverMs) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // Another appliance was faster, or the file system refuses: the next start tries again.
  }
}
