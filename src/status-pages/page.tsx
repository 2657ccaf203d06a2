/** Renders the overview of a status page, and its incidents month by month, as HTML. */
import { Fragment } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { BackLink, renderDocument, type PageDocument, Time } from "./layout.tsx";
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
  const { page, headline, incidents, running, scheduled, sections, past, checked } = view;
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
          <p>
            {headline.detail}{" "}
            {checked !== null && (
              <span className="checked">
                Checked <Time moment={checked} />.
              </span>
            )}
          </p>
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
            <span data-recent={Math.min(recentDays, page.historyDays)}>
              <span className="whole">{page.historyDays}</span>
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
      {sections.map(({ id, isFolded }, index) => {
        const content = { dangerouslySetInnerHTML: { __html: sectionsPlaceholder } };
        return isFolded ? (
          <details className="sec" id={`section-${id}`} key={index} {...content} />
        ) : (
          <section className="sec" key={index} {...content} />
        );
      })}
      {scheduled.length > 0 && (
        <Maintenance title="Scheduled maintenance" work={scheduled} words={words} isFolded />
      )}
      <section className="past">
        <h2>Past incidents</h2>
        {past.length === 0 && (
          <p className="quiet">No incidents in the last {page.historyDays} days.</p>
        )}
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

type WorkProps = { work: readonly WorkView[]; words: RenderText; isFolded?: boolean };

function Maintenance({ title, work, words, isFolded = false }: WorkProps & { title: string }) {
  const folded = work.slice(maxUnfolded);
  return (
    <section className="window">
      <h2>
        <StateIcon tone="maintenance" /> {title}
      </h2>
      <Work work={work.slice(0, maxUnfolded)} words={words} isFolded={isFolded} />
      {folded.length > 0 && (
        <details id={`more-${folded[0]?.id}`}>
          <summary>{folded.length} more</summary>
          <Work work={folded} words={words} isFolded={isFolded} />
        </details>
      )}
    </section>
  );
}

/** Lists windows. Folded ones show their title and time, and everything else on request. */
function Work({ work, words, isFolded = false }: WorkProps) {
  return work.map((one) => {
    const { id, title, description, affects, every, times } = one;
    const [next, ...later] = times;
    const heading = (
      <>
        <h3 dir="auto">{title}</h3>
        <span className="when">{isFolded && every !== null ? every : next?.text}</span>
      </>
    );
    const anchor = next && formatMaintenanceAnchor(next.id);
    if (isFolded && (description !== "" || affects.length > 0 || times.length > 1))
      return (
        <details key={id} id={anchor}>
          <summary>{heading}</summary>
          <article>
            {every !== null && <p>Next: {next?.text}</p>}
            <WorkDetails {...one} later={later} words={words} />
          </article>
        </details>
      );
    return (
      <article key={id} id={anchor}>
        <header>{heading}</header>
        {!isFolded && every !== null && <p>{every}</p>}
        <WorkDetails {...one} later={later} words={words} />
      </article>
    );
  });
}

type WorkDetailsProps = WorkView & { later: WorkView["times"]; words: RenderText };

function WorkDetails({ description, affects, every, later, words }: WorkDetailsProps) {
  return (
    <>
      {description !== "" && <Written text={description} words={words} />}
      {affects.length > 0 && (
        <p>
          Affects <Names names={affects} />
        </p>
      )}
      {later.length > 0 && (
        <p>
          {every === null && "Then "}
          {later.map((time, index) => (
            <Fragment key={time.id}>
              {every === null && index > 0 && ", and "}
              <span id={formatMaintenanceAnchor(time.id)}>{every === null && time.text}</span>
            </Fragment>
          ))}
        </p>
      )}
    </>
  );
}

/** With more days than this, bars have no gaps, so that they fit into the page. */
const denseFrom = 170;

/** Renders a section as strings, because React would be slow for thousands of monitors. */
function* renderSection(
  { name, monitors, isFolded }: StatusView["sections"][number],
  document: PageDocument,
): Generator<string> {
  const heading = `<h2 dir="auto">${Bun.escapeHTML(name)}</h2>`;
  yield isFolded
    ? `<summary>${heading} <span class="num">${renderIcon("up")} <span class="word up">All ${monitors.length} up</span></span>${renderWorstBars(name, monitors)}</summary>`
    : heading;
  if (monitors.length === 0) return yield '<p class="quiet">Nothing is shown here yet.</p>';
  yield "<ul>";
  for (const monitor of monitors) yield* renderMonitor(monitor, document);
  yield "</ul>";
}

