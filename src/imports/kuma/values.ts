import type { Fields } from "../../core/objects.ts";
import { text } from "../values.ts";

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

/** One line of text that a record of ours may hold. */
export const clean = (value: string) =>
  value
    .toWellFormed()
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ")
    .trim();

/** Running text that a record of ours may hold. */
export const paragraphs = (value: string) =>
  value
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .trim();

export const isGroup = (row: Fields) => text(row["type"]) === "group";

export const host = (m: Fields) =>
  text(m["hostname"])
    .trim()
    .replace(/^\[|\]$/g, "");
export const hostAndPort = (m: Fields, usual?: number) => ({
  host: host(m),
  port: number(m["port"]) || usual,
});
