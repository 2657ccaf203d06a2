/** Copies the database before an upgrade, and removes older copies. */
import type { Database } from "bun:sqlite";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../core/time/clock.ts";
import { DataError } from "../../core/errors.ts";
import { formatBytes } from "../../core/text/formatting.ts";
import { writeBackup } from "../backup/backup-file.ts";
import { measureFreeBytes } from "./data-files.ts";

export type CopyOptions = {
  clock: Clock;
  /** Rejects an upgrade if the disk has no space for a copy of the old data. */
  requireCopy?: boolean;
  /** Called when an upgrade continues without a copy. */
  onMissingCopy?: (message: string) => void;
  /** Free disk space of a directory, in bytes. */
  freeBytes?: (path: string) => number;
};

const copyPrefix = "signalbox.db.before-upgrade-";
/** Number of copies to preserve. */
const retainedCopies = 2;

/**
 * Copies the database before an upgrade, and preserves one earlier copy. Throws MIGRATION_REFUSED if a required copy
 * fails.
 */
export function copyBeforeUpgrade(database: Database, path: string, options: CopyOptions) {
  const { freeBytes = measureFreeBytes } = options;
  try {
    const [[pages, size] = []] = database
      .query("select page_count, page_size from pragma_page_count(), pragma_page_size()")
      .values() as number[][];
    // The upgrade itself needs half of the size in addition.
    const needed = Math.ceil((pages ?? 0) * (size ?? 0) * 1.5);
    const free = freeBytes(path);
    if (free < needed)
      throw new Error(`${formatBytes(free)} are free, ${formatBytes(needed)} are needed`);
    writeBackup(database, buildCopyPath(path, options));
  } catch (error) {
    return handleMissingCopy(error as Error, options);
  }
  removeOlderCopies(path);
}

export const buildCopyPath = (path: string, { clock }: CopyOptions) =>
  join(path, `${copyPrefix}${clock()}`);

/** Reports that there is no copy. Throws MIGRATION_REFUSED if a copy is required. */
export function handleMissingCopy(error: Error, { requireCopy, onMissingCopy }: CopyOptions) {
  const reason = `There is no copy of the data from before the upgrade (${error.message}).`;
  if (requireCopy)
    throw new DataError(
      "MIGRATION_REFUSED",
      `${reason} Nothing was changed. Make room, or upgrade without --require-copy.`,
    );
  onMissingCopy?.(reason);
}

export function removeOlderCopies(path: string) {
  const copies = readdirSync(path).filter((name) =>
    /^signalbox\.db\.before-upgrade-\d+$/.test(name),
  );
  const older = copies.toSorted((one, other) => timeOf(other) - timeOf(one)).slice(retainedCopies);
  for (const name of older) rmSync(join(path, name));
}

const timeOf = (name: string) => Number(name.slice(copyPrefix.length));
