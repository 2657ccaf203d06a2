/** Parses scalars of a Gatus configuration as yaml.v3 decodes them. */
import { createLookup } from "../../core/collections/objects.ts";

/** Maximum length of a number. It exceeds the precision of JavaScript and Go, and keeps regular expressions fast. */
const maxNumberLength = 64;

const trueWords = new Set([
  "true",
  "True",
  "TRUE",
  "y",
  "Y",
  "yes",
  "Yes",
  "YES",
  "on",
  "On",
  "ON",
]);
const falseWords = new Set([
  "false",
  "False",
  "FALSE",
  "n",
  "N",
  "no",
  "No",
  "NO",
  "off",
  "Off",
  "OFF",
]);

/** Parses YAML 1.1 booleans, which yaml.v3 accepts for boolean fields; null for other texts. */
export function parseBoolean(text: string): boolean | null {
  if (trueWords.has(text)) return true;
  return falseWords.has(text) ? false : null;
}

/**
 * Implements Go's strconv.ParseInt with base 0: decimal, `0x`, `0o`, `0b`, leading zero for octal, and `_` between
 * digits.
 */
export function parseInteger(text: string): number | null {
  if (text.length > maxNumberLength) return null;
  const [, sign = "", digits = ""] = /^([+-]?)(\w+)$/.exec(text) ?? [];
  if (!/^\d(?:_?[\da-fA-FxXoObB])*$/.test(digits)) return null;
  const bare = digits.replaceAll("_", "");
  const octal = /^0[0-7]+$/.test(bare) ? `0o${bare.slice(1)}` : bare;
  if (/^0\d/.test(bare) && octal === bare) return null;
  const value = Number(octal);
  return Number.isInteger(value) ? (sign === "-" ? -value : value) : null;
}

const unitSeconds: Record<string, number> = createLookup({
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
});

/** Parses a Go duration such as `1h30m` or `0.5s` to seconds; null for other texts. Also accepts days. */
export function parseDuration(text: string): number | null {
  if (text.length > maxNumberLength) return null;
  if (/^[+-]?0$/.test(text)) return 0;
  const [, sign = "", rest = ""] = /^([+-]?)(.+)$/.exec(text) ?? [];
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([all]) => all).join("") !== rest) return null;
  // Rounds to nanoseconds, as Go does.
  const seconds = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (unitSeconds[unit ?? ""] ?? 0),
    0,
  );
  return (sign === "-" ? -1 : 1) * (Math.round(seconds * 1e9) / 1e9);
}

/**
 * Converts an operand of `<`, `<=`, `>` or `>=` as Gatus does: duration in whole milliseconds, integer, truncated
 * number, or 0 for any other text.
 */
export function parseOperand(text: string): number {
  const seconds = /\dd/.test(text) ? null : parseDuration(text);
  if (seconds !== null && seconds !== 0) return Math.trunc(Math.round(seconds * 1e9) / 1e6);
  const integer = parseInteger(text);
  if (integer !== null) return integer;
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(
    text.slice(0, maxNumberLength),
  );
  const number = isNumber ? Number(text) : 0;
  return Number.isFinite(number) ? Math.trunc(number) : 0;
}
