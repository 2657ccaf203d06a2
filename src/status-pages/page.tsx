/** Renders the overview of a status page, and its incidents month by month, as HTML. */
import { Fragment } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { BackLink, renderDocument, type PageDocument } from "./layout.tsx";
import type { History } from "./formats/history.ts";
import { StateIcon } from "./icons.tsx";
import { Incident, Names, Past, Written } from "./incident.tsx";
import type { DayView, MonitorView, StatusView, Tone, WorkView } from "./rendering/view.ts";
import { formatMaintenanceAnchor, recentDays } from "./rendering/view.ts";
import type { RenderText } from "./rendering/words.ts";

/** Placeholder for the content of a section. It can't occur in people's texts, because those are escaped. */
const sectionsPlaceholder = "<!--section-->";

/** Renders the overview, which needs no script. Each piece is rendered when it is consumed. */
export function* renderStatusPage(document: PageDocument): Generator<string> {
  const { view } = document;
  const overview = <Overview document={document} />;
  const between = renderDocument(document, view.page.title, overview).split(sectionsPlaceholder);
  for (const [index, piece] of between.entries()) {
    yield piece;
    const section = view.sections[index];
    if (section !== undefined) yield* renderSection(section, document);
  }
}

/** Renders the page with the incidents of one month. */
export function renderHistoryPage(document: PageDocument, history: History): string {
  const { view, words, base } = document;
  const { month, incidents, earlier, later } = history;
  return renderDocument(
    document,
    `Incidents, ${month} – ${view.page.title}`,
    <>
      <BackLink base={base} />
      <h1 className="month">{month}</h1>
      {incidents.length === 0 && <p className="quiet">No incidents.</p>}
      <Past incidents={incidents} words={words} base={base} level="h2" />
      <nav className="months" aria-label="Months">
        {earlier === null ? <span /> : <a href={`${base}/history?month=${earlier}`}>← Earlier</a>}
        {later !== null && <a href={`${base}/history?month=${later}`}>Later →</a>}
      </nav>
    </>,
  );
}

function Overview({ document: { view, words, base } }: { document: PageDocument }) {
  const { page, headline, incidents, running, scheduled, sections, past, pastDays } = view;
  return (
    <>
      {page.description !== "" && (
        <div className="about">
          <Written text={page.description} words={words} />
        </div>
      )}
      <section className={`hero ${headline.tone}-soft`}>
        <StateIcon tone={headline.tone} size={30} />
        <div>
          <h1>
            {headline.words.map((word, index) =>
              typeof word === "string" ? word : <bdi key={index}>{word.name}</bdi>,
            )}
          </h1>
          <p>{headline.detail}</p>
        </div>
      </section>
      {incidents.map((incident) => (
        <Incident key={incident.id} incident={incident} words={words} base={base} />
      ))}
      {running.length > 0 && (
        <Maintenance title="Maintenance in progress" work={running} words={words} />
      )}
      {sections.some(({ monitors }) => monitors.length > 0) && (
        <div className="legend" aria-hidden="true">
          <span>
            <span className="whole">{page.historyDays}</span>{" "}
            <span className="recent" hidden>
              {Math.min(recentDays, page.historyDays)}
            </span>{" "}
            days, today on the right
          </span>
          <span className="keys">
            {legend.map(([tone, word]) => (
              <span key={tone}>
                <StateIcon tone={tone} size={12} /> {word}
              </span>
            ))}
          </span>
        </div>
      )}
      {sections.map((_, index) => (
        <section
          className="sec"
          key={index}
          dangerouslySetInnerHTML={{ __html: sectionsPlaceholder }}
        />
      ))}
      {scheduled.length > 0 && (
        <Maintenance title="Scheduled maintenance" work={scheduled} words={words} />
      )}
      <section className="past">
        <h2>Past incidents</h2>
        {past.length === 0 && <p className="quiet">No incidents in the last {pastDays} days.</p>}
        <Past incidents={past} words={words} base={base} level="h3" />
        <p className="more">
          <a href={`${base}/history`}>All incidents →</a>
        </p>
      </section>
    </>
  );
}

const legend = [
  ["up", "Up"],
  ["degraded", "Degraded"],
  ["down", "Down"],
  ["maintenance", "Maintenance"],
  ["none", "No data"],
] as const;

/** Maintenance windows that are visible at first; later ones are folded. */
const maxUnfolded = 5;

type WorkProps = { work: readonly WorkView[]; words: RenderText };

function Maintenance({ title, work, words }: WorkProps & { title: string }) {
  const folded = work.slice(maxUnfolded);
  return (
    <section className="window">
      <h2>
        <StateIcon tone="maintenance" /> {title}
      </h2>
      <Work work={work.slice(0, maxUnfolded)} words={words} />
      {folded.length > 0 && (
        <details id={`more-${folded[0]?.id}`}>
          <summary>{folded.length} more</summary>
          <Work work={folded} words={words} />
        </details>
      )}
    </section>
  );
}

