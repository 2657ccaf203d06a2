import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { desktopOf } from "../../config.ts";
import { files } from "../../database/file/data-files.ts";

/** Opens a page in the browser; nothing happens where there is no desktop or nothing that opens pages. */
export function openInBrowser(url: string) {
  const { opener } = desktopOf();
  if (opener === null || Bun.which(opener[0]) === null) return;
  Bun.spawn([...opener, url], { stdio: ["ignore", "ignore", "ignore"] }).unref();
}

/** Leaves the address for whoever starts a second one, until it is disposed. A full disk keeps nobody from serving. */
export function leaveAddress(dataDir: string, url: string): Disposable {
  const file = files(dataDir).address;
  const part = `${file}.part`;
  const remove = () => {
    try {
      for (const path of [part, file]) rmSync(path, { force: true });
    } catch {
      // On a disk that became read-only it stays; the lock is what says that nobody runs.
    }
  };
  try {
    // Whoever finds it finds all of it.
    writeFileSync(part, `${url}\n`, { mode: 0o600 });
    renameSync(part, file);
  } catch {
    remove();
  }
  return { [Symbol.dispose]: remove };
}

/** The page of the one that runs already: where to set it up, as long as that is to be done. */
export function runningPage(dataDir: string): string | null {
  const lineOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").trim() : null);
  const url = lineOf(files(dataDir).address);
  const token = lineOf(join(dataDir, "set-up-token"));
  return url && token ? `${url}/set-up#${token}` : url;
}
