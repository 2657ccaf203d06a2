import type { Loaded } from "../load.ts";
import { timesIn, viewOf } from "../rendering/view.ts";
import { wordsOf, writtenIn } from "../rendering/words.ts";

const monthText = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** The month that a history's address asks for, `2026-11`; empty where it names none, or the current one. */
export function monthOf(query: URLSearchParams, now: number): string {
  const month = query.get("month") ?? "";
  return monthText.test(month) && month !== monthAt(now) ? month : "";
}

/** The month (UTC) of a time. */
export function monthAt(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

/** When the month after this one begins. */
export function endOf(month: string): number {
  return Date.parse(`${monthFrom(month, 1)}-01T00:00:00.000Z`);
}

export type History = NonNullable<Awaited<ReturnType<typeof monthlyHistory>>>;

/** The incidents of one month (UTC), newest first, of the current one where it is empty; null for a month to come, or before the page's first incident. */
export async function monthlyHistory(published: Loaded, month: string, now: number) {
  const current = monthAt(now);
  const wanted = month || current;
  if (wanted > current) return null;
  const from = Date.parse(`${wanted}-01T00:00:00.000Z`);
  const to = endOf(wanted);
  if (wanted < current && !(await published.hasBefore(to))) return null;
  const incidents = await published.openedBetween(from, to);
  const hasEarlier = await published.hasBefore(from);
  // Of each its last update is quoted.
  const quoted = incidents.map((one) => ({ ...one, updates: one.updates.slice(0, 1) }));
  const words = await wordsOf(writtenIn({ page: published.page, incidents: quoted }));
  return {
    month: timesIn("UTC", now).month(new Date(from).toISOString()),
    incidents: viewOf({ ...published, incidents }, now).all,
    earlier: hasEarlier ? monthFrom(wanted, -1) : null,
    later: wanted < current ? monthFrom(wanted, 1) : null,
    words,
  };
}

function monthFrom(month: string, count: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}
