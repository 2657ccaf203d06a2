/** Parses a Retry-After header (RFC 9110 §10.2.3) into seconds; null if it is invalid or in the past. */

export function parseRetryAfterHeader(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = Math.ceil(((parseHttpDate(value, now) ?? now) - now) / 1_000);
  return seconds > 0 ? seconds : null;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = `(?<month>${months.join("|")})`;
const clock = "(?<hours>[01]\\d|2[0-3]):(?<minutes>[0-5]\\d):(?<seconds>[0-5]\\d|60)";

/** Date formats: the current one, and two obsolete ones that recipients must accept (RFC 9110 §5.6.7). */
const forms = [
  `^[A-Z][a-z]{2}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${clock} GMT$`,
  `^[A-Z][a-z]{5,8}, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${clock} GMT$`,
  `^[A-Z][a-z]{2} ${month} (?<day>\\d{2}| \\d) ${clock} (?<year>\\d{4})$`,
].map((form) => new RegExp(form));

/** Parses an HTTP-date into Unix milliseconds; null if it is invalid. */
export function parseHttpDate(text: string, now: number): number | null {
  const parts = forms.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const numberOf = (name: string) => Number(parts[name]);
  const time = [numberOf("hours"), numberOf("minutes"), numberOf("seconds")] as const;
  const computeTimeInYear = (year: number) =>
    Date.UTC(year, months.indexOf(parts["month"] ?? ""), numberOf("day"), ...time);
  const year = numberOf("year");
  if (parts["year"]?.length === 4) return computeTimeInYear(year);
  // A year of two digits is the latest one that is at most 50 years in the future.
  const latest = new Date(now).setUTCFullYear(new Date(now).getUTCFullYear() + 50);
  const century = new Date(latest).getUTCFullYear() - (new Date(latest).getUTCFullYear() % 100);
  return computeTimeInYear(century + year) <= latest
    ? computeTimeInYear(century + year)
    : computeTimeInYear(century - 100 + year);
}
