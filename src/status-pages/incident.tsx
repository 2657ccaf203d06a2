/** Renders incidents as HTML: on the overview, in lists of past incidents, and one incident on a page. */
import { Fragment } from "react";
import {
  arrowsOf,
  BackLink,
  renderDocument,
  type PageDocument,
  Sentence,
  Time,
  WrittenText,
  findTextLanguage,
} from "./layout.tsx";
import type { Language } from "./languages/language.ts";
import type { IncidentView } from "./rendering/view.ts";

const maxNames = 10;

export function Names({ names, language }: { names: readonly string[]; language: Language }) {
  const listedNames = names.slice(0, maxNames).map((name) => <b dir="auto">{name}</b>);
  const more = names.length - maxNames;
  if (more > 0)
    return <Sentence parts={language.splitList([...listedNames, language.count("more", more)])} />;
  return listedNames.map((name, index) => (
    <Fragment key={index}>
      {index > 0 && language.translate("separator")}
      {name}
    </Fragment>
  ));
}

type IncidentProps = {
  incident: IncidentView;
  document: PageDocument;
  /** Whether the incident has the page to itself, with its whole timeline. */
  isWhole?: boolean;
  /** Whether later updates are on another page. */
  isContinued?: boolean;
};

export function Incident({
  incident,
  document,
  isWhole = false,
  isContinued = false,
}: IncidentProps) {
  const { words, language, to } = document;
  const { id, title, severity, tone, affects, began, isOpen, length, updates, postmortem } =
    incident;
  const Title = isWhole ? "h1" : "h2";
  const folded = isWhole ? [] : updates.slice(1);
  const path = `/incidents/${id}`;
  const last = updates.at(-1);
  return (
    <article className={`inc ${isOpen ? tone : "over"}`}>
      <header>
        <span className={`sev ${tone}`}>{severity}</span>
        <Title dir="auto" lang={incident.isTitled ? findTextLanguage(document) : undefined}>
          <a href={to(path)}>{title}</a>
        </Title>
        <span className="when">
          <Time moment={began} />
        </span>
      </header>
      <p className="aff">
        {affects.length > 0 && (
          <>
            <Sentence
              parts={language.split("affects", {
                names: <Names names={affects} language={language} />,
              })}
            />{" "}
            ·{" "}
          </>
        )}
        {language.translate(isOpen ? "openFor" : "lasted", { duration: length })}
        {isWhole && <PastPageLink incident={incident} document={document} />}
      </p>
      {isWhole && postmortem !== null && (
        <section id="postmortem">
          <h2>{language.translate("postmortem")}</h2>
          <WrittenText text={postmortem.message} words={words} lang={findTextLanguage(document)} />
          <p className="posted">
            <Sentence
              parts={language.split("published", { time: <Time moment={postmortem.published} /> })}
            />
          </p>
        </section>
      )}
      {isContinued && (
        <p className="more">
          <a href={to(path)}>
            {arrowsOf(language).back} {language.translate("latestUpdates")}
          </a>
        </p>
      )}
      <Updates updates={isWhole ? updates : updates.slice(0, 1)} document={document} />
      {folded.length > 0 && (
        <details id={`earlier-${id}`}>
          <summary>{language.count("earlierUpdates", folded.length + incident.earlier)}</summary>
          <Updates updates={folded} document={document} />
          {incident.earlier > 0 && (
            <EarlierUpdatesLink count={incident.earlier} address={to(path)} language={language} />
          )}
        </details>
      )}
      {folded.length === 0 && incident.earlier > 0 && (
        <EarlierUpdatesLink
          count={incident.earlier}
          address={to(isWhole && last !== undefined ? `${path}?before=${last.id}` : path)}
          language={language}
        />
      )}
    </article>
  );
}

/** Link to the status page at the start of the incident. */
function PastPageLink({
  incident: { pastTime, isOpen },
  document: { view, language, to, isPreview = false, copy },
}: {
  incident: IncidentView;
  document: PageDocument;
}) {
  const isShown = !isOpen && !isPreview && copy === undefined;
  if (!isShown || pastTime === null || pastTime < view.page.createdAt) return null;
  return (
    <>
      {" "}
      · <a href={to(`/?at=${pastTime}`)}>{language.translate("pageThen")}</a>
    </>
  );
}

