/** Writes iCalendar feeds (RFC 5545). */

/** An event of a calendar. Timestamps are RFC 3339 in UTC. */
type CalendarEvent = {
  uid: string;
  changedAt: string;
  startsAt: string;
  endsAt: string;
  title: string;
  description?: string;
  url?: string;
};

/** Escapes a text value (RFC 5545 §3.3.11). */
function escapeText(text: string): string {
  return text
    .replace(/[\\;,]/g, "\\$&")
    .replace(/\r?\n/g, "\\n")
    .replace(/[^\P{Cc}\t]/gu, "");
}

/** Formats a timestamp such as `20261122T010000Z`. */
function formatStamp(timestamp: string): string {
  return timestamp.replace(/[-:]/g, "").replace(/\.\d+Z$/, "Z");
}

/** One octet less than allowed, for the space at the start of a continuation line. */
const maxOctets = 74;

/** Folds a line into lines of at most 75 octets (RFC 5545 §3.1). */
function foldLine(line: string): string {
  const lines: string[] = [];
  let [start, end, octets] = [0, 0, 0];
  for (const character of line) {
    const code = character.codePointAt(0) ?? 0;
    const width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (octets + width > maxOctets) {
      lines.push(line.slice(start, end));
      [start, octets] = [end, 0];
    }
    end += character.length;
    octets += width;
  }
  return [...lines, line.slice(start)].join("\r\n ");
}

const foldLines = (lines: readonly string[]) =>
  lines.map((line) => `${foldLine(line)}\r\n`).join("");

/** A time zone for calendars without events, because a calendar needs at least one component (RFC 5545 §3.4). */
const utc = [
  "BEGIN:VTIMEZONE",
  "TZID:UTC",
  "BEGIN:STANDARD",
  "DTSTART:19700101T000000",
  "TZOFFSETFROM:+0000",
  "TZOFFSETTO:+0000",
  "END:STANDARD",
  "END:VTIMEZONE",
];

/** Writes a calendar, one piece per event. `product` names its source, such as `Status page`. */
export function* writeCalendar(
  product: string,
  name: string,
  events: Iterable<CalendarEvent>,
): Generator<string> {
  yield foldLines([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    `PRODID:-//Signalbox//${product}//EN`,
    `X-WR-CALNAME:${escapeText(name)}`,
  ]);
  let isEmpty = true;
  for (const { uid, changedAt, startsAt, endsAt, title, description = "", url } of events) {
    isEmpty = false;
    yield foldLines([
      "BEGIN:VEVENT",
      `UID:${uid}@signalbox`,
      `DTSTAMP:${formatStamp(changedAt)}`,
      `DTSTART:${formatStamp(startsAt)}`,
      `DTEND:${formatStamp(endsAt)}`,
      `SUMMARY:${escapeText(title)}`,
      ...(description === "" ? [] : [`DESCRIPTION:${escapeText(description)}`]),
      ...(url === undefined ? [] : [`URL:${url}`]),
      "END:VEVENT",
    ]);
  }
  if (isEmpty) yield foldLines(utc);
  yield foldLines(["END:VCALENDAR"]);
}
