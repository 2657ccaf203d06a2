/** Replaces `{{name}}` placeholders in texts, JSON and URLs with values that a check has saved. */
import type { LongNumber } from "./decimals.ts";

/** A value for a placeholder. */
export type Scalar = string | number | boolean | null;
/** A value that a check has saved. Numbers retain their original digits. */
export type SavedValue = Scalar | LongNumber;
type ValueOf = (name: string) => SavedValue;

const placeholderPattern = /\{\{([^{}]*)\}\}/g;
/**
 * Splits JSON into strings and placeholders between them. An unterminated string extends to the end, so that no text
 * is scanned twice.
 */
const stringOrPlaceholder = /"(?:[^"\\]|\\[^])*"?|\{\{([^{}]*)\}\}/g;

/** Returns the placeholder names in a text. */
export const listPlaceholderNames = (text: string): string[] =>
  [...text.matchAll(placeholderPattern)].map(([, name = ""]) => name.trim());

/** Replaces placeholders with their plain values. */
export const fillPlaceholders = (text: string, valueOf: ValueOf): string =>
  text.replace(placeholderPattern, (_, name: string) => String(valueOf(name.trim())));

/** Replaces placeholders in JSON. Values inside a string become part of it; elsewhere they retain their type. */
export const fillJson = (json: string, valueOf: ValueOf): string =>
  json.replace(stringOrPlaceholder, (part, name?: string) =>
    name === undefined
      ? fillPlaceholders(part, (inner) => JSON.stringify(String(valueOf(inner))).slice(1, -1))
      : JSON.stringify(valueOf(name.trim())),
  );

const urlPattern = /^([a-z]+:\/\/[^/?#]*)?([^?#]*)(.*)$/is;

/** Whether the host of a URL contains a placeholder. */
export const hasHostPlaceholder = (url: string): boolean =>
  listPlaceholderNames(urlPattern.exec(url)?.[1] ?? "").length > 0;

/**
 * Replaces placeholders in a URL, or in a path of `origin`, with encoded values. A value can't extend beyond its
 * segment or query value. Null if a value would become `.` or `..`, which leads to another folder.
 */
export function fillUrl(text: string, origin: string, valueOf: ValueOf): URL | null {
  const [, start = origin, path = "", rest = ""] = urlPattern.exec(text) ?? [];
  const encodePart = (part: string) =>
    fillPlaceholders(part, (name) => encodeURIComponent(String(valueOf(name)).toWellFormed()));
  const segments = path.split("/").map((segment) => ({ segment, made: encodePart(segment) }));
  const isOther = segments.some(
    ({ segment, made }) => made !== segment && /^(\.|%2e){1,2}$/i.test(made),
  );
  const url = new URL(`${start}${segments.map(({ made }) => made).join("/")}${encodePart(rest)}`);
  return isOther ? null : url;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
