import type { PublicData } from "./public-data.ts";
import type { WordsOf } from "../rendering/words.ts";

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

const maxOctets = 74;

/** A line of at most 75 octets, and what follows on further ones (RFC 5545 §3.1). */
function folded(line: string): string {
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

const linesOf = (lines: readonly string[]) => lines.map((line) => `${folded(line)}\r\n`).join("");

/** A calendar needs a component (RFC 5545 §3.4); without events this one adds no entry. */
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

/** The planned work of a page as a calendar (RFC 5545), one piece an event; `url` is the page's whole address. */
export function* calendarOf(
  { page, windows }: PublicData,
  words: WordsOf,
  url: string,
): Generator<string> {
  yield linesOf([
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Signalbox//Status page//EN",
    `X-WR-CALNAME:${escaped(`${page.title}: maintenance`)}`,
  ]);
  if (windows.length === 0) yield linesOf(utc);
  for (const { occurrenceId, title, description, startsAt, endsAt, changedAt } of windows)
    yield linesOf([
      "BEGIN:VEVENT",
      `UID:${occurrenceId}@signalbox`,
      `DTSTAMP:${stamp(changedAt)}`,
      `DTSTART:${stamp(startsAt)}`,
      `DTEND:${stamp(endsAt)}`,
      `SUMMARY:${escaped(title)}`,
      ...(description === "" ? [] : [`DESCRIPTION:${escaped(words(description).text)}`]),
      `URL:${url}`,
      "END:VEVENT",
    ]);
  yield linesOf(["END:VCALENDAR"]);
}