/** Tones from the worst. Maintenance is worse than up, because it was announced. */
const worstFirst: readonly Tone[] = ["down", "degraded", "maintenance", "up", "none"];

/** Renders the worst state of each day among the monitors of a section. */
function renderWorstBars(name: string, monitors: readonly MonitorView[]): string {
  const count = monitors[0]?.historyDays ?? 0;
  const ranks = new Uint8Array(count).fill(worstFirst.length - 1);
  for (const monitor of monitors) {
    const settled = rankSettledDays(monitor);
    for (let index = 0; index < count; index++) {
      const rank = settled[index] ?? worstFirst.indexOf(monitor.toneAt(index));
      if (rank < (ranks[index] ?? 0)) ranks[index] = rank;
    }
  }
  const tones = Array.from(ranks, (rank) => worstFirst[rank] ?? "none");
  const troubled = tones.filter((tone) => tone === "down" || tone === "degraded").length;
  const label = Bun.escapeHTML(`${name}, days with trouble: ${troubled} of ${count}`);
  const bars = tones.map((tone) => (tone === "up" ? "<i></i>" : `<i class="${tone}"></i>`));
  return `<span class="bars worst${count > denseFrom ? " dense" : ""}" role="img" aria-label="${label}">${bars.join("")}</span>`;
}

/** Cached ranks of days that no longer change, by the sums of their monitor. */
const settledRanks = new WeakMap<object, { id: string; ranks: Uint8Array }>();

function rankSettledDays({ toneAt, settled: { of, count, until } }: MonitorView): Uint8Array {
  const id = `${count} ${until}`;
  const known = settledRanks.get(of);
  if (known?.id === id) return known.ranks;
  const ranks = Uint8Array.from({ length: count }, (_, index) => worstFirst.indexOf(toneAt(index)));
  settledRanks.set(of, { id, ranks });
  return ranks;
}

const icons = new Map<Tone, string>();

function renderIcon(tone: Tone): string {
  const icon = icons.get(tone) ?? renderToStaticMarkup(<StateIcon tone={tone} />);
  icons.set(tone, icon);
  return icon;
}

function* renderMonitor(monitor: MonitorView, { words, base }: PageDocument): Generator<string> {
  const { description, tone, word, stateSince, lastKnown, figures, latency } = monitor;
  const name = Bun.escapeHTML(monitor.name);
  const { daysBetween, settled, marks } = monitor;
  const { uptime } = figures;
  const count = monitor.historyDays;
  const recent = count > recentDays ? monitor.recentFigures : figures;
  const took = latency === null ? "" : ` <span class="latency">${Bun.escapeHTML(latency)}</span>`;
  const since = renderByWidth("since", figures.since, recent.since);
  // In the reading order. The style sheet shows the uptime first.
  const measured = since === "" ? "" : `${since} `;
  const began = stateSince === null ? "" : ` <span class="since">${stateSince}</span>`;
  const incidents = marks.map(({ id, ...mark }) => ({ ...mark, url: `${base}/incidents/${id}` }));
  const marked =
    marks.length === 0 ? "" : ` data-incidents="${Bun.escapeHTML(JSON.stringify(incidents))}"`;
  const about =
    description === null ? "" : `<div class="about md">${words(description).html}</div>`;
  const known = lastKnown === null ? "" : `<p class="quiet">${Bun.escapeHTML(lastKnown)}</p>`;
  yield `<li class="comp"><div class="line"><h3 class="what">${renderIcon(tone)}<b dir="auto">${name}</b></h3> <p class="num"><span class="state"><span class="word ${tone}">${word}</span>${began}</span> <span class="figures">${measured}${renderByWidth("uptime", uptime, recent.uptime)}${took}</span></p></div>${known}${about}<div class="bars${count > denseFrom ? " dense" : ""}"${marked} role="img" aria-label="${name}, uptime ${figures.since ?? `of ${count} days`}: ${uptime}">`;
  yield renderSettledBars(monitor);
  yield `${renderBars(daysBetween(settled.count, count))}</div></li>`;
}

/**
 * Renders a figure of all days. Narrow windows show `recent` instead. It is an attribute, so that text browsers show
 * one figure.
 */
function renderByWidth(name: string, whole: string | null, recent: string | null): string {
  if (whole === recent) return whole === null ? "" : `<span class="${name}">${whole}</span>`;
  return `<span class="${name}" data-recent="${recent ?? ""}"><span class="whole">${whole ?? ""}</span></span>`;
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
