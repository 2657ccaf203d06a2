import { renderToStaticMarkup } from "react-dom/server";
import { BackLink, documentOf, type PageDocument, Time } from "./layout.tsx";
import type { History } from "./history.ts";
import { StateIcon } from "./icons.tsx";
import type { DayView, IncidentView, MonitorView, StatusView, Tone } from "./view.ts";

/** Stands where a section's content comes; nobody's text holds it, since theirs is escaped. */
const gap = "<!--section-->";

/** The page as HTML, complete without script: in pieces, each of which is made when it is its turn. */
export function* statusPage(document: PageDocument): Generator<string> {
  const { view, base } = document;
  const overview = <Overview view={view} base={base} />;
  const between = documentOf(document, view.page.title, overview).split(gap);
  for (const [index, piece] of between.entries()) {
    yield piece;
    const section = view.sections[index];
    if (section !== undefined) yield* sectionPieces(section, base);
  }
}

/** One incident with its whole timeline. */
export function incidentPage(document: PageDocument, incident: IncidentView): string {
  const { view, base } = document;
  return documentOf(
    document,
    `${incident.title} – ${view.page.title}`,
    <>
      <BackLink base={base} />
      <Incident incident={incident} base={base} level="h1" />
    </>,
  );
}

/** The incidents of one month. */
export function historyPage(document: PageDocument, history: History): string {
  const { view, base } = document;
  const { month, days, earlier, later } = history;
  return documentOf(
    document,
    `Incidents, ${month} – ${view.page.title}`,
    <>
      <BackLink base={base} />
      <h1 className="month">{month}</h1>
      {days.length === 0 && <p className="quiet">No incidents.</p>}
      {days.map(({ day, incidents }) => (
        <Day key={day} day={day} incidents={incidents} base={base} level="h2" />
      ))}
      <nav className="months" aria-label="Months">
        {earlier === null ? <span /> : <a href={`${base}/history?month=${earlier}`}>← Earlier</a>}
        {later !== null && <a href={`${base}/history?month=${later}`}>Later →</a>}
      </nav>
    </>,
  );
}

function Overview({ view, base }: { view: StatusView; base: string }) {
  const { page, headline, incidents, windows, sections, past } = view;
  return (
    <>
      {page.description !== "" && (
        <p className="about" dir="auto">
          {page.description}
        </p>
      )}
      <section className={`hero ${headline.tone}-soft`}>
        <StateIcon tone={headline.tone} size={30} />
        <div>
          <h1>{headline.text}</h1>
          <p>{headline.detail}</p>
        </div>
      </section>
      {incidents.map((incident) => (
        <Incident key={incident.id} incident={incident} base={base} level="h2" />
      ))}
      {windows.map(({ id, title, description, time, isRunning }) => (
        <article className="window" key={`${id} ${time}`}>
          <header>
            <StateIcon tone="maintenance" />
            <h2 dir="auto">{title}</h2>
            <span className="when">{isRunning ? `Under way, ${time}` : time}</span>
          </header>
          {description !== "" && <p dir="auto">{description}</p>}
        </article>
      ))}
      {sections.some(({ monitors }) => monitors.length > 0) && (
        <div className="legend" aria-hidden="true">
          <span>{page.historyDays} days ago</span>
          <span className="keys">
            {(["up", "degraded", "down", "maintenance"] as const).map((tone) => (
              <span key={tone}>
                <StateIcon tone={tone} size={12} /> {tone}
              </span>
            ))}
          </span>
          <span>Today</span>
        </div>
      )}
      {sections.map((_, index) => (
        <section className="sec" key={index} dangerouslySetInnerHTML={{ __html: gap }} />
      ))}
      <section className="past">
        <h2>Past incidents</h2>
        {folded(past).map(({ day, incidents }) => (
          <Day key={day} day={day} incidents={incidents} base={base} level="h3" />
        ))}
        <p className="more">
          <a href={`${base}/history`}>All incidents →</a>
        </p>
      </section>
    </>
  );
}

/** Days in a row on which nothing happened are one entry. */
function folded(past: StatusView["past"]): StatusView["past"] {
  return past.reduce<{ day: string; last: string; incidents: IncidentView[] }[]>(
    (all, { day, incidents }) => {
      const before = all.at(-1);
      if (incidents.length > 0 || before === undefined || before.incidents.length > 0)
        return [...all, { day, last: day, incidents }];
      before.day = `${day} – ${before.last}`;
      return all;
    },
    [],
  );
}

/** Beyond so many days bars stand without gaps, or they would not fit. */
const denseFrom = 170;

