import { writeCalendar } from "../../core/text/ical.ts";
import type { Language } from "../languages/language.ts";
import type { RenderText } from "../rendering/words.ts";
import type { PublicData } from "./public-data.ts";

/** Writes the maintenance of a page as iCalendar, one piece per event. `url` is the page's full address. */
export function renderCalendar(
  { page, windows }: PublicData,
  { words, language }: { words: RenderText; language: Language },
  url: string,
): Generator<string> {
  const events = windows.values().map((window) => ({
    uid: window.occurrenceId,
    changedAt: window.changedAt,
    startsAt: window.startsAt,
    endsAt: window.endsAt,
    title: window.title,
    description: words(window.description).text,
    url,
  }));
  return writeCalendar(
    "Status page",
    language.translate("calendarOf", { title: page.title }),
    events,
  );
}
