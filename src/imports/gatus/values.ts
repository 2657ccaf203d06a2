import { type Fields, isObject } from "../../core/objects.ts";
import { text } from "../values.ts";

export const objects = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const units: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** `1h30m` in seconds; null for what is no duration. */
export function secondsOf(value: unknown): number | null {
  if (typeof value === "number") return value / 1e9;
  const parts = [...text(value).matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([all]) => all).join("") !== text(value)) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0), 0);
}
