/** Languages of the admin page. */
export const adminLanguages = ["en", "de"] as const;
export type AdminLanguage = (typeof adminLanguages)[number];

/** Cookie with the language of the admin page, because its HTML is served before the person is known. */
export const languageCookie = "signalbox_language";

/** File name of the admin page in a language. */
export const nameAdminPage = (language: AdminLanguage): string =>
  language === "en" ? "index.html" : `index.${language}.html`;
