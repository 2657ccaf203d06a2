/** Texts of an update in the languages that its pages offer, as a person writes them. */
import type { PageLanguage } from "../../../src/core/languages.ts";
import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import type { Translations } from "../../../src/incidents/schema.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t } from "../../language/text.ts";

/** Entered texts by language. Blank ones count as absent. */
export type EnteredTranslations = Partial<Record<PageLanguage, string>>;

/**
 * Lists the languages into which an update can be translated. Leaves out the default language, in which the message is
 * written, if all pages have the same one.
 */
export function listTargetLanguages(pages: IncidentAudience["pages"]): PageLanguage[] {
  const defaults = new Set(pages.map(({ languages }) => languages[0]));
  return [...new Set(pages.flatMap(({ languages }) => languages))].filter(
    (tag) => defaults.size > 1 || !defaults.has(tag),
  );
}

/** Returns the texts in these languages as the API accepts them. */
export function buildTranslations(
  entered: EnteredTranslations,
  languages: readonly PageLanguage[],
): Translations {
  return Object.fromEntries(
    languages.flatMap((tag) => {
      const message = entered[tag] ?? "";
      return message.trim() === "" ? [] : [[tag, { message }]];
    }),
  ) as Translations;
}

/** Adds the number of languages to the label of a button, such as `Post to 2 pages in 3 languages`. */
export function nameLanguages(label: string, translations: Translations): string {
  const count = Object.keys(translations).length;
  return count === 0 ? label : t("{label} in {count} languages", { label, count: count + 1 });
}

const names = new Intl.DisplayNames(getLocale(), { type: "language" });
export const nameLanguage = (tag: PageLanguage) => names.of(tag) ?? tag;
