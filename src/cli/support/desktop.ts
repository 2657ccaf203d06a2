import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { detectDesktop } from "../../config.ts";
import { getDataFiles } from "../../database/file/data-files.ts";

/** Opens a page in the browser. Does nothing if there is no desktop or no program that opens pages. */
export function openInBrowser(url: string) {
  const { opener } = detectDesktop();
  if (opener === null || Bun.which(opener[0]) === null) return;
  Bun.spawn([...opener, url], { stdio: ["ignore", "ignore", "ignore"] }).unref();
}

/**
 * Stores the server's address for a second `serve --open` until it is disposed. Errors, such as a
 * full disk, are ignored.
 */
export function leaveAddress(dataDir: string, url: string): Disposable {
  const file = getDataFiles(dataDir).address;
  const part = `${file}.part`;
  const remove = () => {
    try {
      for (const path of [part, file]) rmSync(path, { force: true });
    } catch {
      // On a disk that became read-only, the file stays. Another process then sees from the lock
      // that no server is running.
    }
  };
  try {
    // The rename is atomic, so that no process reads half of the file.
    writeFileSync(part, `${url}\n`, { mode: 0o600 });
    renameSync(part, file);
  } catch {
    remove();
  }
  return { [Symbol.dispose]: remove };
}

const readLine = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").trim() : null);

/** Returns the address of the running server; null if none runs. */
export const findServerAddress = (dataDir: string): string | null =>
  readLine(getDataFiles(dataDir).address);

/** Returns the page of the running server, or the set-up page before the first run is complete. */
export function findRunningPage(dataDir: string): string | null {
  const url = findServerAddress(dataDir);
  const token = readLine(join(dataDir, "set-up-token"));
  return url && token ? `${url}/set-up#${token}` : url;
}
