/** Reads the number of a monitor from a result, and judges it by its limits with hysteresis. */
import { isDecimal, LongNumber } from "../../core/text/decimals.ts";
import type { NumberRule } from "../monitors/numbers-schema.ts";
import type { CheckResult } from "./check.ts";
import type { Received } from "./protocols/assertions.ts";

/** Effect of a number on the monitor; null within its limits. */
export type NumberLevel = "degraded" | "down" | null;

/** A stored number and its level. */
export type FoundNumber = { value: number; level: NumberLevel };

/** Parses a number, or a text that is one. Null for other values and beyond the range of a double. */
export function parseNumber(value: unknown): number | null {
  const text = value instanceof LongNumber ? value.text : value;
  if (typeof text === "string" && !isDecimal(text)) return null;
  const number = typeof text === "string" ? Number(text) : text;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

const isPast = ({ direction }: NumberRule, value: number, limit: number | null) =>
  limit !== null && (direction === "above" ? value > limit : value < limit);

/**
 * Returns the level of a number. With `returnAt`, a level stays until the number is back there; meanwhile it can only
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

const format = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 15 });
export const formatNumber = ({ unit }: Pick<NumberRule, "unit">, value: number): string =>
  `${format.format(value)}${unit === null ? "" : ` ${unit}`}`;

/** The level of a result without a number: the worst one that has a limit. */
const findWorstLevel = ({ downLimit, degradedLimit }: NumberRule): NumberLevel =>
  downLimit !== null ? "down" : degradedLimit !== null ? "degraded" : null;

const severity = { up: 0, degraded: 1, down: 2, unknown: 3 } as const;

/** Adds the number to a successful result, and makes the result worse if the number is past its limits. */
export function applyNumber(
  rule: NumberRule,
  received: Received | undefined,
  found: CheckResult,
  before: NumberLevel,
): CheckResult {
  const value = received !== undefined && "value" in received ? parseNumber(received.value) : null;
  const level = value === null ? findWorstLevel(rule) : judgeNumber(rule, value, before);
  const number = value === null ? null : { value, level };
  const { message, said = message } = found;
  const shown =
    value === null ? describeMissing(rule) : `${rule.name} ${formatNumber(rule, value)}`;
  const result = { ...found, ...(number && { number }) };
  if (level === null || severity[level] <= severity[found.status])
    return { ...result, said: `${said} ${shown}.` };
  const limit = level === "down" ? rule.downLimit : rule.degradedLimit;
  const isReturning = value !== null && !isPast(rule, value, limit);
  const reference = isReturning
    ? `back at ${formatNumber(rule, rule.returnAt ?? 0)}`
    : `limit ${formatNumber(rule, limit ?? 0)}`;
  return {
    ...result,
    status: level,
    // Without the number, because status pages can show it.
    message:
      value === null
        ? `${shown}.`
        : isReturning
          ? `${rule.name} is not back yet.`
          : `${rule.name} is ${rule.direction} its limit.`,
    said: value === null ? `${shown}.` : `${shown} (${reference}).`,
    latencyMs: level === "down" ? null : found.latencyMs,
  };
}

const describeMissing = ({ name, path }: NumberRule) =>
  `${name}: there is no number${path == null ? "" : ` at ${path}`}`;
