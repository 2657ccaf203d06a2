/**
 * Translates texts that the server writes in English: errors, problems of readiness and titles of alerts. Unknown texts
 * stay English.
 */
import type { ErrorDetail } from "../../src/core/errors.ts";
import { placeholders } from "../../src/core/text/texts.ts";
import { getLocale } from "../../src/core/text/locale.ts";
import german from "./server/de.json";

type Dictionary = Readonly<Record<string, string>>;
const dictionaries: Readonly<Record<string, Dictionary>> = { de: german };

/** A text with placeholders, as a pattern of the server's texts. */
type Pattern = { matches: RegExp; names: string[]; translation: string };

/** Returns a function that translates a text. If several patterns match, the one with the longest text is used. */
export function createTranslator(dictionary: Dictionary): (text: string) => string {
  let patterns: Pattern[] | undefined;
  return (text) => {
    const exact = Object.hasOwn(dictionary, text) ? dictionary[text] : undefined;
    if (exact !== undefined) return exact;
    patterns ??= Object.entries(dictionary)
      .filter(([english]) => english.includes("{"))
      .sort(([one], [other]) => other.length - one.length)
      .map(([english, translation]) => toPattern(english, translation));
    for (const { matches, names, translation } of patterns) {
      const values = matches.exec(text)?.slice(1);
      if (values !== undefined)
        return translation.replaceAll(
          placeholders,
          (_, name: string) => values[names.indexOf(name)] ?? "",
        );
    }
    return text;
  };
}

function toPattern(english: string, translation: string): Pattern {
  const parts = english.split(placeholders);
  const source = parts.map((part, index) => (index % 2 === 0 ? RegExp.escape(part) : "(.+?)"));
  return {
    matches: new RegExp(`^${source.join("")}$`, "s"),
    names: parts.filter((_, index) => index % 2 === 1),
    translation,
  };
}

/** Translates a text of the server into the language of the page. */
export const translateServerText = createTranslator(dictionaries[getLocale().slice(0, 2)] ?? {});

type ServerError = { message?: string; details?: readonly ErrorDetail[] };

/** Translates an error response. The message about invalid fields consists of those about each field. */
export function translateError<T extends ServerError>(
  error: T,
  translate = translateServerText,
): T {
  if (error.details === undefined || error.details.length === 0)
    return { ...error, ...(error.message && { message: translate(error.message) }) };
  const details = error.details.map(({ path, message }) => ({ path, message: translate(message) }));
  const message = details.map((one) => `${one.path} ${one.message}.`).join(" ");
  return { ...error, details, message };
}
