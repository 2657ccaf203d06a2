/** Renders the frame of all pages of a status page: document head, header and footer. */
import type { CSSProperties, ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { resolvePublicAsset } from "../core/assets.ts";
import { adjustAccent } from "./rendering/accent.ts";
import { Bell, Mark } from "./icons.tsx";
import type { Moment, StatusView, Tone } from "./rendering/view.ts";
import type { RenderText } from "./rendering/words.ts";

/** Content of a page. `base` is its path in links. A preview has no script, and its links open a new tab. */
export type PageDocument = {
  view: StatusView;
  words: RenderText;
  base: string;
  isPreview?: boolean;
};

/** Renders an HTML document with the page's header, `content` and the footer. */
export function renderDocument(
  { view: { page, headline }, words, base, isPreview = false }: PageDocument,
  title: string,
  content: ReactNode,
  head: ReactNode = null,
): string {
  const accent =
    page.accentColor === null
      ? {}
      : { style: { "--accent": adjustAccent(page.accentColor) } as CSSProperties };
  return `<!doctype html>${renderToStaticMarkup(
    <html lang="en" data-theme={page.theme} {...accent}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <meta name="color-scheme" content={page.theme === "auto" ? "light dark" : page.theme} />
        <meta
          name="description"
          content={words(page.description).text || `${page.title}: ${headline.text}`}
        />
        {!page.indexing && <meta name="robots" content="noindex" />}
        <title>{title}</title>
        {head}
        <link
          rel="preload"
          href={resolvePublicAsset("inter-latin.woff2")}
          as="font"
          type="font/woff2"
          crossOrigin="anonymous"
        />
        <link rel="stylesheet" href={resolvePublicAsset("status.css")} />
        <link rel="icon" href={renderFavicon(headline.tone)} type="image/svg+xml" />
        <link rel="alternate" type="application/rss+xml" title="RSS" href={`${base}/feed.rss`} />
        <link rel="alternate" type="application/atom+xml" title="Atom" href={`${base}/feed.atom`} />
        {isPreview ? (
          <base target="_blank" />
        ) : (
          <script src={resolvePublicAsset("status.js")} defer />
        )}
      </head>
      <body>
        <div className="wrap">
          <header className="top">
            <a className="name" href={base === "" ? "/" : base}>
              {page.logoUrl === null ? (
                <Mark tone={headline.tone} />
              ) : (
                <img src={page.logoUrl} alt="" height={32} />
              )}
              <b dir="auto">{page.title}</b>
            </a>
            <a className="updates" href={`${base}/subscribe`}>
              <Bell /> Get updates
            </a>
          </header>
          <main id="status">{content}</main>
          <footer>
            <span>Times in {page.timeZone}</span>{" "}
            <span className="links">
              <a href={`${base}/feed.rss`}>RSS</a> <a href={`${base}/feed.atom`}>Atom</a>{" "}
              <a href={`${base}/maintenance.ics`}>Calendar</a>{" "}
              <a href={`${base === "" ? "/status" : base}.json`}>JSON</a> <span>Signalbox</span>
            </span>
          </footer>
        </div>
      </body>
    </html>,
  )}`;
}

/** Returns the icon of the browser tab: a dot in the colour of the state. */
function renderFavicon(tone: Tone): string {
  const colours = {
    up: "12805c",
    degraded: "9a6200",
    down: "c2273b",
    maintenance: "5a4fc9",
    none: "77746d",
  };
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23${colours[tone]}'/%3E%3C/svg%3E`;
}

export function BackLink({ base }: { base: string }) {
  return (
    <p className="back">
      <a href={base === "" ? "/" : base}>← Current status</a>
    </p>
  );
}

export function Time({ moment: { at, text } }: { moment: Moment }) {
  return <time dateTime={at}>{text}</time>;
}
