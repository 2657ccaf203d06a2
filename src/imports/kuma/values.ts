import type { Fields } from "../../core/collections/objects.ts";
import { text } from "../values.ts";

export { clean, paragraphs } from "../values.ts";

export const number = (value: unknown): number => Number(value) || 0;
export const isOn = (value: unknown): boolean => value === true || Number(value) === 1;
export const orNull = (value: unknown) => (text(value) === "" ? null : text(value));

export function jsonIn(value: unknown): unknown {
  if (typeof value !== "string") return value ?? null;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
export const listIn = (value: unknown): unknown[] => {
  const list = jsonIn(value);
  return Array.isArray(list) ? list : [];
};

export const byId = (rows: readonly Fields[]) =>
  new Map(rows.map((row) => [number(row["id"]), row]));
export const idOf = (row: Fields) => text(row["id"]);

export const isGroup = (row: Fields) => text(row["type"]) === "group";

export const host = (m: Fields) =>
  text(m["hostname"])
    .trim()
    .replace(/^\[|\]$/g, "");
export const hostAndPort = (m: Fields, usual?: number) => ({
  host: host(m),
  port: number(m["port"]) || usual,
});
