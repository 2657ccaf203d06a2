/** Translates texts of the server, once the dictionary has loaded. English pages load none. */
import { getLocale } from "../../src/core/text/locale.ts";
import { createChunk } from "../data/chunks.ts";

let translateText = (text: string) => text;

/** Translates a text that the server writes in English into the language of the page. */
export const translateServerText = (text: string): string => translateText(text);

/** The title of an alert. Titles from alert sources are texts of other tools. */
export const nameAlert = ({
  subject,
  title,
}: {
  subject?: { type: string };
  title: string;
}): string => (subject?.type === "source" ? title : translateServerText(title));

/** The title of an incident. Titles that people wrote stay as they are. */
export const nameIncident = ({
  title,
  origin,
}: {
  title: string;
  origin: string | null;
}): string => (origin === "monitor" ? translateServerText(title) : title);

/** Loads the dictionary. Data that is shown must wait for it. */
export const loadServerTexts = createChunk(async () => {
  const texts = await import("./server-texts.ts");
  translateText = texts.translateServerText;
  return texts;
});

/** Whether the page shows the server's texts as they are. */
export const isServersLanguage = getLocale() === "en-GB";