/** Link to earlier updates. */
function EarlierUpdatesLink({
  count,
  address,
  language,
}: {
  count: number;
  address: string;
  language: Language;
}) {
  return (
    <p className="more">
      <a href={address}>
        {language.count("earlierUpdates", count)} {arrowsOf(language).forward}
      </a>
    </p>
  );
}

function Updates({
  updates,
  document: { words, language },
}: Pick<IncidentView, "updates"> & { document: PageDocument }) {
  return (
    <ol className="timeline">
      {updates.map((update) => (
        <li key={update.id}>
          <b>{update.status}</b>{" "}
          <span className="posted">
            <Time moment={update.time} />
            {update.edited !== null && (
              <>
                {" "}
                ·{" "}
                <Sentence
                  parts={language.split("edited", { time: <Time moment={update.edited} /> })}
                />
              </>
            )}
          </span>
          <WrittenText text={update.message} words={words} lang={update.lang} />
        </li>
      ))}
    </ol>
  );
}

type PastProps = {
  incidents: readonly IncidentView[];
  document: PageDocument;
  level: "h2" | "h3";
};

/** Lists incidents, one row each, with severity, time and duration. */
export function IncidentRows({ incidents, document, level: Title }: PastProps) {
  const { words, language, to } = document;
  return incidents.map((incident) => {
    const { id, title, severity, tone, day, hours, length, isOpen, summary, postmortem } = incident;
    const lang = incident.updates[0]?.lang ?? undefined;
    return (
      <article className="row" key={id}>
        <span className="day">{day}</span> <span className={`sev ${tone}`}>{severity}</span>
        <Title dir="auto" lang={incident.isTitled ? findTextLanguage(document) : undefined}>
          <a href={to(`/incidents/${id}`)}>{title}</a>
        </Title>
        <span className="when">
          {hours}
          {language.translate("separator")}
          {isOpen ? language.translate("openFor", { duration: length }) : length}
        </span>
        {(summary !== "" || postmortem !== null) && (
          <p dir="auto">
            <span lang={lang}>{formatInOneLine(words(summary).text)}</span>
            {postmortem !== null && (
              <>
                {" "}
                <a href={to(`/incidents/${id}#postmortem`)}>{language.translate("postmortem")}</a>
              </>
            )}
          </p>
        )}
      </article>
    );
  });
}

type IncidentPageOptions = {
  /** Full address of the status page; null if links to it can't be shared. */
  url?: string | null;
  isContinued?: boolean;
};

/** Renders the page of one incident with its whole timeline. */
export function renderIncidentPage(
  document: PageDocument,
  incident: IncidentView,
  { url = null, isContinued = false }: IncidentPageOptions = {},
): string {
  const { view } = document;
  return renderDocument(
    document,
    `${incident.title} – ${view.page.title}`,
    <>
      <BackLink {...document} />
      <Incident incident={incident} document={document} isWhole isContinued={isContinued} />
    </>,
    url !== null && <LinkPreview document={document} incident={incident} url={url} />,
  );
}

type LinkPreviewProps = {
  document: PageDocument;
  incident: IncidentView;
  url: string;
};

/** Metadata for link previews in chats and social networks: https://ogp.me */
function LinkPreview({ document, incident, url }: LinkPreviewProps) {
  const { words, language } = document;
  const { page } = document.view;
  const label = incident.updates[0]?.status ?? "";
  const description = language.translate("labeled", {
    label,
    text: formatInOneLine(words(incident.summary).text),
  });
  const properties = {
    type: "article",
    site_name: page.title,
    title: incident.title,
    description: description.slice(0, 300),
    url: `${url}/incidents/${incident.id}`,
    ...(page.logoUrl !== null && { image: new URL(page.logoUrl, url).href }),
  };
  return Object.entries(properties).map(([name, content]) => (
    <meta key={name} property={`og:${name}`} content={content} />
  ));
}

/** Joins the lines of a message, so that list items don't start new lines. */
const formatInOneLine = (text: string) => text.replaceAll("\n\n- ", " ").replaceAll("\n- ", " · ");
