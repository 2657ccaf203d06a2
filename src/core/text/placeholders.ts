import type { LongNumber } from "./decimals.ts";

/** Values of placeholders. */
export type Scalar = string | number | boolean | null;
/** A value that a check saved, exactly as it was received. */
export type SavedValue = Scalar | LongNumber;
type ValueOf = (name: string) => SavedValue;

const placeholder = /\{\{([^{}]*)\}\}/g;
/** Splits JSON into strings and the text between them. An unterminated string extends to the end, so that none is scanned twice. */
const stringOrPlaceholder = /"(?:[^"\\]|\\[^])*"?|\{\{([^{}]*)\}\}/g;

/** Names of the placeholders in a text. */
export const namesIn = (text: string): string[] =>
  [...text.matchAll(placeholder)].map(([, name = ""]) => name.trim());

/** A text with its values as they are. */
export const filled = (text: string, valueOf: ValueOf): string =>
  text.replace(placeholder, (_, name: string) => String(valueOf(name.trim())));

/** JSON with its values: in a string as part of it, elsewhere as a value of their own type. */
export const filledJson = (json: string, valueOf: ValueOf): string =>
  json.replace(stringOrPlaceholder, (part, name?: string) =>
    name === undefined
      ? filled(part, (inner) => JSON.stringify(String(valueOf(inner))).slice(1, -1))
      : JSON.stringify(valueOf(name.trim())),
  );

const partsOfUrl = /^([a-z]+:\/\/[^/?#]*)?([^?#]*)(.*)$/is;

/** Whether the destination of a request contains a placeholder. */
export const namesHost = (url: string): boolean =>
  namesIn(partsOfUrl.exec(url)?.[1] ?? "").length > 0;

/**
 * A URL, or a path of this origin, with its values encoded: none of them is more than a part of a segment or
 * of the query. Null where one would lead to another folder.
 */
export function filledUrl(text: string, origin: string, valueOf: ValueOf): URL | null {
  const [, start = origin, path = "", rest = ""] = partsOfUrl.exec(text) ?? [];
  const encoded = (part: string) =>
    filled(part, (name) => encodeURIComponent(String(valueOf(name)).toWellFormed()));
  const segments = path.split("/").map((segment) => ({ segment, made: encoded(segment) }));
  const isOther = segments.some(
    ({ segment, made }) => made !== segment && /^(\.|%2e){1,2}$/i.test(made),
  );
  const url = new URL(`${start}${segments.map(({ made }) => made).join("/")}${encoded(rest)}`);
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
