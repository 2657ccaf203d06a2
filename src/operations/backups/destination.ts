/** Stores backups in a folder or a bucket. */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createId } from "../../core/ids.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { copyPrefix } from "../../database/backup/backup-file.ts";
import type { RunningCopy } from "../../database/backup/copy.ts";
import { BucketClient, type RetryOptions } from "../../core/outgoing/bucket.ts";
import { isPart } from "./rules.ts";
import type { Bucket } from "../../core/outgoing/bucket-schema.ts";
import type { BackupPlan } from "./schedule-schema.ts";

/** A folder or bucket that stores scheduled backups. */
type Destination = {
  /** Stores a backup under this name and returns its size in bytes. */
  put(name: string): Promise<number>;
  names(): Promise<string[]>;
  remove(name: string): Promise<void>;
};

type DestinationContext = {
  /** Folder for the file until it is uploaded. */
  workIn: string;
  targets: TargetGuard;
  clock: () => number;
  /** Writes a backup to a file. */
  copyTo: (file: string) => RunningCopy["done"];
  /** Timeouts of bucket requests, if not the default. */
  patience?: RetryOptions;
};

export function createDestination(
  { to, folder, s3 }: BackupPlan,
  means: DestinationContext,
): Destination {
  if (to === "folder" && folder !== null) return createFolderDestination(folder, means);
  if (to === "s3" && s3 !== null) return createBucketDestination(s3, means);
  throw new Error("No destination for backups is set.");
}

function createFolderDestination(folder: string, { copyTo }: DestinationContext): Destination {
  return {
    async put(name) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const left of readdirSync(folder).filter(isPart)) rmSync(join(folder, left));
      await copyTo(join(folder, name));
      return statSync(join(folder, name)).size;
    },
    names: async () => readdirSync(folder),
    remove: async (name) => rmSync(join(folder, name), { force: true }),
  };
}

function createBucketDestination(
  s3: Bucket,
  { workIn, targets, clock, copyTo, patience }: DestinationContext,
): Destination {
  const { prefix } = s3;
  const bucket = new BucketClient(s3, targets, patience);
  return {
    async put(name) {
      const file = join(workIn, `${copyPrefix}${createId(clock())}`);
      try {
        await copyTo(file);
        return await bucket.put(`${prefix}${name}`, file);
      } finally {
        rmSync(file, { force: true });
      }
    },
    names: async () => (await bucket.listKeys(prefix)).map((key) => key.slice(prefix.length)),
    remove: (name) => bucket.remove(`${prefix}${name}`),
  };
}
