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
