/** Writes the incidents and maintenance of a status page as Atom and RSS feeds. */
import { escapeXml, escapeTags } from "../../core/text/formatting.ts";
import { getFormatter, minuteFormat } from "../../core/time/times.ts";
import type { IncidentStatus } from "../../incidents/schema.ts";
import type { PublicData, PublicIncident } from "./public-data.ts";
import type { PublicWindow } from "../windows.ts";
import type { Language } from "../languages/language.ts";
import type { RenderText } from "../rendering/words.ts";

/** A feed entry: an incident, or an occurrence of maintenance. */
type Entry = {
  /** A stable UUID. */
  id: string;
  title: string;
  /** Path after the page's address. */
  path: string;
  published: string;
  updated: string;
  /** Renders the HTML of the entry on demand, because long timelines are most of the work. */
  content: () => string;
};

/** Data of a feed, including completed maintenance, with its texts rendered as HTML. */
type FeedData = Pick<PublicData, "page" | "incidents" | "windows"> & {
  words: RenderText;
  language: Language;
};

/** Formats times with year and zone, because feeds are read later and in other time zones. */
const createTimeFormat = (timeZone: string, { locale }: Language) =>
  getFormatter(
    timeZone,
    { day: "numeric", month: "short", year: "numeric", ...minuteFormat, timeZoneName: "short" },
    locale,
  );

/** Describes an incident with its postmortem and its updates, newest first. */
function buildIncidentEntry(
  { id, title, status, createdAt, updates, earlier, postmortem }: PublicIncident,
  { words, language, url }: Pick<FeedData, "words" | "language"> & { url: string },
  times: Intl.DateTimeFormat,
): Entry {
  const address = `${url}/incidents/${id}`;
  const earlierLink =
    earlier === 0
      ? ""
      : `<p><a href="${escapeXml(address)}">${language.count("earlierUpdates", earlier)}</a></p>`;
  return {
    id,
    title: language.translate("labeled", { label: language.translate(status), text: title }),
    path: `/incidents/${id}`,
    published: createdAt,
    updated: [postmortem?.publishedAt ?? "", updates[0]?.createdAt ?? createdAt].toSorted().at(-1)!,
    content: () =>
      [
        ...(postmortem === null
          ? []
          : [
              {
                status: "postmortem" as const,
                message: postmortem.message,
                createdAt: postmortem.publishedAt,
              },
            ]),
        ...updates,
      ]
        .map(
          ({ status, message, createdAt }) =>
            `<p><strong>${language.translate(status as IncidentStatus)}</strong> (${times.format(Date.parse(createdAt))}):</p>${words(message).html}`,
        )
        .concat(earlierLink)
        .join(""),
  };
}

function buildWindowEntry(
  window: PublicWindow,
  { words, language }: Pick<FeedData, "words" | "language">,
  times: Intl.DateTimeFormat,
): Entry {
  const { occurrenceId, title, description, monitors, startsAt, endsAt } = window;
  const names = monitors.slice(0, maxNames).map(({ name }) => name);
  const more = monitors.length - names.length;
  const affected = [...names, ...(more > 0 ? [language.count("more", more)] : [])].join(
    language.translate("separator"),
  );
  const step = language.translate(
    window.isOver
      ? "maintenanceCompleted"
      : window.isRunning
        ? "maintenanceInProgress"
        : "scheduledMaintenance",
  );
  const affects = { label: language.translate("mailAffects"), text: affected };
  return {
    id: occurrenceId,
    title: language.translate("labeled", { label: step, text: title }),
    path: "",
    published: window.announcedAt,
    updated: window.changedAt,
    content: () =>
      [
        `<p><strong>${step}</strong> (${times.formatRange(Date.parse(startsAt), Date.parse(endsAt))})</p>`,
        words(description).html,
        ...(affected === "" ? [] : [`<p>${escapeXml(language.translate("labeled", affects))}</p>`]),
      ].join(""),
  };
}

const maxNames = 50;
/** Maximum entries of a feed. Hundreds of recurring windows would otherwise need megabytes. */
const maxEntries = 200;

/** Lists the entries of a feed, the latest change first. */
function buildEntries(data: FeedData, url: string): Entry[] {
  const { page, incidents, windows, language } = data;
  const times = createTimeFormat(page.timeZone, language);
  const entries = [
    ...incidents.map((incident) => buildIncidentEntry(incident, { ...data, url }, times)),
    ...windows.map((window) => buildWindowEntry(window, data, times)),
  ];
  entries.sort((a, b) => (a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0));
  return entries.slice(0, maxEntries);
}

/** Writes an Atom feed (RFC 4287), one piece per entry. `url` is the page's full address. */
export function* renderAtom(data: FeedData, url: string): Generator<string> {
  const { page } = data;
  const all = buildEntries(data, url);
  yield `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${data.language.tag}">
  <id>urn:uuid:${page.id}</id>
  <title>${escapeXml(page.title)}</title>
  <author><name>${escapeXml(page.title)}</name></author>
  <link href="${escapeXml(url)}"/>
  <link rel="self" href="${escapeXml(`${url}/feed.atom`)}"/>
  <updated>${all[0]?.updated ?? page.createdAt}</updated>
`;
  for (const { id, title, path, published, updated, content } of all)
    yield `  <entry>
    <id>urn:uuid:${id}</id>
    <title>${escapeXml(title)}</title>
    <link href="${escapeXml(`${url}${path}`)}"/>
    <published>${published}</published>
    <updated>${updated}</updated>
    <content type="html">${escapeXml(content())}</content>
  </entry>
`;
  yield "</feed>\n";
}

/**
 * Writes an RSS 2.0 feed (https://www.rssboard.org/rss-specification), one piece per entry. Titles are escaped,
 * because many readers parse them as HTML.
 */
export function* renderRss(data: FeedData, url: string): Generator<string> {
  const { page, words, language } = data;
  const about = words(page.description).text || language.translate("feedOf", { title: page.title });
  yield `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel>
    <title>${escapeXml(escapeTags(page.title))}</title>
    <link>${escapeXml(url)}</link>
    <atom:link rel="self" type="application/rss+xml" href="${escapeXml(`${url}/feed.rss`)}"/>
    <description>${escapeXml(escapeTags(about))}</description>
    <language>${language.tag}</language>
`;
  for (const { id, title, path, updated, content } of buildEntries(data, url))
    yield `    <item>
      <title>${escapeXml(escapeTags(title))}</title>
      <link>${escapeXml(`${url}${path}`)}</link>
      <guid isPermaLink="false">${id}</guid>
      <pubDate>${new Date(updated).toUTCString()}</pubDate>
      <description>${escapeXml(content())}</description>
    </item>
`;
  yield "  </channel>\n</rss>\n";
}
