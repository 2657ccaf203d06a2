/** Replaces `{{name}}` placeholders in texts, JSON and URLs with values that a check has saved. */
import type { LongNumber } from "./decimals.ts";
import { escapeXml } from "./formatting.ts";

/** A value for a placeholder. */
export type Scalar = string | number | boolean | null;
/** A value that a check has saved. Numbers retain their original digits. */
export type SavedValue = Scalar | LongNumber;
type ValueOf = (name: string) => SavedValue;
declare const isBounded: unique symbol;
/** Values for all placeholders of one request, whose length together is bounded. */
export type BoundedValues = ValueOf & { readonly [isBounded]: true };

const placeholderPattern = /\{\{([^{}]*)\}\}/g;
/**
 * Splits JSON into strings and placeholders between them. An unterminated string extends to the end, so that no text
 * is scanned twice.
 */
const stringOrPlaceholder = /"(?:[^"\\]|\\[^])*"?|\{\{([^{}]*)\}\}/g;

/**
 * Throws the error as soon as more than `limit` characters are inserted. A short text can repeat a placeholder thousands
 * of times. Without the limit, the request would be far larger than the template and the values together.
 */
export function boundValues(valueOf: ValueOf, limit: number, createError: () => Error) {
  let inserted = 0;
  const read: ValueOf = (name) => {
    const value = valueOf(name);
    inserted += String(value).length;
    if (inserted > limit) throw createError();
    return value;
  };
  return read as BoundedValues;
}

/** Returns the placeholder names in a text. */
export const listPlaceholderNames = (text: string): string[] =>
  [...text.matchAll(placeholderPattern)].map(([, name = ""]) => name.trim());

/** Returns the name of a placeholder; `state` for one with its own words, such as `state|down|up`. */
export const stripWords = (name: string): string => name.replace(/^state\|[^|]*\|[^|]*$/, "state");

/** Replaces placeholders with their plain values. */
export const fillPlaceholders = (text: string, valueOf: BoundedValues): string =>
  fillText(text, valueOf);

const fillText = (text: string, valueOf: ValueOf): string =>
  text.replace(placeholderPattern, (_, name: string) => String(valueOf(name.trim())));

/** Replaces placeholders in JSON. Values inside a string become part of it; elsewhere they retain their type. */
export const fillJson = (json: string, valueOf: BoundedValues): string =>
  fillJsonText(json, valueOf);

const fillJsonText = (json: string, valueOf: ValueOf): string =>
  json.replace(stringOrPlaceholder, (part, name?: string) =>
    name === undefined
      ? fillText(part, (inner) => JSON.stringify(String(valueOf(inner))).slice(1, -1))
      : JSON.stringify(valueOf(name.trim())),
  );

/** Replaces placeholders with their values, encoded for a URL or a form. */
export const fillEncoded = (text: string, valueOf: BoundedValues): string =>
  fillText(text, (name) => encodeURIComponent(String(valueOf(name)).toWellFormed()));

/** Replaces placeholders with their values, escaped for XML. */
export const fillXml = (text: string, valueOf: BoundedValues): string =>
  fillText(text, (name) => escapeXml(String(valueOf(name))));

const urlPattern = /^([a-z]+:\/\/[^/?#]*)?([^?#]*)(.*)$/is;

/** Whether the host of a URL contains a placeholder. */
export const hasHostPlaceholder = (url: string): boolean =>
  listPlaceholderNames(urlPattern.exec(url)?.[1] ?? "").length > 0;

/**
 * Replaces placeholders in a URL, or in a path of `origin`, with encoded values. A value can't extend beyond its
 * segment or query value. Null if a value would become `.` or `..`, which would change the folder.
 */
export function fillUrl(text: string, origin: string, valueOf: BoundedValues): URL | null {
  const [, start = origin, path = "", rest = ""] = urlPattern.exec(text) ?? [];
  const encodePart = (part: string) => fillEncoded(part, valueOf);
  const segments = path.split("/").map((segment) => ({ segment, filled: encodePart(segment) }));
  const changesFolder = segments.some(
    ({ segment, filled }) => filled !== segment && /^(\.|%2e){1,2}$/i.test(filled),
  );
  const url = new URL(
    `${start}${segments.map(({ filled }) => filled).join("/")}${encodePart(rest)}`,
  );
  return changesFolder ? null : url;
}

/** Whether a text is JSON once its placeholders have values. */
export const isJsonTemplate = (text: string): boolean => isJson(fillJsonText(text, () => 0));

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
