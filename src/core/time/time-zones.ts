import { dayMs } from "./clock.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

function getFormatter(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const numeric = "numeric" as const;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  formats.set(timeZone, format);
  return format;
}

/** Milliseconds by which a zone is ahead of UTC. Does not use Temporal, which some browsers lack. */
function computeOffset(at: number, timeZone: string): number {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
    getFormatter(timeZone).format(at).match(/\d+/g)?.map(Number) ?? [];
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** Converts an instant to local time, as milliseconds that look like UTC. */
export function toLocal(at: number, timeZone: string): number {
  return at + computeOffset(at, timeZone);
}

/** Converts local time to an instant. Ambiguous times take the first offset; skipped times use the offset before the gap. */
export function toInstant(local: number, timeZone: string): number {
  const before = local - computeOffset(local - dayMs, timeZone);
  const after = local - computeOffset(local + dayMs, timeZone);
  const right = [before, after].filter((at) => toLocal(at, timeZone) === local);
  return right.length > 0 ? Math.min(...right) : before;
}

/** The local day at an instant, in days since 1 January 1970. */
export const getDay = (at: number, zone: string): number => Math.floor(toLocal(at, zone) / dayMs);

/** Start of a day as an ISO instant. */
export const startOfDay = (day: number, zone: string): string =>
  new Date(toInstant(day * dayMs, zone)).toISOString();
