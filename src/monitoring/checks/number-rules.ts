/** Reads the number of a monitor from a result, and judges it by its limits with hysteresis. */
import { getLocale } from "../../core/text/locale.ts";
import { isDecimal, largestNumber, LongNumber } from "../../core/text/decimals.ts";
import type { NumberRule } from "../monitors/numbers-schema.ts";

/** Effect of a number on the monitor; null within its limits. */
export type NumberLevel = "degraded" | "down" | null;

/** A stored number and its level. */
export type FoundNumber = { value: number; level: NumberLevel };

/** Parses a number, or a text that is one. Null for other values and beyond `largestNumber`. */
export function parseNumber(value: unknown): number | null {
  const text = value instanceof LongNumber ? value.text : value;
  if (typeof text === "string" && !isDecimal(text)) return null;
  const number = typeof text === "string" ? Number(text) : text;
  return typeof number === "number" && Math.abs(number) <= largestNumber ? number : null;
}

export const isPast = ({ direction }: NumberRule, value: number, limit: number | null) =>
  limit !== null && (direction === "above" ? value > limit : value < limit);

/**
 * Returns the level of a number. With `returnAt`, a level stays until the number is back there; until then it can only
 * become worse.
 */
export function judgeNumber(rule: NumberRule, value: number, before: NumberLevel): NumberLevel {
  const level = isPast(rule, value, rule.downLimit)
    ? "down"
    : isPast(rule, value, rule.degradedLimit)
      ? "degraded"
      : null;
  if (before === null || rule.returnAt === null) return level;
  return isPast(rule, value, rule.returnAt) && level !== "down" ? before : level;
}

let format: Intl.NumberFormat | undefined;
export function formatNumber({ unit }: Pick<NumberRule, "unit">, value: number): string {
  // Created late, because the first formatter would delay a start.
  format ??= new Intl.NumberFormat(getLocale(), { maximumSignificantDigits: 15 });
  return `${format.format(value)}${unit === null ? "" : ` ${unit}`}`;
}

/** Level of a result without a number: the worst level with a limit. */
export const findWorstLevel = ({ downLimit, degradedLimit }: NumberRule): NumberLevel =>
  downLimit !== null ? "down" : degradedLimit !== null ? "degraded" : null;
