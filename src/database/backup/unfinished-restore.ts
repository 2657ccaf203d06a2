/** Finishes or removes a restore that was interrupted. */
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory } from "../file/data-files.ts";
import { noteEnd } from "../file/run-marker.ts";

/**
 * A restore gathers its files in `restore-TIME.part` and decides with one rename to `restore-TIME.ready`.
 * From then on whoever opens the directory puts them in place first, and keeps what was there in
 * `before-restore-TIME`: killed at any step, the directory holds the old data or the new.
 */
const part = ".part";
const ready = ".ready";

export const stagingOf = (path: string, time: string) => ({
  part: join(path, `restore-${time}${part}`),
  ready: join(path, `restore-${time}${ready}`),
  /** Where what was there is kept. */
  aside: join(path, `before-restore-${time}`),
});

function restoresIn(path: string, suffix: string): string[] {
  return readdirSync(path).filter((name) => name.startsWith("restore-") && name.endsWith(suffix));
}

export function hasUnfinishedRestore(path: string): boolean {
  return restoresIn(path, ready).length > 0;
}

/** Finishes what was decided and removes what was not; only for who has locked the directory. */
export function finishRestore(path: string) {
  for (const name of restoresIn(path, part)) rmSync(join(path, name), { recursive: true });
  for (const name of restoresIn(path, ready))
    putInPlace(path, stagingOf(path, name.slice("restore-".length, -ready.length)));
}

/** Each step holds after a kill at any other: what is still in `from` is not in place yet. */
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
    // Of the old database alone: SQLite would mix what is in it into the new one.
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

/** A name that is kept is never missing for a moment where the file system knows links. */
function linkOrMove(from: string, to: string) {
  try {
    linkSync(from, to);
  } catch {
    renameSync(from, to);
  }
}
