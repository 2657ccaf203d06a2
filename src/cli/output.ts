import { fstatSync, writeSync } from "node:fs";

/**
 * Has standard output and standard error written at once where they are files. Bun's streams, of which a full
 * disk took a part, try for ever, and keep the process from ending. Throws what the disk says.
 */
export function writeFilesAtOnce() {
  for (const [fd, stream] of [
    [1, process.stdout],
    [2, process.stderr],
  ] as const)
    if (isFile(fd))
      stream.write = (text: string | Uint8Array) => {
        let left = typeof text === "string" ? Buffer.from(text) : text;
        while (left.length > 0) left = left.subarray(writeSync(fd, left));
        return true;
      };
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** Writes what is lost where there is no room for it. */
export function tell(stream: NodeJS.WriteStream, text: string) {
  try {
    stream.write(text);
  } catch {
    // On a full disk serving goes on, and the log has a gap.
  }
}

/** Text of elsewhere, without what a terminal would obey. */
export const plain = (text: string): string => text.replace(/\p{Cc}/gu, " ");
