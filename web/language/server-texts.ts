/** Translates the server's texts into the language of the page. Loads with its dictionaries, which an English page does not need. */
import type { AdminLanguage } from "../../src/core/admin-languages.ts";
import type { ErrorDetail } from "../../src/core/errors.ts";
import { getLocale } from "../../src/core/text/locale.ts";
import { createTextTranslator } from "../../src/core/text/server-texts.ts";

/** Translates a text of the server into the language of the page. */
export const translateServerText = createTextTranslator(getLocale().slice(0, 2) as AdminLanguage);

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
