import type { Fields } from "../../core/collections/objects.ts";
import { toText } from "../values.ts";

export { toCleanLine, toParagraphs } from "../values.ts";

export const toNumber = (value: unknown): number => Number(value) || 0;
export const isOn = (value: unknown): boolean => value === true || Number(value) === 1;
export const toTextOrNull = (value: unknown) => (toText(value) === "" ? null : toText(value));

export function parseJsonOrNull(value: unknown): unknown {
  if (typeof value !== "string") return value ?? null;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
export const parseList = (value: unknown): unknown[] => {
  const list = parseJsonOrNull(value);
  return Array.isArray(list) ? list : [];
};

export const groupById = (rows: readonly Fields[]) =>
  new Map(rows.map((row) => [toNumber(row["id"]), row]));
export const idOf = (row: Fields) => toText(row["id"]);

export const isGroup = (row: Fields) => toText(row["type"]) === "group";

export const hostOf = (m: Fields) =>
  toText(m["hostname"])
    .trim()
    .replace(/^\[|\]$/g, "");
export const hostAndPortOf = (m: Fields, usual?: number) => ({
  host: hostOf(m),
  port: toNumber(m["port"]) || usual,
});
