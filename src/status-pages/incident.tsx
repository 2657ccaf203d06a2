/** Renders incidents as HTML: on the overview, in lists of past incidents, and one incident on a page. */
import { Fragment } from "react";
import { formatCount } from "../core/text/formatting.ts";
import { BackLink, renderDocument, type PageDocument, Time } from "./layout.tsx";
import { describeEarlierUpdates, type IncidentView } from "./rendering/view.ts";
import type { RenderText } from "./rendering/words.ts";

/** A text by people, rendered from Markdown. */
export function Written({ text, words }: { text: string; words: RenderText }) {
  return <div className="md" dangerouslySetInnerHTML={{ __html: words(text).html }} />;
}

const maxNames = 10;

export function Names({ names }: { names: readonly string[] }) {
  const more = names.length - maxNames;
  return (
    <>
      {names.slice(0, maxNames).map((name, index) => (
        <Fragment key={index}>
          {index > 0 && ", "}
          <b dir="auto">{name}</b>
        </Fragment>
      ))}
      {more > 0 && ` and ${formatCount(more)} more`}
    </>
  );
}

type IncidentProps = {
  incident: IncidentView;
  words: RenderText;
  base: string;
  /** Whether the incident has the page to itself, with its whole timeline. */
  isWhole?: boolean;
  /** Whether later updates are on another page. */
  isContinued?: boolean;
};

export function Incident({
  incident,
  words,
  base,
  isWhole = false,
  isContinued = false,
}: IncidentProps) {
  const { id, title, severity, tone, affects, began, isOpen, length, updates, postmortem } =
    incident;
  const Title = isWhole ? "h1" : "h2";
  const folded = isWhole ? [] : updates.slice(1);
  const address = `${base}/incidents/${id}`;
  const last = updates.at(-1);
  return (
    <article className={`inc ${isOpen ? tone : "over"}`}>
      <header>
        <span className={`sev ${tone}`}>{severity}</span>
        <Title dir="auto">
          <a href={`${base}/incidents/${id}`}>{title}</a>
        </Title>
        <span className="when">
          <Time moment={began} />
        </span>
      </header>
      <p className="aff">
        {affects.length > 0 && (
          <>
            Affects <Names names={affects} /> ·{" "}
          </>
        )}
        {isOpen ? "for" : "lasted"} {length}
      </p>
      {isWhole && postmortem !== null && (
        <section id="postmortem">
          <h2>Postmortem</h2>
          <Written text={postmortem.message} words={words} />
          <p className="posted">
            Published <Time moment={postmortem.published} />
          </p>
        </section>
      )}
      {isContinued && (
        <p className="more">
          <a href={address}>← Latest updates</a>
        </p>
      )}
      <Updates updates={isWhole ? updates : updates.slice(0, 1)} words={words} />
      {folded.length > 0 && (
        <details id={`earlier-${id}`}>
          <summary>{describeEarlierUpdates(folded.length + incident.earlier)}</summary>
          <Updates updates={folded} words={words} />
          {incident.earlier > 0 && <Earlier count={incident.earlier} address={address} />}
        </details>
      )}
      {folded.length === 0 && incident.earlier > 0 && (
        <Earlier
          count={incident.earlier}
          address={isWhole && last !== undefined ? `${address}?before=${last.id}` : address}
        />
      )}
    </article>
  );
}

/** Link to earlier updates. */
function Earlier({ count, address }: { count: number; address: string }) {
  return (
    <p className="more">
      <a href={address}>{describeEarlierUpdates(count)} →</a>
    </p>
  );
}

function Updates({ updates, words }: Pick<IncidentView, "updates"> & { words: RenderText }) {
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
                · Edited <Time moment={update.edited} />
              </>
            )}
          </span>
          <Written text={update.message} words={words} />
        </li>
      ))}
    </ol>
  );
}

type PastProps = {
  incidents: readonly IncidentView[];
  words: RenderText;
  base: string;
  level: "h2" | "h3";
};

/** Lists incidents, one row each, with severity, time and duration. */
export function Past({ incidents, words, base, level: Title }: PastProps) {
  return incidents.map(
    ({ id, title, severity, tone, day, hours, length, isOpen, summary, postmortem }) => (
      <article className="row" key={id}>
        <span className="day">{day}</span> <span className={`sev ${tone}`}>{severity}</span>
        <Title dir="auto">
          <a href={`${base}/incidents/${id}`}>{title}</a>
        </Title>
        <span className="when">
          {hours}, {isOpen ? `for ${length}` : length}
        </span>
        {(summary !== "" || postmortem !== null) && (
          <p dir="auto">
            {words(summary).text}
            {postmortem !== null && (
              <>
                {" "}
                <a href={`${base}/incidents/${id}#postmortem`}>Postmortem</a>
              </>
            )}
          </p>
        )}
      </article>
    ),
  );
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
  const { view, words, base } = document;
  return renderDocument(
    document,
    `${incident.title} – ${view.page.title}`,
    <>
      <BackLink base={base} />
      <Incident incident={incident} words={words} base={base} isWhole isContinued={isContinued} />
    </>,
    url !== null && <LinkPreview page={view.page} incident={incident} words={words} url={url} />,
  );
}

type LinkPreviewProps = {
  page: PageDocument["view"]["page"];
  incident: IncidentView;
  words: RenderText;
  url: string;
};

/** Metadata for link previews in chats and social networks: https://ogp.me */
function LinkPreview({ page, incident, words, url }: LinkPreviewProps) {
  const status = incident.updates[0]?.status ?? "";
  const properties = {
    type: "article",
    site_name: page.title,
    title: incident.title,
    description: `${status}: ${words(incident.summary).text}`.slice(0, 300),
    url: `${url}/incidents/${incident.id}`,
    ...(page.logoUrl !== null && { image: new URL(page.logoUrl, url).href }),
  };
  return Object.entries(properties).map(([name, content]) => (
    <meta key={name} property={`og:${name}`} content={content} />
  ));
}
