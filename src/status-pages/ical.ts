import type { PublicData } from "./public-data.ts";
import type { WordsOf } from "./words.ts";

/** Text as RFC 5545 §3.3.11 writes it. */
function escaped(text: string): string {
  return text
    .replace(/[\\;,]/g, "\\$&")
    .replace(/\r?\n/g, "\\n")
    .replace(/[^\P{Cc}\t]/gu, "");
}

/** `20261122T010000Z`. */
function stamp(timestamp: string): string {
  return timestamp.replace(/[-:]/g, "").replace(/\.\d+Z$/, "Z");
}

/** A line of at most 75 octets, and what follows on further ones (RFC 5545 §3.1). */
function folded(line: string): string {
  const lines: string[] = [];
  let current = "";
  for (const character of line) {
    if (Buffer.byteLength(current + character) > 74) {
      lines.push(current);
      current = "";
    }
    current += character;
  }
  return [...lines, current].join("\r\n ");
}

/** The planned work of a page as a calendar (RFC 5545); `url` is the page's whole address. */
export function calendarOf({ page, windows }: PublicData, words: WordsOf, url: string): string {
  const events = windows.flatMap(
    ({ occurrenceId, title, description, startsAt, endsAt, changedAt }) => [
      "BEGIN:VEVENT",
      `UID:${occurrenceId}@signalbox`,
      `DTSTAMP:${stamp(changedAt)}`,
      `DTSTART:${stamp(startsAt)}`,
      `DTEND:${stamp(endsAt)}`,
      `SUMMARY:${escaped(title)}`,
      ...(description === "" ? [] : [`DESCRIPTION:${escaped(words(description).text)}`]),
      `URL:${url}`,
      "END:VEVENT",
    ],
  );
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Signalbox//Status page//EN",
    `X-WR-CALNAME:${escaped(`${page.title}: maintenance`)}`,
    ...events,
    "END:VCALENDAR",
  ];
  return `${lines.map(folded).join("\r\n")}\r\n`;
}
