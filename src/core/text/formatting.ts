/** Validates, shortens, formats and escapes texts. */
import { formatCount } from "./locale.ts";
import { t } from "./plain-texts.ts";

export { formatCount } from "./locale.ts";

const controlsPattern = /\p{Cc}/u;
const controlsButBreaks = /[^\P{Cc}\n\t]/u;
/** Control characters that change the direction of text, even beyond the end of the value (UAX #9 §2). */
const directionControls = /[\u202a-\u202e\u2066-\u2069]/;
const invisiblePattern = /^[\p{White_Space}\p{Cf}]*$/u;

/** Returns why a text can't be stored as one line; null if it can. */
export function validateLine(text: string): string | null {
  if (!text.isWellFormed()) return "must be valid Unicode, without lone surrogates";
  if (controlsPattern.test(text)) return "must not contain control characters";
  if (directionControls.test(text))
    return "must not contain characters that change the direction of writing (U+202A–202E, U+2066–2069)";
  return null;
}

/**
 * Returns why a text can't be stored as running text; null if it can. Tabs and line breaks (LF or CRLF) are allowed.
 */
export function validateParagraphs(text: string): string | null {
  if (!text.isWellFormed()) return "must be valid Unicode, without lone surrogates";
  if (controlsButBreaks.test(normalizeLineBreaks(text)))
    return "must not contain control characters other than line breaks and tabs";
  return null;
}

/** Converts CRLF to LF. */
export const normalizeLineBreaks = (text: string): string => text.replaceAll("\r\n", "\n");

/**
 * Converts a text to one that `validateLine` accepts, truncated to `max` code points. Empty if nothing visible is
 * left.
 */
export function toLine(text: string, max: number): string {
  const line = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return isBlank(line) ? "" : truncateCodePoints(line, max);
}

/** Truncates text to `max` code points. A cut by UTF-16 units could leave half of a character, which no field accepts. */
export function truncateCodePoints(text: string, max: number): string {
  if (text.length <= max) return text;
  // A code point has one or two units.
  return Array.from(text.slice(0, max * 2))
    .slice(0, max)
    .join("");
}

export function isBlank(text: string): boolean {
  return invisiblePattern.test(text);
}

/** Formats a field path as in error details, such as `monitorIds[3].name`. */
export function formatFieldPath(keys: readonly PropertyKey[]): string {
  let path = "";
  for (const key of keys) {
    if (typeof key === "number") path += `[${key}]`;
    else path += path === "" ? String(key) : `.${String(key)}`;
  }
  return path;
}

/**
 * Invisible characters that reorder, hide or break text (UAX #9, Unicode 23.2 and 23.3). Excludes the joiners of
 * scripts and emoji (U+200C, U+200D).
 */
const misleadingPattern =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Shortens an untrusted text to `length` code points, on one line with `↵`, and without misleading characters. */
export const excerptText = (text: string, length = 60): string =>
  excerptName(text.slice(0, length * 2 + 2).replace(misleadingPattern, "�"), length);

/** Shortens a name that a user has entered to `length` code points. It can contain direction marks of its script. */
export function excerptName(name: string, length: number): string {
  // A code point has one or two units.
  const start = name.slice(0, length * 2 + 2);
  const line = start
    .toWellFormed()
    .replace(/\r\n?|\n/g, "↵")
    .replaceAll("\t", " ");
  const points = Array.from(line.replace(/\p{Cc}/gu, "�"));
  return points.length > length ? points.slice(0, length).join("") + "…" : points.join("");
}

/** Converts an untrusted text to one line, without misleading characters. */
export const toRemoteLine = (text: string, max: number): string =>
  toLine(text.replace(misleadingPattern, ""), max);

/** Converts an untrusted text to one that `validateParagraphs` accepts, without misleading characters. */
export const toRemoteText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(misleadingPattern, "")
    .replace(/[^\P{Cc}\n\t]+/gu, " ");

