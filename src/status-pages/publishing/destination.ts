/** Writes published files to a folder or a bucket. */
import { chmod, mkdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Bucket } from "../../core/outgoing/bucket-schema.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import type { PublishedFile } from "./files.ts";
import { folderRoot, type Place } from "./rules.ts";
import { resolvePublishFolder } from "./service.ts";

/** Writes to a place. */
export type PublishDestination = {
  /**
   * Whether a file that was written before is still there, with this content if one is passed. A bucket is trusted; a folder
   * can be another one after a restart or on another node.
   */
  has(path: string, content?: Uint8Array): Promise<boolean>;
  put(file: PublishedFile, content: Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes the folders of these files if they are empty. */
  tidy(paths: readonly string[]): Promise<void>;
};

type Context = { publishDir: string | null; targets: TargetGuard };

/** Timeout and attempts of a request. A failed publication is repeated as a whole. */
const requestLimits = { timeoutMs: 20_000, attempts: 2 };

/** Throws an error for people if the place can't be used. */
export async function createPublishDestination(
  { root, prefix }: Place,
  s3: Bucket | null,
  { publishDir, targets }: Context,
): Promise<PublishDestination> {
  if (root === folderRoot) return createFolderDestination(publishDir, prefix);
  if (s3 === null) throw new Error("No bucket is set.");
  // Loaded when the first page is published, because most appliances publish none.
  const { BucketClient } = await import("../../core/outgoing/bucket.ts");
  const bucket = new BucketClient(s3, targets, requestLimits);
  return {
    has: () => Promise.resolve(true),
    put: ({ path, type, isImmutable = false }, content) =>
      bucket.putObject(`${prefix}${path}`, content, {
        "Content-Type": type,
        "Cache-Control": isImmutable ? "public, max-age=31536000, immutable" : "public, max-age=5",
      }),
    remove: (path) => bucket.remove(`${prefix}${path}`),
    tidy: async () => {},
  };
}

async function removeEmptyFolders(folder: string, paths: readonly string[]): Promise<void> {
  const parents = new Set([folder]);
  for (const path of paths)
    for (let parent = dirname(path); parent !== "."; parent = dirname(parent))
      parents.add(join(folder, parent));
  const deepestFirst = [...parents].sort((a, b) => b.length - a.length);
  for (const parent of deepestFirst) await rmdir(parent).catch(() => {});
}

/** Other programs serve the folder, so they can read it regardless of the umask. */
const modes = { folder: 0o755, file: 0o644 };

/** A file is written under this name first, because readers must not see a part of it. */
const getPart = (file: string) => `${file}.part`;

async function createFolderDestination(
  publishDir: string | null,
  slug: string,
): Promise<PublishDestination> {
  if (publishDir === null) throw new Error("A folder needs `serve --publish-dir DIR`.");
  const isFolder = await stat(publishDir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new Error(`The folder ${publishDir} of --publish-dir does not exist.`);
  const folder = resolvePublishFolder(publishDir, slug);
  const known = new Set<string>([publishDir]);
  const makeFolder = async (path: string): Promise<void> => {
    if (known.has(path)) return;
    await makeFolder(dirname(path));
    if ((await mkdir(path, { recursive: true })) !== undefined) await chmod(path, modes.folder);
    known.add(path);
  };
  return {
    async has(path, content) {
      const file = Bun.file(join(folder, path));
      if (content === undefined) return file.exists();
      return (await file.exists()) && Buffer.compare(content, await file.bytes()) === 0;
    },
    async put({ path }, content) {
      const file = join(folder, path);
      await makeFolder(dirname(file));
      const part = getPart(file);
      try {
        await writeFile(part, content);
        await chmod(part, modes.file);
        await rename(part, file);
      } catch (error) {
        await rm(part, { force: true }).catch(() => {});
        throw error;
      }
    },
    async remove(path) {
      const file = join(folder, path);
      await rm(file, { force: true });
      // Of a process that was killed while it wrote the file.
      await rm(getPart(file), { force: true });
    },
    tidy: (paths) => removeEmptyFolders(folder, paths),
  };
}
