/** German of the texts that the server writes in English. Loaded only where they are needed. */
import type { AdminLanguage } from "../admin-languages.ts";
import german from "./server-texts/de.json";
import germanReasons from "./server-texts/de-reasons.json";
import { createTranslator } from "./translator.ts";

const dictionaries = { en: {}, de: { ...german, ...germanReasons } };

/** Returns the function that translates the server's texts into a language. */
export const createTextTranslator = (language: AdminLanguage) =>
  createTranslator(dictionaries[language]);