function Work({ work, words }: WorkProps) {
  return work.map(({ id, title, description, affects, times: [next, ...later] }) => (
    <article key={id} id={next && formatMaintenanceAnchor(next.id)}>
      <header>
        <h3 dir="auto">{title}</h3>
        <span className="when">{next?.text}</span>
      </header>
      {description !== "" && <Written text={description} words={words} />}
      {affects.length > 0 && (
        <p>
          Affects <Names names={affects} />
        </p>
      )}
      {later.length > 0 && (
        <p>
          Then{" "}
          {later.map((time, index) => (
            <Fragment key={time.id}>
              {index > 0 && ", and "}
              <span id={formatMaintenanceAnchor(time.id)}>{time.text}</span>
            </Fragment>
          ))}
        </p>
      )}
    </article>
  ));
}

/** With more days than this, bars have no gaps, so that they fit into the page. */
const denseFrom = 170;

/** Renders a section as strings, because React would be slow for thousands of monitors. */
function* renderSection(
  { name, monitors }: StatusView["sections"][number],
  document: PageDocument,
): Generator<string> {
  yield `<h2 dir="auto">${Bun.escapeHTML(name)}</h2>`;
  if (monitors.length === 0) yield '<p class="quiet">Nothing is shown here yet.</p>';
  for (const monitor of monitors) yield* renderMonitor(monitor, document);
}

const icons = new Map<Tone, string>();

function renderIcon(tone: Tone): string {
  const icon = icons.get(tone) ?? renderToStaticMarkup(<StateIcon tone={tone} />);
  icons.set(tone, icon);
  return icon;
}

function* renderMonitor(monitor: MonitorView, { words, base }: PageDocument): Generator<string> {
  const { name, description, tone, word, lastKnown, figures, latency } = monitor;
  const { daysBetween, settled, marks } = monitor;
  const { uptime, since } = figures;
  const count = monitor.historyDays;
  const took = latency === null ? "" : `<span class="latency">${Bun.escapeHTML(latency)}</span>`;
  const incidents = marks.map(({ id, ...mark }) => ({ ...mark, url: `${base}/incidents/${id}` }));
  const marked =
    marks.length === 0 ? "" : ` data-incidents="${Bun.escapeHTML(JSON.stringify(incidents))}"`;
  const recent = count > recentDays ? monitor.recentFigures : figures;
  const about =
    description === null ? "" : `<div class="about md">${words(description).html}</div>`;
  const known = lastKnown === null ? "" : `<p class="quiet">${Bun.escapeHTML(lastKnown)}</p>`;
  yield `<div class="comp"><div class="line"><span class="what">${renderIcon(tone)}<b dir="auto">${Bun.escapeHTML(name)}</b></span> ${renderByWidth("since", since, recent.since)} <span class="num">${took} <span class="word ${tone}">${word}</span> ${renderByWidth("uptime", uptime, recent.uptime)}</span></div>${known}${about}<div class="bars${count > denseFrom ? " dense" : ""}"${marked} role="img" aria-label="Uptime ${since ?? `of ${count} days`}: ${uptime}">`;
  yield renderSettledBars(monitor);
  yield `${renderBars(daysBetween(settled.count, count))}</div></div>`;
}

/** Wraps a figure in a `span`. Text for narrow windows stays hidden without the style sheet. */
function renderSpan(names: string, text: string): string {
  return `<span class="${names}"${names.endsWith("recent") ? " hidden" : ""}>${text}</span>`;
}

/** Renders a figure of all days, and the figure that narrow windows show instead. */
function renderByWidth(name: string, whole: string | null, recent: string | null): string {
  if (whole === recent) return whole === null ? "" : renderSpan(name, whole);
  const wide = whole === null ? "" : renderSpan(`${name} whole`, whole);
  const narrow = recent === null ? "" : renderSpan(`${name} recent`, recent);
  return `${wide} ${narrow}`;
}

/** Cached bars of days that no longer change. A large page has 90,000 days; only two per monitor are rendered again. */
const writtenBars = new WeakMap<object, { id: string; bars: string }>();

function renderSettledBars({ daysBetween, settled: { of, count, until } }: MonitorView): string {
  const id = `${count} ${until}`;
  const written = writtenBars.get(of);
  if (written?.id === id) return written.bars;
  const bars = renderBars(daysBetween(0, count));
  writtenBars.set(of, { id, bars });
  return bars;
}

/** Renders bars in ASCII, which needs half the memory. */
function renderBars(days: readonly DayView[]): string {
  return days.map(renderBar).join("").replaceAll("\u202f", "&#8239;");
}

function renderBar({ tone, text }: DayView): string {
  return tone === "up" ? `<i title="${text}"></i>` : `<i class="${tone}" title="${text}"></i>`;
}
