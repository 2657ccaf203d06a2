import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Creates the folder of one run. It is writable by all users like /tmp, because some servers drop
 * root's rights before they write. Its path has no blanks, because tests run documented commands
 * with it unquoted.
 */
export function createRunFolder(): string {
  const parent = /\s/.test(tmpdir()) ? "/tmp" : tmpdir();
  const folder = mkdtempSync(join(parent, "signalbox-run-"));
  chmodSync(folder, 0o1777);
  return folder;
}

export function removeRunFolder(folder: string) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
