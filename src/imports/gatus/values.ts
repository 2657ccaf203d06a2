import type { Own } from "../plan.ts";

export const isObject = (value: unknown): value is Own =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const objects = (value: unknown): Own[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
export const text = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";
export const within = (value: number, min: number, max: number) =>
  Math.min(max, Math.max(min, value));

const units: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** `1h30m` in seconds; null for what is no duration. */
export function secondsOf(value: unknown): number | null {
  if (typeof value === "number") return value / 1e9;
  const parts = [...text(value).matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([all]) => all).join("") !== text(value)) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0), 0);
}
