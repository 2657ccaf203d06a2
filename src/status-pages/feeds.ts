import { escaped } from "./xml.ts";
import type { Published, PublishedIncident } from "./published.ts";

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The timeline as a little HTML, newest first: what feed readers show. */
function contentOf({ updates }: PublishedIncident): string {
  return updates
    .map(
      ({ status, message, createdAt }) =>
        `<p><strong>${capitalized(status)}</strong> (${createdAt}): ${escaped(message).replaceAll("\n", "<br/>")}</p>`,
    )
    .join("");
}

const changedAt = ({ updates, createdAt }: PublishedIncident) => updates[0]?.createdAt ?? createdAt;

/** Atom (RFC 4287) of a page's incidents; `url` is the page's whole address. */
export function atomOf({ page, incidents }: Published, url: string, now: number): string {
  const updated = incidents.map(changedAt).sort().at(-1) ?? new Date(now).toISOString();
  const entries = incidents.map(
    (incident) => `  <entry>
    <id>urn:uuid:${incident.id}</id>
    <title>${escaped(titleOf(incident))}</title>
    <link href="${escaped(`${url}/incidents/${incident.id}`)}"/>
    <published>${incident.createdAt}</published>
    <updated>${changedAt(incident)}</updated>
    <content type="html">${escaped(contentOf(incident))}</content>
  </entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${escaped(url)}</id>
  <title>${escaped(page.title)}</title>
  <author><name>${escaped(page.title)}</name></author>
  <link href="${escaped(url)}"/>
  <link rel="self" href="${escaped(`${url}/feed.atom`)}"/>
  <updated>${updated}</updated>
${entries.join("")}</feed>
`;
}

/** RSS 2.0 (https://www.rssboard.org/rss-specification) of the same. */
export function rssOf({ page, incidents }: Published, url: string): string {
  const items = incidents.map(
    (incident) => `    <item>
      <title>${escaped(titleOf(incident))}</title>
      <link>${escaped(`${url}/incidents/${incident.id}`)}</link>
      <guid isPermaLink="false">${incident.id}</guid>
      <pubDate>${new Date(changedAt(incident)).toUTCString()}</pubDate>
      <description>${escaped(contentOf(incident))}</description>
    </item>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel>
    <title>${escaped(page.title)}</title>
    <link>${escaped(url)}</link>
    <atom:link rel="self" type="application/rss+xml" href="${escaped(`${url}/feed.rss`)}"/>
    <description>${escaped(page.description || `Incidents of ${page.title}`)}</description>
${items.join("")}  </channel>
</rss>
`;
}

function titleOf({ title, status }: PublishedIncident): string {
  return `${capitalized(status)}: ${title}`;
}
