/** Parses JSON without rounding numbers, and finds numbers that would be rounded. */
import { setOwn } from "../collections/objects.ts";
import { parseExactNumber, LongNumber } from "./decimals.ts";
import { formatFieldPath } from "./formatting.ts";

/**
 * Detects numbers with more than 15 characters or an exponent, which a double can round. Also matches inside strings.
 */
const longNumberPattern = /\d[\d.]{15}|\d[eE]/;
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Random prefix of marked strings, which a response can't predict. */
const createMark = () => crypto.randomUUID().slice(0, 8);

/** Returns the index of the closing quote for the string at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x5c) index++;
    else if (code === 0x22) return index;
  }
  return text.length;
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
/** Matches `e` and `E`. */
const isExponent = (code: number) => (code | 0x20) === 0x65;
const isInNumber = (code: number) =>
  isDigit(code) || isExponent(code) || code === 0x2b || code === 0x2d || code === 0x2e;

/** Replaces long numbers in a JSON text with strings that start with `mark`; null if there are none. */
function markNumbers(
  text: string,
  mark: string,
  isWanted: (source: string) => boolean,
): string | null {
  const parts: string[] = [];
  let from = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) index = findStringEnd(text, index);
    if (code !== 0x2d && !isDigit(code)) continue;
    let hasExponent = false;
    let end = index + 1;
    for (let next = text.charCodeAt(end); isInNumber(next); next = text.charCodeAt(++end))
      hasExponent ||= isExponent(next);
    if (hasExponent || end - index > 15) {
      const source = text.slice(index, end);
      // Skips malformed numbers. JSON.parse rejects them later.
      if (numberPattern.test(source) && isWanted(source)) {
        parts.push(text.slice(from, index), `"${mark}${source}"`);
        from = end;
      }
    }
    index = end - 1;
  }
  return parts.length === 0 ? null : [...parts, text.slice(from)].join("");
}

/** Parses JSON like JSON.parse, but returns numbers that a double can round as LongNumber. Throws SyntaxError. */
export function parseExactly(text: string): unknown {
  const mark = createMark();
  const marked = longNumberPattern.test(text) ? markNumbers(text, mark, () => true) : null;
  if (marked === null) return JSON.parse(text);
  return restoreLongNumbers(JSON.parse(marked), mark);
}

function restoreLongNumbers(value: unknown, mark: string): unknown {
  if (typeof value === "string")
    return value.startsWith(mark) ? new LongNumber(value.slice(mark.length)) : value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      if (typeof value[index] !== "number") value[index] = restoreLongNumbers(value[index], mark);
  } else if (typeof value === "object" && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const name in fields) {
      const field = fields[name];
      if (typeof field !== "string" && typeof field !== "object") continue;
      const exact = restoreLongNumbers(field, mark);
      if (name === "__proto__") setOwn(fields, name, exact);
      else fields[name] = exact;
    }
  }
  return value;
}

/**
 * Returns the path of the first integer in valid JSON that a double would round, such as 9007199254740993; null for
 * none.
 */
export function findLossyInteger(text: string): string | null {
  if (!/\d{16}/.test(text)) return null;
  const mark = createMark();
  const isLossy = (source: string) =>
    /^-?\d{16,}$/.test(source) && typeof parseExactNumber(source) === "string";
  const marked = markNumbers(text, mark, isLossy);
  return marked === null ? null : findMarkedPath(JSON.parse(marked), mark, []);
}

function findMarkedPath(value: unknown, mark: string, keys: readonly PropertyKey[]): string | null {
  if (typeof value === "string") return value.startsWith(mark) ? formatFieldPath(keys) : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, entry] of Object.entries(value)) {
    const found = findMarkedPath(entry, mark, [
      ...keys,
      Array.isArray(value) ? Number(name) : name,
    ]);
    if (found !== null) return found;
  }
  return null;
}
