/** Renders each part of a status page: HTML pages, JSON, feeds and the calendar. */
import { escapeXml } from "../../core/text/words.ts";
import { atomOf, rssOf } from "../formats/feeds.ts";
import { monthlyHistory } from "../formats/history.ts";
import { calendarOf } from "../formats/ical.ts";
import { jsonOf } from "../formats/json.ts";
import type { Rendered } from "../site/cache.ts";
import type { Loaded } from "../load.ts";
import type { Part, PartName } from "../site/public-paths.ts";
import type { SignUpResult } from "../subscribe-page.tsx";
import { v2Of } from "../formats/statuspage-v2.ts";
import { textBudget, windowBudget, windowsWithin, withinBudget } from "../site/text-budget.ts";
import { viewOf } from "./view.ts";
import { wordsOf, writtenIn } from "./words.ts";

// Loaded when the first page is rendered, because React would slow down the start.
const pages = () => import("../page.tsx");

type Place = { base: string; url: string; now: number };

/**
 * Renders a part of a page, except its logo. Returns null if there is nothing to publish. `base` is the path of
 * the page in links, `url` its full address.
 */
export async function renderPart(part: Part, all: Loaded, place: Place): Promise<Rendered | null> {
  const { name, parameter } = part;
  if (name === "incident") return renderIncident(part, all, place);
  const { base, url, now } = place;
  const { loaded, words } = await rendered(name, all);
  const view = viewOf(loaded, now);
  switch (name) {
    case "page":
      return html((await pages()).statusPage({ view, base, words }));
    case "json":
      return json(jsonOf(loaded, view, now));
    case "rss":
      return feed("application/rss+xml", rssOf({ ...loaded, words }, url));
    case "atom":
      return feed("application/atom+xml", atomOf({ ...loaded, words }, url));
    case "ics":
      return feed("text/calendar", calendarOf(loaded, words, url));
    case "v2": {
      const answer = await v2Of(parameter, loaded, url, now);
      return answer && json(JSON.stringify(answer));
    }
    case "subscribe":
      return renderSignUp(loaded, null, base, now);
    case "history": {
      const history = await monthlyHistory(loaded, parameter, now);
      if (history === null) return null;
      const { historyPage } = await pages();
      return html(historyPage({ view, base, words: history.words }, history));
    }
    case "logo":
      throw new Error("A logo is not rendered.");
  }
}

/** Renders the page of one incident; null if the status page does not show the incident. */
async function renderIncident(
  { parameter, before }: Part,
  all: Loaded,
  { base, url, now }: Place,
): Promise<Rendered | null> {
  const found = await all.incident(parameter, before === undefined ? {} : { before });
  if (found === null) return null;
  const { loaded, words } = await rendered("incident", { ...all, incidents: [found] });
  const view = viewOf(all, now);
  const [incident] = viewOf(loaded, now).all;
  if (incident === undefined) return null;
  const { incidentPage } = await import("../incident.tsx");
  const isContinued = before !== undefined;
  // Chats get no link preview of a page with a password, or of earlier updates.
  const shared = loaded.page.visibility === "public" && !isContinued ? url : null;
  const document = { view, base, words };
  return html(incidentPage(document, incident, { url: shared, isContinued }));
}

const feeds: readonly string[] = ["rss", "atom"];
/** Parts that show one or more incidents. */
const withIncidents: readonly string[] = ["page", "incident", ...feeds];

/** Renders the texts of a part and omits texts beyond the size limit. Feeds also get completed maintenance. */
async function rendered(name: PartName, loaded: Loaded) {
  const isFeed = feeds.includes(name);
  const windows = isFeed ? [...loaded.windows, ...(await loaded.windowsOver())] : loaded.windows;
  const all = { ...loaded, windows };
  const isShown = name === "ics" || withIncidents.includes(name);
  const words = await wordsOf(isShown ? writtenIn(all) : writtenIn({ page: loaded.page }));
  if (!withIncidents.includes(name)) return { loaded: all, words };
  const sizeOf = (text: string) => {
    const { html } = words(text);
    return Buffer.byteLength(isFeed ? escapeXml(html) : html);
  };
  const incidents = withinBudget(all.incidents, sizeOf, textBudget());
  const shown = windowsWithin(windows, sizeOf, windowBudget());
  return { loaded: { ...all, incidents, windows: shown }, words };
}

/** Renders the sign-up form, with the result of a submission if there is one. */
export async function renderSignUp(
  loaded: Loaded,
  result: SignUpResult,
  base: string,
  now: number,
) {
  const { subscribePage } = await import("../subscribe-page.tsx");
  const words = await wordsOf(writtenIn({ page: loaded.page }));
  const document = { view: viewOf(loaded, now), base, words };
  return html(subscribePage(document, loaded.takesMail, result), result?.status ?? 200);
}

/** Allows only our own scripts. Style attributes are allowed because one sets the accent colour. */
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

export function html<Body extends Rendered["body"]>(body: Body, status = 200) {
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

/** Headers of public JSON, feeds and badges: web pages of any origin can read them. */
const openHeaders = {
  "Access-Control-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};

/** Creates a response for a single visitor, which no cache may store. */
export function uncached(
  { body, status, type, headers }: ReturnType<typeof html<string>>,
  further: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: { "Content-Type": type, "Cache-Control": "no-store", ...headers, ...further },
  });
}

export function json(body: Rendered["body"]): Rendered {
  return { status: 200, type: "application/json", body, headers: openHeaders };
}

export const svg = (body: string): Rendered => ({
  status: 200,
  type: "image/svg+xml; charset=utf-8",
  body,
  headers: openHeaders,
});

function feed(type: string, body: Iterable<string>): Rendered {
  return { status: 200, type: `${type}; charset=utf-8`, body, headers: openHeaders };
}
