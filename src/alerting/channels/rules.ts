/** Reads which messages a channel gets, and finds the end of its quiet hours. */
import { dayMs } from "../../core/time/clock.ts";
import { findHours, findHoursEnd, type Span } from "../hours/rules.ts";
import { type MessageKind, messageKinds, type QuietHours } from "./routing-schema.ts";

/** Parses the stored kinds of messages; null means all. */
export const parseNotifyOn = (json: string | null): MessageKind[] =>
  json === null ? [...messageKinds] : (JSON.parse(json) as MessageKind[]);

/** Parses stored quiet hours. */
export const parseQuietHours = (json: string | null): QuietHours | null =>
  json === null ? null : (JSON.parse(json) as QuietHours);

/** Returns when the quiet hours that include `at` end, in Unix milliseconds; null outside of them. */
export const findQuietEnd = (quiet: QuietHours | null, at: number): number | null =>
  quiet === null ? null : findHoursEnd(quiet.hours, quiet.timeZone, at);

/** Returns the quiet hours that include `at`; null outside of them. */
export const findQuietSpan = (quiet: QuietHours | null, at: number): Span | null =>
  quiet === null ? null : findHours(quiet.hours, quiet.timeZone, at);

/**
 * Formats the end of quiet hours in their time zone, such as `07:00 (Europe/Berlin)`. An end that is more than a day
 * after `at` has its date.
 */
export function formatQuietEnd({ timeZone }: QuietHours, end: number, at: number): string {
  const local = Temporal.Instant.fromEpochMilliseconds(end).toZonedDateTimeISO(timeZone);
  const [date, time] = local.toPlainDateTime().toString({ smallestUnit: "minute" }).split("T");
  return `${end - at < dayMs ? "" : `${date} `}${time} (${timeZone})`;
}
