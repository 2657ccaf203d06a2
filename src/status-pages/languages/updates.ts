/** Writes the texts of updates in the language of a reader. */
import type { PageLanguage } from "../../core/languages.ts";
import type { AutomaticUpdate } from "../../incidents/rules.ts";
import type { Translations } from "../../incidents/schema.ts";
import { en } from "./en.ts";
import type { Language, TextKey } from "./language.ts";

/** The sources of a message in other languages. */
export type MessageSources = {
  /** The facts of a monitor's update; null for a text by a person. */
  automatic: AutomaticUpdate | null;
  /** Texts by people, by language. */
  translations: Translations | null;
};

/** Texts of updates without a message, which are stored in English. */
const defaultKeys = [
  "defaultOpened",
  "defaultInvestigating",
  "defaultIdentified",
  "defaultMonitoring",
  "defaultResolved",
] as const satisfies TextKey[];

const keyOfDefault = new Map<string, (typeof defaultKeys)[number]>(
  defaultKeys.map((key) => [en[key], key]),
);

/** Names the monitor of automatic texts. */
export const nameSubject = (language: Language, subject: string | null) =>
  subject ?? language.translate("aService");

/** Writes the title of an incident that a monitor opened. */
export const composeAutomaticTitle = (language: Language, subject: string | null) =>
  language.translate("isDown", { name: nameSubject(language, subject) });

/** Writes the update of a monitor. */
export function describeUpdate(
  language: Language,
  update: AutomaticUpdate,
  subject: string | null,
): string {
  const name = nameSubject(language, subject);
  switch (update.kind) {
    case "down":
      return language.translate("notResponding", { name });
    case "down-again":
      return language.translate("notRespondingAgain", { name });
    case "degraded":
      return language.translate("respondingWorse", { name });
    case "up":
      return update.downSeconds === null
        ? language.translate("respondingAgain", { name })
        : language.translate("respondingAgainAfter", {
            name,
            duration: language.duration(update.downSeconds),
          });
    case "removed":
      return language.translate("noLongerMonitored", { name });
  }
}

/** Returns a message in this language. `lang` is the language of an original without a translation, else null. */
export function translateMessage(
  language: Language,
  original: string,
  { automatic, translations }: MessageSources,
  subject: string | null,
  pageLanguage: string,
): { message: string; lang: string | null } {
  if (automatic !== null)
    return { message: describeUpdate(language, automatic, subject), lang: null };
  const translated = translations?.[language.tag as PageLanguage];
  if (translated !== undefined) return { message: translated.message, lang: null };
  const key = keyOfDefault.get(original);
  if (key !== undefined) return { message: language.translate(key), lang: null };
  return { message: original, lang: language.tag === pageLanguage ? null : pageLanguage };
}

export const noSources: MessageSources = { automatic: null, translations: null };
