/** Renders the frame of all pages of a status page: document head, header and footer. */
import { type CSSProperties, Fragment, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { PageLanguage } from "../core/languages.ts";
import { severities } from "../core/statuses.ts";
import { resolvePublicAsset } from "../core/assets.ts";
import { contentSecurityPolicy } from "../http/responses/small-page.ts";
import { buildLookStyle, listLookClasses, logoHeights } from "./rendering/look.ts";
import { Bell, Mark } from "./icons.tsx";
import type { Language, Part, TextKey } from "./languages/language.ts";
import type { LinkTo } from "./links.ts";
import type { Look } from "./look-schema.ts";
import { listOffered, nameLanguage } from "./languages/catalog.ts";
import { createTimeFormats, type Moment } from "./languages/times.ts";
import type { StatusView, Tone } from "./rendering/view.ts";
import type { RenderText } from "./rendering/words.ts";

/** A page as a static file, which finds its assets and other languages by relative paths. */
export type StaticCopy = {
  isOverview: boolean;
  resolveAsset: (name: string) => string;
  inLanguage: (tag: PageLanguage) => string;
  /** Path of the file with the time of the last publication. */
  asOfPath: string;
  asOf: Moment;
};

/** Content of a page. A preview has no script, and its links open a new tab. */
export type PageDocument = {
  view: StatusView;
  words: RenderText;
  language: Language;
  to: LinkTo;
  /** Query of the current address without its language, such as `month=2026-10`. */
  query?: string;
  isPreview?: boolean;
  /** The past time (RFC 3339) that the page shows instead of now. */
  past?: string;
  /** Present in a static copy of the page. */
  copy?: StaticCopy | undefined;
};

/** Renders the parts of a sentence. */
export function Sentence({ parts }: { parts: readonly Part<ReactNode>[] }) {
  return parts.map((part, index) => (
    <Fragment key={index}>{"text" in part ? part.text : part.value}</Fragment>
  ));
}

type WrittenProps = { text: string; words: RenderText; lang?: string | null | undefined };

/** A text by people, rendered from Markdown. `lang` is its language, unless it is the language of the page. */
export function WrittenText({ text, words, lang }: WrittenProps) {
  return (
    <div
      className="md"
      lang={lang ?? undefined}
      dir={lang == null ? undefined : "auto"}
      dangerouslySetInnerHTML={{ __html: words(text).html }}
    />
  );
}

/** Returns the language of a page's own texts in a document of another language; undefined in its own. */
export const findTextLanguage = ({ view: { page }, language }: PageDocument): string | undefined =>
  page.language === language.tag ? undefined : page.language;

/** Renders an HTML document with the page's header, `content` and the footer. */
export function renderDocument(
  document: PageDocument,
  title: string,
  content: ReactNode,
  head: ReactNode = null,
): string {
  const { view, words, language, to, isPreview = false, copy } = document;
  const { page, headline } = view;
  const resolveAsset = resolverOf(document);
  // Copies of incidents don't change with the state, so that an outage changes only a few files.
  const tone = copy?.isOverview === false ? "none" : headline.tone;
  const { banner } = page.look;
  return `<!doctype html>${renderToStaticMarkup(
    <html {...writeRoot(document)}>
      <head>
        <DocumentHead document={document} title={title} />
        <meta
          name="description"
          content={
            words(page.description).text ||
            (copy?.isOverview === false
              ? page.title
              : language.translate("labeled", { label: page.title, text: headline.text }))
          }
        />
        {!page.indexing && <meta name="robots" content="noindex" />}
        {head}
        {page.files.favicon === null ? (
          <link rel="icon" href={renderFavicon(tone)} type="image/svg+xml" />
        ) : (
          <link rel="icon" href={page.files.favicon} />
        )}
        <link rel="alternate" type="application/rss+xml" title="RSS" href={to("/feed.rss")} />
        <link rel="alternate" type="application/atom+xml" title="Atom" href={to("/feed.atom")} />
        {listChoices(document).map(({ tag, href }) => (
          <link rel="alternate" hrefLang={tag} href={href} key={tag} />
        ))}
        {isPreview ? (
          <base target="_blank" />
        ) : (
          <script
            src={resolveAsset("status.js")}
            data-words={JSON.stringify(listScriptTexts(language))}
            defer
          />
        )}
        {copy && <script src={resolveAsset("copy.js")} defer />}
      </head>
      <body>
        <div className={listLookClasses(page.look)}>
          <header className="top">
            <a className="name" href={to("")}>
              {page.logoUrl === null ? (
                <Mark tone={tone} />
              ) : (
                <img src={page.logoUrl} alt="" height={logoHeights[page.look.logoSize]} />
              )}
              <b dir="auto">{page.title}</b>
            </a>
            <a className="updates" href={to("/subscribe")}>
              <Bell /> {language.translate("getUpdates")}
            </a>
            <Links links={page.look.headerLinks} />
          </header>
          {copy && <AsOf copy={copy} document={document} />}
          {document.past !== undefined && <PastTime at={document.past} document={document} />}
          <main id="status">
            {banner !== null && (
              <aside className={`banner ${bannerTones[banner.tone]}-soft`}>
                <WrittenText text={banner.text} words={words} lang={findTextLanguage(document)} />
              </aside>
            )}
            {content}
          </main>
          <footer>
            <span>{language.translate("timesIn", { zone: page.timeZone })}</span>{" "}
            <span className="links">
              <a href={to("/feed.rss")}>RSS</a> <a href={to("/feed.atom")}>Atom</a>{" "}
              <a href={to("/maintenance.ics")}>{language.translate("calendar")}</a>{" "}
              <a href={to(".json")}>JSON</a> <span>Signalbox</span>
            </span>
            <Links links={page.look.footerLinks} />
            <Languages document={document} />
          </footer>
        </div>
      </body>
    </html>,
  )}`;
}

const bannerTones = {
  neutral: "none",
  good: "up",
  notice: "maintenance",
  warning: "degraded",
  critical: "down",
} as const;

/** Returns the attributes of the root element. */
export function writeRoot({ view: { page }, language, isPreview = false }: PageDocument) {
  // The frame of a preview blocks style attributes.
  const style = isPreview ? {} : buildLookStyle(page);
  return {
    lang: language.tag,
    dir: language.dir,
    "data-theme": page.theme,
    ...(Object.keys(style).length > 0 && { style: style as CSSProperties }),
  };
}

/** The title, font and styles of a document. */
export function DocumentHead({ document, title }: { document: PageDocument; title: string }) {
  const { copy, view } = document;
  const { page } = view;
  const resolveAsset = resolverOf(document);
  return (
    <>
      <meta charSet="utf-8" />
      {copy && <meta httpEquiv="Content-Security-Policy" content={copyPolicy} />}
      <meta name="viewport" content="width=device-width,initial-scale=1" />
      <meta name="color-scheme" content={page.theme === "auto" ? "light dark" : page.theme} />
      <title>{title}</title>
      {page.files.fontStyle !== null && <link rel="stylesheet" href={page.files.fontStyle} />}
      {page.look.font === "inter" && page.files.fontStyle === null && (
        <link
          rel="preload"
          href={resolveAsset("inter-latin.woff2")}
          as="font"
          type="font/woff2"
          crossOrigin="anonymous"
        />
      )}
      <link rel="stylesheet" href={resolveAsset("status.css")} />
      {page.files.stylesheet !== null && !document.isPreview && (
        <link rel="stylesheet" href={page.files.stylesheet} />
      )}
    </>
  );
}

/** Links of the organization, such as to its website. */
function Links({ links }: { links: Look["headerLinks"] }) {
  if (links.length === 0) return null;
  return (
    <ul className="own-links">
      {links.map(({ label, url }, index) => (
        <li key={index}>
          <a href={url} rel="noopener" dir="auto">
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}

const resolverOf = ({ copy }: PageDocument) => copy?.resolveAsset ?? resolvePublicAsset;

/** The part of the public pages' policy that a document can declare. A copy sends no forms. */
const copyPolicy = contentSecurityPolicy
  .replace("form-action 'self'", "form-action 'none'")
  .replace(/; frame-ancestors [^;]*/, "");

/** The time of the last publication. The script updates it, and warns if it is old. */
function AsOf({ copy, document }: { copy: StaticCopy; document: PageDocument }) {
  const { language, view } = document;
  const { isOverview, asOfPath, asOf } = copy;
  const words = { asOf: language.around("asOf"), outdated: language.translate("copyOutdated") };
  return (
    <p
      id="as-of"
      role="status"
      data-source={asOfPath}
      data-zone={view.page.timeZone}
      data-words={JSON.stringify(words)}
    >
      {isOverview && <Sentence parts={language.split("asOf", { time: <Time moment={asOf} /> })} />}
    </p>
  );
}

/** The past time that the page shows, and the way back to now. */
function PastTime({ at, document }: { at: string; document: PageDocument }) {
  const { language, view, to } = document;
  const { full } = createTimeFormats(language, view.page.timeZone, Date.parse(at));
  return (
    <p id="past">
      <b>
        <Sentence parts={language.split("pageAsOf", { time: <Time moment={full(at)} /> })} />
      </b>{" "}
      <a href={to("")}>{language.translate("backToNow")}</a>
    </p>
  );
}

/** Returns the languages of the page, each with the address of this page in it; none if there is no choice. */
function listChoices(document: PageDocument) {
  const { view, isPreview = false, copy, past } = document;
  const { page } = view;
  const { query = past === undefined ? "" : `at=${past}` } = document;
  const offered = listOffered(page);
  if (offered.length === 1 || isPreview) return [];
  if (copy) return offered.map((tag) => ({ tag, href: copy.inLanguage(tag) }));
  const prefix = query === "" ? "" : `${query}&`;
  return offered.map((tag) => ({ tag, href: `?${prefix}lang=${tag}` }));
}

function Languages({ document }: { document: PageDocument }) {
  const { language } = document;
  const choices = listChoices(document);
  if (choices.length === 0) return null;
  return (
    <nav className="languages" aria-label={language.translate("languages")}>
      {choices.map(({ tag, href }) => (
        <a
          href={href}
          lang={tag}
          hrefLang={tag}
          aria-current={tag === language.tag ? "true" : undefined}
          key={tag}
        >
          {nameLanguage(tag)}
        </a>
      ))}
    </nav>
  );
}

const scriptTexts = ["uptime", "keyDay", "keyOpen", "keyClose"] as const satisfies TextKey[];
const dayParts = [
  ["up", "dayUp"],
  ["down", "dayDown"],
  ["degraded", "dayDegraded"],
  ["maintenance", "dayMaintenance"],
] as const;

/** Returns the texts of the page's script. `parts` has the texts before and after the value of each part of a day. */
function listScriptTexts(language: Language) {
  return {
    ...Object.fromEntries(scriptTexts.map((key) => [key, language.translate(key)])),
    separator: language.translate("separator"),
    severities: Object.fromEntries(severities.map((key) => [key, language.translate(key)])),
    parts: dayParts.map(([tone, key]) => [
      tone,
      language.translate(tone === "up" ? "uptime" : tone),
      ...language.around(key),
    ]),
  };
}

/** Returns the icon of the browser tab: a dot in the color of the state. */
function renderFavicon(tone: Tone): string {
  const dotColors = {
    up: "12805c",
    degraded: "9a6200",
    down: "c2273b",
    maintenance: "5a4fc9",
    none: "77746d",
  };
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23${dotColors[tone]}'/%3E%3C/svg%3E`;
}

export function BackLink({ to, language }: Pick<PageDocument, "to" | "language">) {
  const arrow = arrowsOf(language).back;
  return (
    <p className="back">
      <a href={to("")}>
        {arrow} {language.translate("currentStatus")}
      </a>
    </p>
  );
}

/** Returns the arrows of links, in the direction of writing. */
export const arrowsOf = ({ dir }: Language) =>
  dir === "rtl" ? { back: "→", forward: "←" } : { back: "←", forward: "→" };

export function Time({ moment: { at, text } }: { moment: Moment }) {
  return <time dateTime={at}>{text}</time>;
}
