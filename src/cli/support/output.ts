/** Prints rows and JSON for people and machines. */
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
export const plain = (text: string): string => plainLines(text).replace(/[\n\t]/g, " ");

/** The same of what may have several lines: its controls, and those that turn around the direction of writing. */
const plainLines = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, " ");

/** Talk, which is for people. */
export const say = (text: string) => void process.stderr.write(`${plainLines(text)}\n`);

/** What JSON's own escapes leave is escaped, too: terminals obey U+0080–9F, and turn around what follows. */
export function printJson(value: unknown) {
  const json = JSON.stringify(value, null, 2);
  const escaped = json.replace(
    /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  process.stdout.write(`${escaped}\n`);
}

/** Rows as aligned columns under their headings; nothing at all for none. */
export function printTable(rows: readonly Record<string, string | null>[]) {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first);
  const table = [names, ...rows.map((row) => names.map((name) => plain(row[name] ?? "–")))];
  const widths = names.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of table) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}

type Format = { json?: boolean };

export function printRows(rows: readonly Record<string, string | null>[], { json }: Format) {
  if (json) printJson(rows);
  else printTable(rows);
}

/** For scripts: the id alone, or the whole record. */
export function printCreated(record: { id: string }, { json }: Format) {
  if (json) printJson(record);
  else process.stdout.write(`${plain(record.id)}\n`);
}
