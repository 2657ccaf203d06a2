/** Languages of status pages, as BCP 47 tags, in the order of lists. */
export const pageLanguages = [
  "en",
  "ar",
  "cs",
  "de",
  "es",
  "fr",
  "it",
  "ja",
  "ko",
  "nl",
  "pl",
  "pt-BR",
  "ru",
  "sv",
  "tr",
  "uk",
  "zh-CN",
] as const;
export type PageLanguage = (typeof pageLanguages)[number];

/** Languages of the admin page. */
export const adminLanguages = ["en", "de"] as const;
export type AdminLanguage = (typeof adminLanguages)[number];

/** File name of the admin page in a language. */
export const nameAdminPage = (language: AdminLanguage): string =>
  language === "en" ? "index.html" : `index.${language}.html`;
