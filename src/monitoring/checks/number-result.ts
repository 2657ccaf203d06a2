import type { NumberRule } from "../monitors/numbers-schema.ts";
import type { CheckResult, MeasuredValue } from "./check.ts";
import {
  findWorstLevel,
  formatNumber,
  isPast,
  judgeNumber,
  type NumberLevel,
  parseNumber,
} from "./number-rules.ts";

const severity = { up: 0, degraded: 1, down: 2, unknown: 3 } as const;

/** Adds the number to a successful result, and makes the result worse if the number is past its limits. */
export function applyNumber(
  rule: NumberRule,
  measured: MeasuredValue | undefined,
  found: CheckResult,
  before: NumberLevel,
): CheckResult {
  const value = measured !== undefined && "value" in measured ? parseNumber(measured.value) : null;
  const level = value === null ? findWorstLevel(rule) : judgeNumber(rule, value, before);
  const number = value === null ? null : { value, level };
  const { message, serverText = message } = found;
  const valueText =
    value === null ? describeMissing(rule) : `${rule.name} ${formatNumber(rule, value)}`;
  const result = { ...found, ...(number && { number }) };
  if (level === null || severity[level] <= severity[found.status])
    return { ...result, serverText: `${serverText} ${valueText}.` };
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
        ? `${valueText}.`
        : isReturning
          ? `${rule.name} is not back yet.`
          : `${rule.name} is ${rule.direction} its limit.`,
    serverText: value === null ? `${valueText}.` : `${valueText} (${reference}).`,
    latencyMs: level === "down" ? null : found.latencyMs,
  };
}

const describeMissing = ({ name, path }: NumberRule) =>
  `${name}: there is no number${path == null ? "" : ` at ${path}`}`;
