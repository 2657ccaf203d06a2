import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../core/ids.ts";
import { allowedAddresses } from "../../core/outgoing/addresses.ts";
import { portOf, type TargetGuard } from "../../core/target-guard.ts";
import { copyPrefix } from "../../database/backup-file.ts";
import type { Copying } from "../../database/copy.ts";
import { isPart } from "./rules.ts";
import type { BackupPlan, Bucket } from "./schedule-schema.ts";

/** Where scheduled backups are kept. */
export type Destination = {
  /** Makes one under this name; returns its bytes. */
  put(name: string): Promise<number>;
  names(): Promise<string[]>;
  remove(name: string): Promise<void>;
};

type Means = {
  /** For the file that is sent. */
  workIn: string;
  targets: TargetGuard;
  clock: () => number;
  /** Writes a backup to a file. */
  copyTo: (file: string) => Copying["done"];
};

export function destinationOf({ to, folder, s3 }: BackupPlan, means: Means): Destination {
  if (to === "folder" && folder !== null) return folderAt(folder, means);
  if (to === "s3" && s3 !== null) return bucketOf(s3, means);
  throw new Error("It is not said where backups are kept.");
}

function folderAt(folder: string, { copyTo }: Means): Destination {
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

const partBytes = 8 * 1024 * 1024;

/**
 * A bucket of any service that speaks S3, addressed by path. Bun's client connects by name: what the
 * name stands for is judged before each use.
 */
function bucketOf(bucket: Bucket, { workIn, targets, clock, copyTo }: Means): Destination {
  const { endpoint, region, prefix, accessKeyId, secretAccessKey } = bucket;
  const { origin } = new URL(endpoint);
  const client = new Bun.S3Client({
    endpoint: origin,
    region,
    bucket: bucket.bucket,
    accessKeyId,
    secretAccessKey: secretAccessKey ?? "",
    virtualHostedStyle: false,
  });
  async function mustBeAllowed() {
    const url = new URL(endpoint);
    await allowedAddresses(targets, url.hostname, portOf(url));
  }
  return {
    async put(name) {
      await mustBeAllowed();
      const file = join(workIn, `${copyPrefix}${newId(clock())}`);
      try {
        await copyTo(file);
        const { size } = statSync(file);
        const sending = { partSize: partBytes, queueSize: 2, retry: 3 };
        await client.write(`${prefix}${name}`, Bun.file(file), sending);
        const stored = await client.size(`${prefix}${name}`);
        if (stored !== size) throw new Error(`The bucket holds ${stored} bytes of ${size}.`);
        return size;
      } finally {
        rmSync(file, { force: true });
      }
    },
    async names() {
      await mustBeAllowed();
      const names: string[] = [];
      for (let startAfter: string | undefined; ;) {
        const page = await client.list({ prefix, ...(startAfter && { startAfter }) });
        const keys = (page.contents ?? []).map(({ key }) => key);
        names.push(...keys.map((key) => key.slice(prefix.length)));
        startAfter = keys.at(-1);
        if (page.isTruncated !== true || startAfter === undefined) return names;
      }
    },
    async remove(name) {
      await mustBeAllowed();
      await client.delete(`${prefix}${name}`);
    },
  };
}
