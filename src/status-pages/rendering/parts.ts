/** Renders each part of a status page: HTML pages, JSON, feeds and the calendar. */
import { escapeXml } from "../../core/text/formatting.ts";
import { toHtml } from "../../http/responses/small-page.ts";
import { renderAtom, renderRss } from "../formats/feeds.ts";
import { loadMonthlyHistory } from "../formats/history.ts";
import { renderCalendar } from "../formats/ical.ts";
import { renderJson } from "../formats/json.ts";
import type { Rendered } from "../site/cache.ts";
import { translatePage } from "../languages/page-translation.ts";
import type { Language } from "../languages/language.ts";
import { listOffered } from "../languages/catalog.ts";
import { createLinks, type LinkTo } from "../links.ts";
import type { StaticCopy } from "../layout.tsx";
import type { LoadedPage } from "../load.ts";
import type { Part, PartName } from "../site/public-paths.ts";
import type { SignUpResult } from "../subscribe-page.tsx";
import { buildV2Response } from "../formats/statuspage-v2.ts";
import {
  createTextBudget,
  createWindowBudget,
  limitDescriptions,
  limitUpdates,
} from "../site/text-budget.ts";
import { buildView } from "./view.ts";
import { renderWords, collectTexts } from "./words.ts";

// Loaded when the first page is rendered, because React would slow down the start.
const loadPages = () => import("../page.tsx");

/** Where, when and in which language a page is rendered. */
export type PageLocation = {
  /** Path of the page in links. */
  base: string;
  /** Full address of the page. */
  url: string;
  now: number;
  /** Whether `now` is a past time. */
  isPast?: boolean;
  language: Language;
  /** Present in a static copy of the page, with its links. */
  copy?: { to: LinkTo; document: StaticCopy };
};

/** Returns the links of a rendered page. They name the language if the page offers several. */
const linksOf = (
  { page }: LoadedPage,
  { base, language, copy }: Pick<PageLocation, "base" | "language" | "copy">,
) => copy?.to ?? createLinks(base, listOffered(page).length > 1 ? language.tag : null);

/**
 * Renders a part of a page, except its files. Returns null if there is nothing to publish. `base` is the path of
 * the page in links, `url` its full address.
 */
export async function renderPart(
  part: Part,
  published: LoadedPage,
  target: PageLocation,
): Promise<Rendered | null> {
  const { name, parameter } = part;
  const { url, now, language } = target;
  const all = translatePage(published, language);
  if (name === "incident") return renderIncident(part, all, target);
  const { loaded, words } = await renderTexts(name, all);
  const view = buildView(loaded, now, language);
  const to = linksOf(loaded, target);
  const copy = target.copy?.document;
  switch (name) {
    case "page": {
      const past = target.isPast ? { past: new Date(now).toISOString() } : {};
      return toPageHtml(
        loaded,
        (await loadPages()).renderStatusPage({ view, to, words, language, copy, ...past }),
      );
    }
    case "embed":
      return toPageHtml(
        loaded,
        (await import("../embed-page.tsx")).renderEmbed({ view, to, words, language }),
      );
    case "json":
      return toJson(renderJson(loaded, view, now));
    case "rss":
      return toFeed("application/rss+xml", renderRss({ ...loaded, words, language }, url));
    case "atom":
      return toFeed("application/atom+xml", renderAtom({ ...loaded, words, language }, url));
    case "ics":
      return toFeed("text/calendar", renderCalendar(loaded, { words, language }, url));
    case "v2": {
      const response = await buildV2Response(parameter, loaded, target);
      return response && toJson(JSON.stringify(response));
    }
    case "subscribe":
      return renderSignUp(loaded, null, target);
    case "history": {
      const history = await loadMonthlyHistory(loaded, parameter, now, language);
      if (history === null) return null;
      const { renderHistoryPage } = await loadPages();
      const query = parameter === "" ? "" : `month=${parameter}`;
      return toPageHtml(
        loaded,
        renderHistoryPage({ view, to, query, words: history.words, language, copy }, history),
      );
    }
    case "robots":
      return toRobots(loaded.page.indexing);
    case "logo":
    case "favicon":
    case "font":
    case "fontStyle":
    case "stylesheet":
      throw new Error("A file is not rendered.");
  }
}

