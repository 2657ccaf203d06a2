import type { Loaded } from "./load.ts";
import type { History } from "./page.tsx";
import { timesIn, viewOf } from "./view.ts";

const monthText = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** The month that a history's address asks for, `2026-11`; null where it names none. */
export function monthOf(url: string): string | null {
  const query = url.indexOf("?");
  if (query === -1) return null;
  const month = new URLSearchParams(url.slice(query)).get("month");
  return month !== null && monthText.test(month) ? month : null;
}

/** The incidents of one month (UTC), newest first; null for a month to come. */
export async function monthlyHistory(
  published: Loaded,
  month: string | null,
  now: number,
): Promise<History | null> {
  const current = new Date(now).toISOString().slice(0, 7);
  const wanted = month ?? current;
  if (wanted > current) return null;
  const from = Date.parse(`${wanted}-01T00:00:00.000Z`);
  const to = Date.parse(`${monthFrom(wanted, 1)}-01T00:00:00.000Z`);
  const incidents = await published.openedBetween(from, to);
  const times = timesIn(published.page.timeZone);
  const views = viewOf({ ...published, incidents }, now).all;
  const days = Map.groupBy(views, ({ began }) => times.day(began.at));
  const hasEarlier = await published.hasBefore(from);
  return {
    month: timesIn("UTC").month(new Date(from).toISOString()),
    days: [...days].map(([day, incidents]) => ({ day, incidents })),
    earlier: hasEarlier ? monthFrom(wanted, -1) : null,
    later: wanted < current ? monthFrom(wanted, 1) : null,
  };
}

function monthFrom(month: string, count: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7);
}
