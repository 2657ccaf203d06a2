/** Opens the data of Uptime Kuma, in any of its forms. */
import { openSqlite } from "./sqlite.ts";
import { lstat, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { invalidFieldError } from "../../core/validation.ts";
import { maxFileBytes, createUnreadableError } from "../limits.ts";
import { isStartOfText, readTextFile } from "../text-file.ts";
import { openBackup } from "./backup.ts";
import type { KumaSource } from "./source.ts";

/** Size limit of a logo. */
const maxPictureBytes = 1024 * 1024;

/** Opens Uptime Kuma's database file, data directory, JSON backup of 1.x or MariaDB address. */
export async function openKuma(from: string, workIn: string, name?: string): Promise<KumaSource> {
  if (/^(?:mysql|mariadb):\/\//i.test(from)) {
    const { openMariaDb } = await import("./mariadb.ts");
    return openMariaDb(from);
  }
  const found = await stat(from).catch(() => null);
  if (found === null) throw invalidFieldError("source", `is not a file or folder here: ${from}`);
  if (!found.isDirectory()) return openFile(from, null, workIn, name);
  const file = join(from, "kuma.db");
  const inside = await lstat(file).catch(() => null);
  if (inside === null)
    throw invalidFieldError(
      "source",
      `holds no kuma.db: ${from} is not the data directory of Uptime Kuma`,
    );
  return openFile(file, from, workIn);
}

async function openFile(
  file: string,
  folder: string | null,
  workIn: string,
  name = basename(file),
): Promise<KumaSource> {
  for (const path of folder === null ? [] : [file, `${file}-wal`])
    if ((await lstat(path).catch(() => null))?.isSymbolicLink())
      throw createUnreadableError(
        basename(path),
        "it is a symbolic link, which can point anywhere.",
      );
  const { size, isFile } = await stat(file).then((stats) => ({
    size: stats.size,
    isFile: stats.isFile(),
  }));
  if (!isFile) throw createUnreadableError(name, "it is not a regular file.");
  const start = await Bun.file(file).slice(0, 64).bytes();
  if (isStartOfText(start, /^\s*\{/)) {
    if (size > maxFileBytes) throw createUnreadableError(name, "it is too large for a backup.");
    return openBackup(await readTextFile(file, name), name);
  }
  return { ...openSqlite(file, name, workIn), picture: (path) => readPicture(folder, path) };
}

/** Reads a logo from the `upload` folder. Only file names that Uptime Kuma generates are accepted. */
async function readPicture(folder: string | null, path: string) {
  const [, file] = /^\/upload\/([\w-]+\.png)(?:\?|$)/.exec(path) ?? [];
  if (folder === null || file === undefined) return null;
  const full = join(folder, "upload", file);
  for (const part of [join(folder, "upload"), full])
    if ((await lstat(part).catch(() => null))?.isSymbolicLink() !== false) return null;
  const { size } = await stat(full);
  if (size > maxPictureBytes) return null;
  return { type: "image/png", bytes: new Uint8Array(await readFile(full)) };
}