/** Written by hand, because there are thousands: one piece a monitor. */
function* sectionPieces(
  { name, monitors }: StatusView["sections"][number],
  base: string,
): Generator<string> {
  yield `<h2 dir="auto">${Bun.escapeHTML(name)}</h2>`;
  if (monitors.length === 0) yield '<p class="quiet">Nothing is shown here yet.</p>';
  for (const monitor of monitors) yield* monitorPieces(monitor, base);
}

const icons = new Map<Tone, string>();

function iconOf(tone: Tone): string {
  const icon = icons.get(tone) ?? renderToStaticMarkup(<StateIcon tone={tone} />);
  icons.set(tone, icon);
  return icon;
}

function* monitorPieces(monitor: MonitorView, base: string): Generator<string> {
  const { name, description, tone, word, uptime, since, latency, daysBetween, settled, marks } =
    monitor;
  const count = monitor.historyDays;
  const state = `<span class="${word === "" ? "hidden" : "word"}">${word || "Up"}</span>`;
  const took = latency === null ? "" : `<span class="latency">${Bun.escapeHTML(latency)}</span>`;
  const incidents = marks.map(({ id, ...mark }) => ({ ...mark, url: `${base}/incidents/${id}` }));
  const marked =
    marks.length === 0 ? "" : ` data-incidents="${Bun.escapeHTML(JSON.stringify(incidents))}"`;
  const began = since === null ? "" : `<span class="since">${since}</span>`;
  const about =
    description === null ? "" : `<p class="about" dir="auto">${Bun.escapeHTML(description)}</p>`;
  yield `<div class="comp"><div class="line"><span class="what">${iconOf(tone)}<b dir="auto">${Bun.escapeHTML(name)}</b>${state}</span>${began}<span class="num">${took}${uptime}</span></div>${about}<div class="bars${count > denseFrom ? " dense" : ""}"${marked} role="img" aria-label="Uptime ${since ?? `of ${count} days`}: ${uptime}">`;
  yield settledBars(monitor);
  yield `${barsOf(daysBetween(settled.count, count))}</div></div>`;
}

/** Bars of days that don't change any more: of 90,000 on a large page only those of two days are written again. */
const writtenBars = new WeakMap<object, { id: string; bars: string }>();

function settledBars({ daysBetween, settled: { of, count, until } }: MonitorView): string {
  const id = `${count} ${until}`;
  const written = writtenBars.get(of);
  if (written?.id === id) return written.bars;
  const bars = barsOf(daysBetween(0, count));
  writtenBars.set(of, { id, bars });
  return bars;
}

/** In ASCII, which takes half the memory. */
function barsOf(days: readonly DayView[]): string {
  return days.map(bar).join("").replaceAll("\u2009", "&#8201;");
}

function bar({ tone, text }: DayView): string {
  return tone === "up" ? `<i title="${text}"></i>` : `<i class="${tone}" title="${text}"></i>`;
}

type IncidentProps = { incident: IncidentView; base: string; level: "h1" | "h2" };

function Incident({ incident, base, level: Title }: IncidentProps) {
  const { id, title, severity, tone, affects, began, isOpen, length, updates } = incident;
  return (
    <article className={`inc ${isOpen ? tone : "over"}`}>
      <header>
        <span className={`sev ${tone}`}>{severity}</span>
        <Title dir="auto">
          <a href={`${base}/incidents/${id}`}>{title}</a>
        </Title>
      </header>
      <p className="aff">
        {affects !== null && (
          <>
            Affects <b dir="auto">{affects}</b> ·{" "}
          </>
        )}
        began <Time moment={began} />, {isOpen ? `${length} ago` : `lasted ${length}`}
      </p>
      <ol>
        {updates.map((update) => (
          <li key={update.id}>
            <b>{update.status}</b>
            <p dir="auto">{update.message}</p>
            <Time moment={update.time} />
          </li>
        ))}
      </ol>
    </article>
  );
}

type DayProps = {
  day: string;
  incidents: readonly IncidentView[];
  base: string;
  /** Below the overview, which tells of open incidents itself, days are h3. */
  level: "h2" | "h3";
};

function Day({ day, incidents, base, level: Title }: DayProps) {
  return (
    <div className="day">
      <Title>{day}</Title>
      {incidents.length === 0 && <p>No incidents.</p>}
      {incidents.map(({ id, title, isOpen, length, summary }) => (
        <p key={id}>
          <a href={`${base}/incidents/${id}`}>
            <b dir="auto">{title}</b>
          </a>{" "}
          {isOpen ? "is being worked on." : `resolved after ${length}.`}{" "}
          {(!isOpen || Title === "h2") && <bdi>{summary}</bdi>}
        </p>
      ))}
    </div>
  );
}
