import { readFile } from "node:fs/promises";
import { createUnreadableError } from "./limits.ts";

/** Encoding of a text file by its byte order mark. PowerShell writes UTF-16. */
const encodingOf = ([first, second]: Uint8Array) =>
  first === 0xff && second === 0xfe
    ? "utf-16le"
    : first === 0xfe && second === 0xff
      ? "utf-16be"
      : "utf-8";

/** Reads a text file without its byte order mark. Throws BAD_REQUEST for bytes that are no text in its encoding. */
export async function readTextFile(file: string, name: string): Promise<string> {
  const bytes = await readFile(file);
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    throw createUnreadableError(name, "it is not UTF-8 text. Save it with the encoding UTF-8.");
  }
}

/** Whether the text of a file starts with this pattern, in any encoding. */
export const isStartOfText = (start: Uint8Array, pattern: RegExp): boolean =>
  pattern.test(new TextDecoder(encodingOf(start)).decode(start));
