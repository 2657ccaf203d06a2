import { atomOf, rssOf } from "./feeds.ts";
import { monthlyHistory } from "./history.ts";
import { calendarOf } from "./ical.ts";
import { jsonOf } from "./json.ts";
import type { Rendered } from "./cache.ts";
import type { Loaded } from "./load.ts";
import type { PageFiles } from "./layout.tsx";
import { historyPage, incidentPage, statusPage } from "./page.tsx";
import { type SignUpResult, subscribePage } from "./subscribe-page.tsx";
import { type V2Name, v2Of } from "./statuspage-v2.ts";
import { type StatusView, viewOf } from "./view.ts";
import { partNameAt } from "./public-paths.ts";

/** What of a page is asked for. */
export type Part =
  | { name: "page" | "json" | "rss" | "atom" | "ics" | "subscribe" }
  | { name: "logo"; version: string | null }
  | { name: "history"; month: string | null }
  | { name: "incident"; id: string }
  | { name: "v2"; what: V2Name };

/** The part that stands at this path behind the page's address; null for none. Of a query only this makes a difference. */
export function partAt(
  path: string,
  { month, version }: { month: string | null; version: string | null },
): Part | null {
  const found = partNameAt(path);
  if (found === null) return null;
  const { name, parameter } = found;
  switch (name) {
    case "incident":
      return { name, id: parameter };
    case "v2":
      return { name, what: parameter as V2Name };
    case "history":
      return { name, month };
    case "logo":
      return { name, version };
    default:
      return { name };
  }
}

export type Place = {
  /** Path of the page, as it stands in links. */
  base: string;
  /** Its whole address. */
  url: string;
  files: PageFiles;
  now: number;
};

/** Makes a part of a page, all but its logo; null where there is no such thing to publish. */
export async function makePart(
  part: Exclude<Part, { name: "logo" }>,
  published: Loaded,
  { base, url, files, now }: Place,
): Promise<Rendered | null> {
  const view = viewOf(published, now);
  switch (part.name) {
    case "page":
      return html(statusPage(view, files, base));
    case "json":
      return json(jsonOf(published, view, now));
    case "rss":
      return feed("application/rss+xml", rssOf(published, await published.windowsOver(), url));
    case "atom":
      return feed("application/atom+xml", atomOf(published, await published.windowsOver(), url));
    case "ics":
      return feed("text/calendar", calendarOf(published, url));
    case "v2":
      return json(JSON.stringify(await v2Of(part.what, published, view, url, now)));
    case "subscribe":
      return signUpAnswer(published, null, { base, files, now });
    case "incident":
      return incident(part.id, published, view, { base, url, files, now });
    case "history": {
      const history = await monthlyHistory(published, part.month, now);
      return history === null ? null : html(historyPage(view, history, files, base));
    }
  }
}

/** The form that signs up, and what became of what it sent. */
export function signUpAnswer(
  published: Loaded,
  result: SignUpResult,
  { base, files, now }: Omit<Place, "url">,
): Rendered & { body: string } {
  const view = viewOf(published, now);
  const body = subscribePage(view, published.takesMail, result, files, base);
  return { ...html(body, result?.status ?? 200), body };
}

async function incident(id: string, published: Loaded, view: StatusView, place: Place) {
  const found = await published.incident(id);
  if (found === null) return null;
  const [shown] = viewOf({ ...published, incidents: [found] }, place.now).all;
  return shown === undefined ? null : html(incidentPage(view, shown, place.files, place.base));
}

/** Scripts are ours alone; the page's accent colour is an attribute. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
].join("; ");

export function html(body: Rendered["body"], status = 200): Rendered {
  return {
    status,
    type: "text/html; charset=utf-8",
    body,
    headers: {
      "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    },
  };
}

/** Public JSON and feeds may be read by any other page. */
const open = { "Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff" };

function json(body: Rendered["body"]): Rendered {
  return { status: 200, type: "application/json", body, headers: open };
}

function feed(type: string, body: string): Rendered {
  return { status: 200, type: `${type}; charset=utf-8`, body, headers: open };
}
