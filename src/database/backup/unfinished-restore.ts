/** Finishes or removes interrupted restores. */
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory } from "../file/data-files.ts";
import { recordRunEnd } from "../file/run-marker.ts";

/**
 * A restore stages its files in `restore-TIME.part`, and commits by renaming it to `restore-TIME.ready`. The next
 * process that opens the directory moves them into position, and preserves the old data in `before-restore-TIME`. A
 * kill at any step leaves either the old or the new data.
 */
const partSuffix = ".part";
const readySuffix = ".ready";

export const buildStagingPaths = (path: string, time: string) => ({
  part: join(path, `restore-${time}${partSuffix}`),
  ready: join(path, `restore-${time}${readySuffix}`),
  /** Directory of the previous data. */
  aside: join(path, `before-restore-${time}`),
});

function listRestores(path: string, suffix: string): string[] {
  return readdirSync(path).filter((name) => name.startsWith("restore-") && name.endsWith(suffix));
}

export function hasUnfinishedRestore(path: string): boolean {
  return listRestores(path, readySuffix).length > 0;
}

/** Finishes committed restores, and removes uncommitted ones. The caller must hold the lock of the directory. */
export function finishRestore(path: string) {
  for (const name of listRestores(path, partSuffix)) rmSync(join(path, name), { recursive: true });
  for (const name of listRestores(path, readySuffix))
    moveIntoPlace(
      path,
      buildStagingPaths(path, name.slice("restore-".length, -readySuffix.length)),
    );
}

/**
 * Moves the staged files into position. Can be repeated after a kill at any step, because files in `from` are not in
 * position yet.
 */
function moveIntoPlace(path: string, { ready: from, aside }: ReturnType<typeof buildStagingPaths>) {
  const isWaiting = (name: string) => existsSync(join(from, name));
  const moveAside = (name: string) => {
    if (!existsSync(join(path, name)) || existsSync(join(aside, name))) return;
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    linkOrMove(join(path, name), join(aside, name));
  };
  const moveStaged = (name: string) => renameSync(join(from, name), join(path, name));

  if (isWaiting("secret.key")) {
    moveAside("secret.key");
    moveStaged("secret.key");
  }
  if (isWaiting("signalbox.db")) {
    moveAside("signalbox.db");
    recordRunEnd(path);
    // Removes the logs of the old database, which SQLite would otherwise apply to the new one.
    for (const name of ["signalbox.db-wal", "signalbox.db-shm"]) {
      moveAside(name);
      rmSync(join(path, name), { force: true });
    }
    if (existsSync(aside)) syncDirectory(aside);
    moveStaged("signalbox.db");
  }
  if (isWaiting("instance.json") && !existsSync(join(path, "instance.json")))
    moveStaged("instance.json");
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
