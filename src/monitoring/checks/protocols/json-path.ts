import { LongNumber } from "../../../core/text/decimals.ts";

const stepPattern = /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/gu;

const lengthCall = ".length()";

/** Returns the value at a path such as `$.items[0]['state']` (names and indexes of RFC 9535); undefined if absent. */
export function findValue(json: unknown, path: string): unknown {
  if (path.endsWith(lengthCall))
    return measureLength(findValue(json, path.slice(0, -lengthCall.length)));
  let value = json;
  for (const [, name, index, quoted, doubleQuoted] of path.matchAll(stepPattern)) {
    if (typeof value !== "object" || value === null || value instanceof LongNumber)
      return undefined;
    const key = name ?? index ?? quoted ?? doubleQuoted ?? "";
    if (Array.isArray(value) !== (index !== undefined) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Counts characters of a text, elements of a list or members of an object (RFC 9535 §2.4.4); else undefined. */
function measureLength(value: unknown): number | undefined {
  if (typeof value === "string") return Array.from(value).length;
  if (typeof value !== "object" || value === null || value instanceof LongNumber) return undefined;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}
