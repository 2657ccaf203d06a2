/** Validates, shortens, formats and escapes texts. */

const controls = /\p{Cc}/u;
const controlsButBreaks = /[^\P{Cc}\n\t]/u;
/** These control characters change the direction of the text behind them, beyond the end of the value (UAX #9 §2). */
const directionControls = /[\u202a-\u202e\u2066-\u2069]/;
const invisible = /^[\p{White_Space}\p{Cf}]*$/u;

/** Why `text` can't be stored as one line; `null` when it can. */
export function validateLine(text: string): string | null {
  if (!text.isWellFormed()) return "must be valid Unicode, without lone surrogates";
  if (controls.test(text)) return "must not contain control characters";
  if (directionControls.test(text))
    return "must not contain characters that change the direction of writing (U+202A–202E, U+2066–2069)";
  return null;
}

/** Why `text` can't be stored as running text, where tabs and line breaks (LF or CRLF) are fine. */
export function validateParagraphs(text: string): string | null {
  if (!text.isWellFormed()) return "must be valid Unicode, without lone surrogates";
  if (controlsButBreaks.test(withLineFeeds(text)))
    return "must not contain control characters other than line breaks and tabs";
  return null;
}

/** Running text with LF as its only line break. */
export const withLineFeeds = (text: string): string => text.replaceAll("\r\n", "\n");

/** Converts a text to one that `validateLine` accepts, cut at `max` code points; empty if nothing visible is left. */
export function toLine(text: string, max: number): string {
  const line = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return isBlank(line) ? "" : firstCodePoints(line, max);
}

function firstCodePoints(text: string, max: number): string {
  // A code point has one or two units.
  return Array.from(text.slice(0, max * 2))
    .slice(0, max)
    .join("");
}

export function isBlank(text: string): boolean {
  return invisible.test(text);
}

/** `monitorIds[3].name`, the way error details name a field. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  let path = "";
  for (const key of keys) {
    if (typeof key === "number") path += `[${key}]`;
    else path += path === "" ? String(key) : `.${String(key)}`;
  }
  return path;
}

/**
 * Invisible characters that reorder, hide or break a line (UAX #9, Unicode 23.2 and 23.3), without the joiners of
 * scripts and emoji (U+200C, U+200D).
 */
const misleading =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** At most `length` code points of a text that a stranger wrote, fit for one line. */
export const excerpt = (text: string, length = 60): string =>
  excerptOfName(text.slice(0, length * 2 + 2).replace(misleading, "�"), length);

/** At most `length` code points of a name that a person gave, which can have direction marks of its script. */
export function excerptOfName(name: string, length: number): string {
  // A code point has one or two units.
  const start = name.slice(0, length * 2 + 2);
  const points = Array.from(start.toWellFormed().replace(/\p{Cc}/gu, "�"));
  return points.length > length ? points.slice(0, length).join("") + "…" : points.join("");
}

/** `toLine` for a text that a stranger wrote: without misleading characters. */
export const toRemoteLine = (text: string, max: number): string =>
  toLine(text.replace(misleading, ""), max);

/** `3 h 20 min`: how long something lasted, in its two largest units. */
export function durationInWords(seconds: number, space = " "): string {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return "less than a second";
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${space}${unit}`)
    .join(" ");
}

const thin = "\u202f";
let integer: Intl.NumberFormat | undefined;

/** `1,204`. */
export function countInWords(count: number): string {
  // Created on first use: the first formatter takes 3 ms.
  integer ??= new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  return integer.format(count);
}

/** `99.98 %`: two decimals, never rounded up, so that 100 % is said only where nothing failed; `–` for nothing. */
export function percent(ratio: number | null | undefined): string {
  if (ratio == null) return "–";
  if (ratio === 1) return `100${thin}%`;
  // A hundredth of a percent can be slightly less in binary.
  const hundredths = Math.min(9_999, Math.floor(ratio * 10_000 + 1e-9));
  return `${(hundredths / 100).toFixed(2)}${thin}%`;
}

/** `1 monitor`, `1,204 monitors`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countInWords(count)} ${count === 1 ? one : many}`;

/** `84 ms`, `12.4 s` from ten seconds on; `–` for nothing. */
export function latencyInWords(ms: number | null | undefined, space = thin): string {
  if (ms == null) return "–";
  if (ms < 1) return `<1${space}ms`;
  return ms < 10_000 ? `${countInWords(ms)}${space}ms` : `${(ms / 1000).toFixed(1)}${space}s`;
}

/** The message of a check, with its latencies in words. */
export const withLatencies = (text: string, space = thin): string =>
  text.replace(/(?<![\d.,])(\d+) ms\b/g, (_, ms: string) => latencyInWords(Number(ms), space));

const byteUnits = ["bytes", "kB", "MB", "GB", "TB"];

/** `12.4 MB`. */
export function bytesInWords(bytes: number): string {
  const power = Math.min(byteUnits.length - 1, Math.max(0, Math.floor(Math.log10(bytes || 1) / 3)));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${byteUnits[power]}`;
}

export function capitalized(text: string): string {
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

/** How the message of an `unknown` heartbeat begins. */
export const notJudged = "Not judged: ";

/** Spreadsheets for East Asian text take the full-width signs, too, and some skip invisible characters before them. */
const formulaStart = /^[\t\r\n]|^[\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u;

/** A row of CSV (RFC 4180). A cell that a spreadsheet could read as a formula starts with an apostrophe. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Letters that Unicode normalization does not reduce to ASCII. */
const spelled: Record<string, string> = {
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
export function slugFrom(name: string, most: number): string {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{ASCII}]/gu, (letter) => spelled[letter] ?? letter)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, most)
    .replace(/^-+|-+$/g, "");
}

/** `{{name}}` for each name, as in a template. */
export const inBraces = (names: readonly string[]) => names.map((name) => `{{${name}}}`);

/** The text with these values in it. */
export function filledWith(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{\s*([a-z]+)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

/** A text of an address without its escapes; as it is where these are none. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Text that a reader of HTML shows as it is: a `<` that would open a tag is escaped. */
export function withoutTags(text: string): string {
  return text.replace(/<(?=[a-z/!?])/gi, "&lt;");
}
