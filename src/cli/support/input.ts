import { dayMs, hourMs } from "../../core/time/clock.ts";
import { readFileSync } from "node:fs";
import { explainUnreadable } from "../../core/system/system-errors.ts";
import { formatDuration } from "../../core/text/formatting.ts";
import { invalidFieldError } from "../../core/validation.ts";

/** Reads a text file; `-` is standard input. Throws VALIDATION_ERROR that names the option. */
export function readText(option: string, file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw invalidFieldError(option, `can't be read: ${explainUnreadable(error, file)}`);
  }
}

/** Reads a secret from a file, without the final line break that editors add. */
export const readSecret = (option: string, file: string): string =>
  readText(option, file).replace(/\r?\n$/, "");

const unitMs: Record<string, number> = {
  s: 1_000,
  m: 60_000,
  h: hourMs,
  d: dayMs,
  w: 7 * dayMs,
};

/** Converts a duration such as `30d` to milliseconds, at most `maxMs`. Throws VALIDATION_ERROR. */
export function parseDurationMs(
  option: string,
  text: string,
  { examples = "12h, 30d or 8w", maxMs = Infinity } = {},
): number {
  const [, count, unit] = /^(\d{1,5})([smhdw])$/.exec(text) ?? [];
  const ms = Number(count ?? 0) * (unitMs[unit ?? ""] ?? 0);
  if (ms === 0) throw invalidFieldError(option, `must be a duration such as ${examples}`);
  if (ms > maxMs)
    throw invalidFieldError(option, `must be at most ${formatDuration(maxMs / 1_000)}`);
  return ms;
}
