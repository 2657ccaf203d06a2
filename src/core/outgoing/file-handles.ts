import { closeSync, openSync } from "node:fs";

/** File handles that a connection, a name lookup and a child process need together. */
const neededHandles = 4;

export const noFileHandlesReason = "this process has no file handles left";

/**
 * Whether this process can still open files and sockets. Bun 1.4.5 reports a full file table as a refused connection,
 * so this opens a few files to find out.
 */
export function hasFileHandles(): boolean {
  const handles: number[] = [];
  try {
    while (handles.length < neededHandles) handles.push(openSync("/dev/null", "r"));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== "EMFILE" && code !== "ENFILE";
  } finally {
    for (const handle of handles) closeSync(handle);
  }
}