/** Creates the response of a page, which its named origins can show in a frame. */
const toPageHtml = <Body>({ page }: LoadedPage, body: Body, status?: number) =>
  toHtml(body, status, page.look.embedOrigins);

/** Renders the page of one incident; null if the status page does not show the incident. */
async function renderIncident(
  { parameter, before }: Part,
  all: LoadedPage,
  target: PageLocation,
): Promise<Rendered | null> {
  const { url, now, language } = target;
  const found = await all.findIncident(parameter, before === undefined ? {} : { before });
  if (found === null) return null;
  const { loaded, words } = await renderTexts("incident", { ...all, incidents: [found] });
  const view = buildView(all, now, language);
  const [incident] = buildView(loaded, now, language).all;
  if (incident === undefined) return null;
  const { renderIncidentPage } = await import("../incident.tsx");
  const isContinued = before !== undefined;
  // Chats get no link preview of a restricted page, or of earlier updates.
  const { visibility, audience } = loaded.page;
  const isPublic = visibility === "public" && audience === "everyone";
  const copy = target.copy?.document;
  const shared = isPublic && !isContinued && copy === undefined ? url : null;
  const query = before === undefined ? "" : `before=${before}`;
  const document = { view, to: linksOf(all, target), query, words, language, copy };
  return toPageHtml(all, renderIncidentPage(document, incident, { url: shared, isContinued }));
}

const feedParts: readonly string[] = ["rss", "atom"];
/** Parts that show one or more incidents. */
const partsWithIncidents: readonly string[] = ["page", "embed", "incident", ...feedParts];

/** Renders the texts of a part and omits texts beyond the size limit. Feeds also get completed maintenance. */
async function renderTexts(name: PartName, loaded: LoadedPage) {
  const isFeed = feedParts.includes(name);
  const windows = isFeed
    ? [...loaded.windows, ...(await loaded.readLimitedEndedWindows())]
    : loaded.windows;
  const all = { ...loaded, windows };
  const isShown = name === "ics" || partsWithIncidents.includes(name);
  const words = await renderWords(
    isShown ? collectTexts(all) : collectTexts({ page: loaded.page }),
  );
  if (!partsWithIncidents.includes(name)) return { loaded: all, words };
  const measureRendered = (text: string) => {
    const { html } = words(text);
    return Buffer.byteLength(isFeed ? escapeXml(html) : html);
  };
  const incidents = limitUpdates(all.incidents, measureRendered, createTextBudget());
  const fittingWindows = limitDescriptions(windows, measureRendered, createWindowBudget());
  return { loaded: { ...all, incidents, windows: fittingWindows }, words };
}

/** Renders the sign-up form, with the result of a submission if there is one. */
export async function renderSignUp(
  loaded: LoadedPage,
  result: SignUpResult,
  target: Omit<PageLocation, "url">,
) {
  const { now, language } = target;
  const { renderSubscribePage } = await import("../subscribe-page.tsx");
  const words = await renderWords(collectTexts({ page: loaded.page }));
  const view = buildView(loaded, now, language);
  const document = { view, to: linksOf(loaded, target), words, language };
  return toPageHtml(loaded, renderSubscribePage(document, loaded, result), result?.status);
}

/** Headers of public JSON, feeds and badges: web pages of any origin can read them. */
const openHeaders = {
  "Access-Control-Allow-Origin": "*",
  "X-Content-Type-Options": "nosniff",
};

export function toJson(body: Rendered["body"]): Rendered {
  return { status: 200, type: "application/json", body, headers: openHeaders };
}

/** Writes `robots.txt` (RFC 9309). Crawlers read it only at the page's own host names. */
const toRobots = (indexing: boolean): Rendered => ({
  status: 200,
  type: "text/plain; charset=utf-8",
  body: `User-agent: *\n${indexing ? "Allow" : "Disallow"}: /\n`,
  headers: { "X-Content-Type-Options": "nosniff" },
});

export const toSvg = (body: string): Rendered => ({
  status: 200,
  type: "image/svg+xml; charset=utf-8",
  body,
  headers: openHeaders,
});

function toFeed(type: string, body: Iterable<string>): Rendered {
  return { status: 200, type: `${type}; charset=utf-8`, body, headers: openHeaders };
}
