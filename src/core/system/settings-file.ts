import { readFileSync } from "node:fs";
import { explainUnreadable } from "./system-errors.ts";
import { suggestName } from "../text/suggestion.ts";
import { invalidFieldError } from "../validation.ts";

export type Setting = { value: string; line: number };

/**
 * Reads variables from a file in the format of systemd's EnvironmentFile (systemd.exec(5)): one `NAME=value` per
 * line. Ignores empty lines and comments (# or ;). Single quotes are literal; in double quotes, \ escapes ", \, ` and
 * $. Throws VALIDATION_ERROR with file and line for other lines, and for unknown or repeated names.
 */
export function readSettings(file: string, names: readonly string[]): Map<string, Setting> {
  const found = new Map<string, Setting>();
  for (const [index, text] of readText(file).split(/\r?\n/).entries()) {
    const line = index + 1;
    const buildLineError = (message: string) =>
      invalidFieldError(`${file}, line ${line}:`, message);
    const trimmed = text.trim();
    if (trimmed === "" || /^[#;]/.test(trimmed)) continue;
    const [, name, written = ""] = /^([A-Za-z_]\w*)=(.*)$/.exec(trimmed) ?? [];
    if (name === undefined) throw buildLineError("must be NAME=value, or begin with #");
    if (!names.includes(name))
      throw buildLineError(`${name} is no setting${suggestName(name, names)}`);
    const before = found.get(name);
    if (before !== undefined) throw buildLineError(`${name} is set in line ${before.line} already`);
    const value = parseValue(written.trim());
    if (value === null) throw buildLineError("quotes must enclose the whole value");
    found.set(name, { value, line });
  }
  return found;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw invalidFieldError(
      "--config",
      `names ${file}, which can't be read: ${explainUnreadable(error, file)}`,
    );
  }
}

function parseValue(written: string): string | null {
  const [, single, double] = /^(?:'([^']*)'|"((?:[^"\\]|\\.)*)")$/.exec(written) ?? [];
  if (double !== undefined) return double.replace(/\\(["\\`$])/g, "$1");
  return single ?? (/^["']/.test(written) ? null : written);
}
