import { closeSync, openSync } from "node:fs";

/** Handles that must be free: one connection, a name lookup and a child process take about this many. */
const neededHandles = 4;

/** A reason that ends a sentence. */
export const noFileHandles = "this process has no file handles left";

/**
 * Whether this process can open files and sockets. Bun's sockets and resolver report a full file table as a
 * refusal (1.4.5), so that only trying shows it.
 */
export function hasFileHandles(): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < neededHandles) opened.push(openSync("/dev/null", "r"));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== "EMFILE" && code !== "ENFILE";
  } finally {
    for (const handle of opened) closeSync(handle);
  }
}
