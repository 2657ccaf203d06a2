/** Finishes or removes interrupted restores. */
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory } from "../file/data-files.ts";
import { noteEnd } from "../file/run-marker.ts";

/**
 * A restore stages its files in `restore-TIME.part`, and commits by renaming it to `restore-TIME.ready`. The next
 * process that opens the directory moves them into position, and preserves the old data in `before-restore-TIME`. A
 * kill at any step leaves either the old or the new data.
 */
const part = ".part";
const ready = ".ready";

export const stagingOf = (path: string, time: string) => ({
  part: join(path, `restore-${time}${part}`),
  ready: join(path, `restore-${time}${ready}`),
  /** Directory of the previous data. */
  aside: join(path, `before-restore-${time}`),
});

function restoresIn(path: string, suffix: string): string[] {
  return readdirSync(path).filter((name) => name.startsWith("restore-") && name.endsWith(suffix));
}

export function hasUnfinishedRestore(path: string): boolean {
  return restoresIn(path, ready).length > 0;
}

/** Finishes committed restores, and removes uncommitted ones. The caller must hold the lock of the directory. */
export function finishRestore(path: string) {
  for (const name of restoresIn(path, part)) rmSync(join(path, name), { recursive: true });
  for (const name of restoresIn(path, ready))
    putInPlace(path, stagingOf(path, name.slice("restore-".length, -ready.length)));
}

/**
 * Moves the staged files into position. Can be repeated after a kill at any step, because files in `from` are not in
 * position yet.
 */
function putInPlace(path: string, { ready: from, aside }: ReturnType<typeof stagingOf>) {
  const isWaiting = (name: string) => existsSync(join(from, name));
  const keepAside = (name: string) => {
    if (!existsSync(join(path, name)) || existsSync(join(aside, name))) return;
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    linkOrMove(join(path, name), join(aside, name));
  };
  const place = (name: string) => renameSync(join(from, name), join(path, name));

  if (isWaiting("secret.key")) {
    keepAside("secret.key");
    place("secret.key");
  }
  if (isWaiting("signalbox.db")) {
    keepAside("signalbox.db");
    noteEnd(path);
    // Removes the logs of the old database, which SQLite would otherwise apply to the new one.
    for (const name of ["signalbox.db-wal", "signalbox.db-shm"]) {
      keepAside(name);
      rmSync(join(path, name), { force: true });
    }
    if (existsSync(aside)) syncDirectory(aside);
    place("signalbox.db");
  }
  if (isWaiting("instance.json") && !existsSync(join(path, "instance.json")))
    place("instance.json");
  syncDirectory(path);
  rmSync(from, { recursive: true });
}

/** Preserves a file by a link if possible, so that its original name always exists. */
function linkOrMove(from: string, to: string) {
  try {
    linkSync(from, to);
  } catch {
    renameSync(from, to);
  }
}
