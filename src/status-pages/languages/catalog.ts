/** Lists the languages of status pages, and chooses one for a request. */
import { type PageLanguage, pageLanguages } from "../../core/languages.ts";
import { negotiateLanguage } from "../../core/text/negotiate-language.ts";
import type { Dictionary } from "./en.ts";
import { en } from "./en.ts";
import { Language } from "./language.ts";

/** Loads a dictionary on first use, because loading all takes longer than rendering an English page. */
const dictionaries: Record<PageLanguage, () => Dictionary> = {
  en: () => en,
  ar: () => (require("./ar.ts") as typeof import("./ar.ts")).ar,
  cs: () => (require("./cs.ts") as typeof import("./cs.ts")).cs,
  de: () => (require("./de.ts") as typeof import("./de.ts")).de,
  es: () => (require("./es.ts") as typeof import("./es.ts")).es,
  fr: () => (require("./fr.ts") as typeof import("./fr.ts")).fr,
  it: () => (require("./it.ts") as typeof import("./it.ts")).it,
  ja: () => (require("./ja.ts") as typeof import("./ja.ts")).ja,
  ko: () => (require("./ko.ts") as typeof import("./ko.ts")).ko,
  nl: () => (require("./nl.ts") as typeof import("./nl.ts")).nl,
  pl: () => (require("./pl.ts") as typeof import("./pl.ts")).pl,
  "pt-BR": () => (require("./pt-br.ts") as typeof import("./pt-br.ts")).ptBr,
  ru: () => (require("./ru.ts") as typeof import("./ru.ts")).ru,
  sv: () => (require("./sv.ts") as typeof import("./sv.ts")).sv,
  tr: () => (require("./tr.ts") as typeof import("./tr.ts")).tr,
  uk: () => (require("./uk.ts") as typeof import("./uk.ts")).uk,
  "zh-CN": () => (require("./zh-cn.ts") as typeof import("./zh-cn.ts")).zhCn,
};

export const getDictionary = (tag: PageLanguage): Dictionary => dictionaries[tag]();

const languages = new Map<PageLanguage, Language>();

/** Returns a language. Created on first use, because its formatters take milliseconds. */
export function getLanguage(tag: PageLanguage): Language {
  const known = languages.get(tag) ?? new Language(tag, getDictionary(tag));
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
