import { dirname } from "node:path";

type SystemError = { code?: unknown; path?: unknown; syscall?: unknown };

const sentences: Readonly<Record<string, (path: string, call: string) => string>> = {
  EACCES: (path) =>
    `This user has no permission to open ${path}. Run the command as the account that owns it, or as root.`,
  EPERM: (path) =>
    `${path} belongs to another user. Run the command as the account that owns it, or as root.`,
  ENOSPC: (path) => `The disk of ${path} is full. Free some space, then try again.`,
  EDQUOT: (path) => `This user's disk quota for ${path} is used up.`,
  EROFS: (path) => `${path} is on a read-only file system.`,
  ENOENT: (path, call) =>
    call === "open" ? `${path} does not exist.` : `${dirname(path)} does not exist.`,
  ENOTDIR: (path) => `A part of the path ${path} is a file, not a folder.`,
  EISDIR: (path) => `${path} is a folder, not a file.`,
  EEXIST: (path) => `${path} exists already and is not a folder.`,
  ENAMETOOLONG: () => "The path is longer than this system allows.",
  EMFILE: () => "This process has too many open files. Raise `ulimit -n`.",
  ENFILE: () => "This machine has too many open files.",
};

/**
 * Explains the error of a file operation (errno(3)), with the next step; null for other errors. `path` is used if the
 * error contains no path.
 */
export function explainFileError(error: unknown, path?: string): string | null {
  const { code, path: named, syscall } = (error ?? {}) as SystemError;
  const file = typeof named === "string" ? named : path;
  if (file === undefined) return null;
  return sentences[String(code)]?.(file, String(syscall)) ?? null;
}

/** Explains why a file can't be read, as the end of a sentence without a period. */
export const explainUnreadable = (error: unknown, file: string): string =>
  (explainFileError(error, file) ?? (error as Error).message).replace(/\.$/, "");
