import { addMonths } from "../../core/time/clock.ts";
import type { LoadedPage } from "../load.ts";
import type { Language } from "../languages/language.ts";
import { createTimeFormats } from "../languages/times.ts";
import { buildView } from "../rendering/view.ts";
import { renderWords, collectTexts } from "../rendering/words.ts";

const monthText = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** Reads the month from a query, such as `2026-11`; empty for the current month or without one. */
export function parseMonth(query: URLSearchParams, now: number): string {
  const month = query.get("month") ?? "";
  return monthText.test(month) && month !== formatUtcMonth(now) ? month : "";
}

/** Returns the UTC month of a time. */
export function formatUtcMonth(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

/** Returns the end of a UTC month, in Unix milliseconds. */
export function endOfMonth(month: string): number {
  return Date.parse(`${addMonths(month, 1)}-01T00:00:00.000Z`);
}

export type History = NonNullable<Awaited<ReturnType<typeof loadMonthlyHistory>>>;

/**
 * Loads the incidents of a UTC month, newest first. An empty `month` is the current one. Null for a future month, or
 * one before the page's first incident.
 */
export async function loadMonthlyHistory(
  published: LoadedPage,
  month: string,
  now: number,
  language: Language,
) {
  const current = formatUtcMonth(now);
  const shownMonth = month || current;
  if (shownMonth > current) return null;
  const from = Date.parse(`${shownMonth}-01T00:00:00.000Z`);
  const to = endOfMonth(shownMonth);
  if (shownMonth < current && !(await published.hasBefore(to))) return null;
  const incidents = await published.listOpenedBetween(from, to);
  const hasEarlier = await published.hasBefore(from);
  // The list shows only the last update of each incident.
  const quoted = incidents.map((one) => ({ ...one, updates: one.updates.slice(0, 1) }));
  const words = await renderWords(collectTexts({ page: published.page, incidents: quoted }));
  return {
    month: createTimeFormats(language, "UTC", now).month(new Date(from).toISOString()),
    incidents: buildView({ ...published, incidents }, now, language).all,
    earlier: hasEarlier ? addMonths(shownMonth, -1) : null,
    later: shownMonth < current ? addMonths(shownMonth, 1) : null,
    words,
  };
}