/** Formats a duration in its two largest units, such as `3 h 20 min`. */
export function formatDuration(seconds: number, space = " "): string {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return t("less than a second");
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${space}${unit}`)
    .join(" ");
}

const thinSpace = "\u202f";
/** Formats a number with this many decimals and without digit separators. */
export const formatDecimals = (value: number, decimals: number): string =>
  value.toFixed(decimals).replace(".", t("."));

/**
 * Formats a ratio, such as `99.98 %`; `–` for no value. Rounds down to two decimals, so that 100 % means no failure.
 */
export function formatPercent(ratio: number | null | undefined): string {
  if (ratio == null) return "–";
  if (ratio === 1) return `100${thinSpace}%`;
  // The binary value of a hundredth of a percent can be slightly too small.
  const hundredths = Math.min(9_999, Math.floor(ratio * 10_000 + 1e-9));
  return `${formatDecimals(hundredths / 100, 2)}${thinSpace}%`;
}

/** Formats a count with its noun, such as `1 monitor` or `1,204 monitors`. */
export const pluralize = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Formats a latency, such as `84 ms`, or `12.4 s` from ten seconds; `–` for no value. */
export function formatLatency(ms: number | null | undefined, space = thinSpace): string {
  if (ms == null) return "–";
  if (ms < 1) return `<1${space}ms`;
  return ms < 10_000 ? `${formatCount(ms)}${space}ms` : `${formatDecimals(ms / 1000, 1)}${space}s`;
}

/** Formats the latencies in the message of a check. */
export const formatLatencies = (text: string, space = thinSpace): string =>
  text.replace(/(?<![\d.,])(\d+) ms\b/g, (_, ms: string) => formatLatency(Number(ms), space));

const byteUnits = ["bytes", "kB", "MB", "GB", "TB"];

/** Formats a number of bytes, such as `12.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(byteUnits.length - 1, Math.max(0, Math.floor(Math.log10(bytes || 1) / 3)));
  const value = bytes / 1000 ** power;
  const unit = power === 0 ? t("bytes") : byteUnits[power];
  return `${formatDecimals(value, power === 0 || value >= 100 ? 0 : 1)} ${unit}`;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const xmlEntities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Escapes text for XML (XML 1.0 §2.4), and removes characters that XML can't contain (§2.2). */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"']/g, (character) => xmlEntities[character] ?? character);
}

/** Start of the message of an `unknown` heartbeat. */
export const notJudgedPrefix = "Not judged: ";

/**
 * Start of a formula. East Asian spreadsheets also accept full-width signs, and some skip invisible characters before
 * them.
 */
const formulaStart = /^[\t\r\n]|^[\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u;

/** Formats a row of CSV (RFC 4180). Cells that a spreadsheet could read as a formula get an apostrophe first. */
export function formatCsvRow(cells: readonly string[]): string {
  return `${cells.map(formatCsvCell).join(",")}\r\n`;
}

function formatCsvCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Letters that Unicode normalization does not reduce to ASCII. */
const transliterations: Record<string, string> = {
  ß: "ss",
  ä: "ae",
  ö: "oe",
  ü: "ue",
  æ: "ae",
  œ: "oe",
  ø: "o",
  å: "a",
  đ: "d",
  ð: "d",
  ł: "l",
  þ: "th",
  ı: "i",
};

/** Converts a name to a slug: lower-case ASCII letters, digits and single hyphens; can be empty. */
export function slugify(name: string, maxLength: number): string {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{ASCII}]/gu, (letter) => transliterations[letter] ?? letter)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, "");
}

/** Formats names as placeholders, such as `{{name}}`. */
export const formatPlaceholders = (names: readonly string[]) => names.map((name) => `{{${name}}}`);

/** Replaces placeholders with these values. Unknown placeholders stay unchanged. */
export function fillTemplateText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{\s*([a-z]+)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

/** Decodes percent-encoding. Returns an invalid text unchanged. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Escapes each `<` that could open a tag, so that the text is displayed literally. */
export function escapeTags(text: string): string {
  return text.replace(/<(?=[a-z/!?])/gi, "&lt;");
}
