import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Creates the folder of one run, open to all users as /tmp is: some servers drop root's rights and then write to it.
 * Its path has no blanks, because tests type the commands of the documents as they are printed there.
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
