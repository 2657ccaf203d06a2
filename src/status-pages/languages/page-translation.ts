/** Translates the published data of a page into the language of a reader. */
import type { IncidentMark, PublicIncident } from "../formats/public-data.ts";
import type { LoadedPage } from "../load.ts";
import type { Language } from "./language.ts";
import { composeAutomaticTitle, noSources, translateMessage } from "./updates.ts";

const translateTitle = <T extends IncidentMark>(incident: T, language: Language): T =>
  incident.automatic === undefined || !incident.automatic.hasTitle
    ? incident
    : { ...incident, title: composeAutomaticTitle(language, incident.automatic.subject) };

function translateIncident(
  incident: PublicIncident,
  language: Language,
  pageLanguage: string,
): PublicIncident {
  const subject = incident.automatic?.subject ?? null;
  return {
    ...translateTitle(incident, language),
    updates: incident.updates.map(({ sources = noSources, ...update }) => ({
      ...update,
      ...translateMessage(language, update.message, sources, subject, pageLanguage),
    })),
  };
}

/** Returns the published data of a page with its incidents in this language. */
export function translatePage(loaded: LoadedPage, language: Language): LoadedPage {
  const pageLanguage = loaded.page.language;
  const translate = (incident: PublicIncident) =>
    translateIncident(incident, language, pageLanguage);
  const translateFound = (incident: PublicIncident | null) => incident && translate(incident);
  return {
    ...loaded,
    incidents: loaded.incidents.map(translate),
    marks: loaded.marks.map((mark) => translateTitle(mark, language)),
    findIncident: async (...of) => translateFound(await loaded.findIncident(...of)),
    listOpenedBetween: async (from, to) =>
      (await loaded.listOpenedBetween(from, to)).map(translate),
    publishDraft: (draft) => translateFound(loaded.publishDraft(draft)),
  };
}
