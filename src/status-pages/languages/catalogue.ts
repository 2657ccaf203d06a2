/** Lists the languages of status pages, and chooses one for a request. */
import { type PageLanguage, pageLanguages } from "../../core/languages.ts";
import { negotiateLanguage } from "../../core/text/negotiate-language.ts";
import { ar } from "./ar.ts";
import { cs } from "./cs.ts";
import { de } from "./de.ts";
import type { Dictionary } from "./en.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { ja } from "./ja.ts";
import { ko } from "./ko.ts";
import { Language } from "./language.ts";
import { nl } from "./nl.ts";
import { pl } from "./pl.ts";
import { ptBr } from "./pt-br.ts";
import { ru } from "./ru.ts";
import { sv } from "./sv.ts";
import { tr } from "./tr.ts";
import { uk } from "./uk.ts";
import { zhCn } from "./zh-cn.ts";

export const dictionaries: Record<PageLanguage, Dictionary> = {
  en,
  ar,
  cs,
  de,
  es,
  fr,
  it,
  ja,
  ko,
  nl,
  pl,
  "pt-BR": ptBr,
  ru,
  sv,
  tr,
  uk,
  "zh-CN": zhCn,
};

const languages = new Map<PageLanguage, Language>();

/** Returns a language. Created on first use, because its formatters take milliseconds. */
export function getLanguage(tag: PageLanguage): Language {
  const known = languages.get(tag) ?? new Language(tag, dictionaries[tag]);
  languages.set(tag, known);
  return known;
}

/** The languages of a page: its default, and those that visitors can choose. */
export type LanguageChoice = { language: PageLanguage; languages: readonly PageLanguage[] };

/** Returns the languages that a page offers, the default first. */
export const listOffered = ({ language, languages: chosen }: LanguageChoice): PageLanguage[] => [
  ...new Set([language, ...chosen]),
];

/** Returns the name of a language in itself, without its region, such as `Português`. */
export function nameLanguage(tag: PageLanguage): string {
  const names = new Intl.DisplayNames(tag, { type: "language" });
  return getLanguage(tag).capitalize(names.of(tag.split("-")[0] ?? tag) ?? tag);
}

/** Returns the language of a visitor who is on no page: the preferred one of all. */
export const languageOfVisitor = (request: Request) =>
  getLanguage(negotiateLanguage(request.headers.get("accept-language"), pageLanguages));
