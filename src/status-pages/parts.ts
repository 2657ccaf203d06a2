import { atomOf, rssOf, type FeedData } from "./feeds.ts";
import { monthlyHistory } from "./history.ts";
import { calendarOf } from "./ical.ts";
import { jsonOf } from "./json.ts";
import type { Rendered } from "./cache.ts";
import type { Loaded } from "./load.ts";
import type { Part } from "./public-paths.ts";
import type { SignUpResult } from "./subscribe-page.tsx";
import { type V2Name, v2Of } from "./statuspage-v2.ts";
import { viewOf } from "./view.ts";
import { wordsOf, writtenIn } from "./words.ts";

// What renders HTML is loaded with the first page: a start would take longer by it.
const pages = () => import("./page.tsx");

/**
 * Renders a part of a page, all but its logo; null where there is no such thing to publish. `base` is the
 * path of the page, as it stands in links, `url` its whole address.
 */
export async function renderPart(
  { name, parameter }: Part,
  loaded: Loaded,
  { base, url, now }: { base: string; url: string; now: number },
): Promise<Rendered | null> {
  const view = viewOf(loaded, now);
  const words = () => wordsOf(writtenIn(loaded));
  switch (name) {
    case "page":
      return html((await pages()).statusPage({ view, base, words: await words() }));
    case "json":
      return json(jsonOf(loaded, view, now));
    case "rss":
      return feed("application/rss+xml", rssOf(await feedData(loaded), url));
    case "atom":
      return feed("application/atom+xml", atomOf(await feedData(loaded), url));
    case "ics":
      return feed("text/calendar", calendarOf(loaded, await words(), url));
    case "v2":
      return json(JSON.stringify(await v2Of(parameter as V2Name, loaded, view, url, now)));
    case "subscribe":
      return renderSignUp(loaded, null, base, now);
    case "image":
    case "incident": {
      const found = await loaded.incident(parameter);
      if (found === null) return null;
      const one = { ...loaded, incidents: [found] };
      const [incident] = viewOf(one, now).all;
      if (incident === undefined) return null;
      if (name === "image") {
        const { shareImage } = await import("./share-image.ts");
        return png(await shareImage(view.page.title, incident));
      }
      const { incidentPage } = await pages();
      const document = { view, base, words: await wordsOf(writtenIn(one)) };
      // Behind a password a chat gets no image.
      const shared = loaded.page.visibility === "public" ? url : null;
      return html(incidentPage(document, incident, shared));
    }
    case "history": {
      const history = await monthlyHistory(loaded, parameter, now);
      if (history === null) return null;
      const { historyPage } = await pages();
      return html(historyPage({ view, base, words: history.words }, history));
    }
    case "logo":
      throw new Error("A logo is served as it was sent.");
  }
}

/** With windows that are over, and all texts rendered. */
async function feedData(loaded: Loaded): Promise<FeedData> {
  const windows = [...loaded.windows, ...(await loaded.windowsOver())];
  const all = { ...loaded, windows };
  return { ...all, words: await wordsOf(writtenIn(all)) };
}

/** The form that signs up, and what became of what it sent. */
export async function renderSignUp(
  loaded: Loaded,
  result: SignUpResult,
  base: string,
  now: number,
) {
  const { subscribePage } = await import("./subscribe-page.tsx");
  const words = await wordsOf(writtenIn({ page: loaded.page }));
  const document = { view: viewOf(loaded, now), base, words };
  return html(subscribePage(document, loaded.takesMail, result), result?.status ?? 200);
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

/** Public JSON, feeds and badges may be read by any other page. */
const openHeaders = {
  "Access-Control-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};

/** What was rendered for one visitor, as a response that nobody keeps. */
export function uncached(
  { body, status, type, headers }: ReturnType<typeof html<string>>,
  further: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: { "Content-Type": type, "Cache-Control": "no-store", ...headers, ...further },
  });
}

function png(body: Uint8Array<ArrayBuffer>): Rendered {
  return {
    status: 200,
    type: "image/png",
    body,
    headers: { "X-Content-Type-Options": "nosniff" },
  };
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
