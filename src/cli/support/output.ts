/** Prints tables and JSON, for people and programs, safely for terminals. */
import { fstatSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

/**
 * Makes writes to standard output and standard error synchronous if they are files or devices. On a full disk,
 * Bun's streams would retry forever after a partial write, and the process would not end. Throws
 * the error of the disk.
 */
export function writeFilesAtOnce() {
  for (const [fd, name] of [
    [1, "stdout"],
    [2, "stderr"],
  ] as const)
    // Creating the streams takes several milliseconds of a start.
    if (isFileOrDevice(fd))
      process[name].write = (text: string | Uint8Array) => {
        let unwritten = typeof text === "string" ? Buffer.from(text) : text;
        while (unwritten.length > 0) unwritten = unwritten.subarray(writeSync(fd, unwritten));
        return true;
      };
}

function isFileOrDevice(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFile() || (stat.isCharacterDevice() && !isatty(fd));
  } catch {
    return false;
  }
}

/** Writes text, and ignores errors such as a full disk. */
export function writeIfPossible(stream: NodeJS.WriteStream, text: string) {
  try {
    stream.write(text);
  } catch {
    // The server continues on a full disk; the log has a gap.
  }
}

/** Replaces control characters and line breaks in text from other sources. */
export const cleanLine = (text: string): string => cleanLines(text).replace(/[\n\t]/g, " ");

/** Replaces control characters, except line breaks and tabs, and characters that change the writing direction. */
const cleanLines = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, " ");

/** Prints a message for people on stderr. */
export const printMessage = (text: string) => void process.stderr.write(`${cleanLines(text)}\n`);

/**
 * Prints JSON. Also escapes U+0080–9F and characters that change the writing direction, because
 * terminals interpret them.
 */
export function printJson(value: unknown) {
  const json = JSON.stringify(value, null, 2);
  const escaped = json.replace(
    /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  process.stdout.write(`${escaped}\n`);
}

type Row = Readonly<Record<string, string | boolean | null>>;

/** Prints rows as aligned columns with headings. Prints nothing without rows. */
export function printTable(rows: readonly Row[]) {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first);
  const table = [
    names,
    ...rows.map((row) => names.map((name) => cleanLine(formatCell(row[name])))),
  ];
  const widths = names.map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of table) {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}

const formatCell = (value: Row[string] | undefined): string =>
  typeof value === "boolean" ? (value ? "yes" : "no") : (value ?? "–");

type Format = { json?: boolean };

export function printRows(rows: readonly Row[], { json }: Format) {
  if (json) printJson(rows);
  else printTable(rows);
}

/** Prints only the ID of a new record, for scripts, or the whole record as JSON. */
export function printCreated(record: { id: string }, { json }: Format) {
  if (json) printJson(record);
  else process.stdout.write(`${cleanLine(record.id)}\n`);
}
