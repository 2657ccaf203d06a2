import { type Fields, isObject, parseJsonOrNull } from "../../core/collections/objects.ts";
import { toText } from "../values.ts";

export { toCleanLine, toParagraphs } from "../values.ts";

export const toNumber = (value: unknown): number => Number(value) || 0;
export const isOn = (value: unknown): boolean => value === true || Number(value) === 1;
export const toTextOrNull = (value: unknown) => (toText(value) === "" ? null : toText(value));

/** Parses the JSON of a column; null if it is invalid. JSON backups contain some of these values parsed. */
export const parseColumn = (value: unknown): unknown =>
  typeof value === "string" ? parseJsonOrNull(value) : (value ?? null);

/** Parses a column with an object; empty for anything else. */
export function parseFields(value: unknown): Fields {
  const fields = parseColumn(value);
  return isObject(fields) ? fields : {};
}

export const parseList = (value: unknown): unknown[] => {
  const list = parseColumn(value);
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
export const hostAndPortOf = (m: Fields, defaultPort?: number) => ({
  host: hostOf(m),
  port: toNumber(m["port"]) || defaultPort,
});
