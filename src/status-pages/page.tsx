/** Renders the overview of a status page, and its incidents month by month, as HTML. */
import { renderToStaticMarkup } from "react-dom/server";
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
import type { History } from "./formats/history.ts";
import { StateIcon } from "./icons.tsx";
import { Incident, Names, IncidentRows } from "./incident.tsx";
import type { Language } from "./languages/language.ts";
import { createTimeFormats } from "./languages/times.ts";
import type {
  DayFacts,
  DayView,
  MonitorView,
  SectionView,
  Tone,
  WorkView,
} from "./rendering/view.ts";
import { describeDay, formatMaintenanceAnchor, recentDays } from "./rendering/view.ts";

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
  const { view, language, to } = document;
  const arrows = arrowsOf(language);
  const { month, incidents, earlier, later } = history;
  return renderDocument(
    document,
    `${language.translate("incidentsOfMonth", { month })} – ${view.page.title}`,
    <>
      <BackLink {...document} />
      <h1 className="month">{month}</h1>
      {incidents.length === 0 && <p className="quiet">{language.translate("noIncidents")}</p>}
      <IncidentRows incidents={incidents} document={document} level="h2" />
      <nav className="months" aria-label={language.translate("months")}>
        {earlier === null ? (
          <span />
        ) : (
          <a href={to(`/history?month=${earlier}`)}>
            {arrows.back} {language.translate("earlier")}
          </a>
        )}
        {later !== null && (
          <a href={to(`/history?month=${later}`)}>
            {language.translate("later")} {arrows.forward}
          </a>
        )}
      </nav>
    </>,
  );
}

function Overview({ document }: { document: PageDocument }) {
  const { view, words, language, to } = document;
  const { page, headline, incidents, running, scheduled, sections, past, checked } = view;
  const lastDay =
    document.past === undefined
      ? language.translate("today")
      : // The days of the bars are in UTC.
        createTimeFormats(language, "UTC", Date.parse(document.past)).shortDay(document.past);
  return (
    <>
      {page.description !== "" && (
        <div className="about">
          <WrittenText text={page.description} words={words} lang={findTextLanguage(document)} />
        </div>
      )}
      <section className={`hero ${headline.tone}-soft`}>
        {page.look.showIcons && <StateIcon tone={headline.tone} size={30} />}
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
                <Sentence parts={language.split("checked", { time: <Time moment={checked} /> })} />
              </span>
            )}
          </p>
        </div>
      </section>
      {incidents.map((incident) => (
        <Incident key={incident.id} incident={incident} document={document} />
      ))}
      {running.length > 0 && (
        <Maintenance
          title={language.translate("maintenanceInProgress")}
          work={running}
          document={document}
        />
      )}
      {sections.some(({ monitors }) => monitors.length > 0) && (
        <div className="legend" aria-hidden="true">
          <span>
            <Sentence
              parts={language.splitCount("legend", page.historyDays, {
                days: (
                  <span data-recent={language.number(Math.min(recentDays, page.historyDays))}>
                    <span className="whole">{language.number(page.historyDays)}</span>
                  </span>
                ),
                last: lastDay,
              })}
            />
          </span>
          <span className="keys">
            {legend.map((tone) => (
              <span key={tone}>
                <StateIcon tone={tone} size={12} />{" "}
                {tone === "none"
                  ? language.capitalize(language.translate("noData"))
                  : language.translate(tone)}
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
        <Maintenance
          title={language.translate("scheduledMaintenance")}
          work={scheduled}
          document={document}
          isFolded
        />
      )}
      <section className="past">
        <h2>{language.translate("pastIncidents")}</h2>
        {past.length === 0 && (
          <p className="quiet">{language.count("noPastIncidents", page.historyDays)}</p>
        )}
        <IncidentRows incidents={past} document={document} level="h3" />
        <p className="more">
          <a href={to("/history")}>
            {language.translate("allIncidents")} {arrowsOf(language).forward}
          </a>
        </p>
      </section>
    </>
  );
}

const legend = ["up", "degraded", "down", "maintenance", "none"] as const;

/** Maintenance windows that are visible at first; later ones are folded. */
const maxUnfolded = 5;

type WorkProps = { work: readonly WorkView[]; document: PageDocument; isFolded?: boolean };

function Maintenance({ title, work, document, isFolded = false }: WorkProps & { title: string }) {
  const folded = work.slice(maxUnfolded);
  return (
    <section className="window">
      <h2>
        <StateIcon tone="maintenance" /> {title}
      </h2>
      <Work work={work.slice(0, maxUnfolded)} document={document} isFolded={isFolded} />
      {folded.length > 0 && (
        <details id={`more-${folded[0]?.id}`}>
          <summary>{document.language.count("more", folded.length)}</summary>
          <Work work={folded} document={document} isFolded={isFolded} />
        </details>
      )}
    </section>
  );
}

/** Lists windows. Folded ones show their title and time, and everything else on request. */
function Work({ work, document, isFolded = false }: WorkProps) {
  const { language } = document;
  return work.map((one) => {
    const { id, title, description, affects, every, times } = one;
    const [next, ...later] = times;
    const heading = (
      <>
        <h3 dir="auto" lang={findTextLanguage(document)}>
          {title}
        </h3>
        <span className="when">{isFolded && every !== null ? every : next?.text}</span>
      </>
    );
    const anchor = next && formatMaintenanceAnchor(next.id);
    if (isFolded && (description !== "" || affects.length > 0 || times.length > 1))
      return (
        <details key={id} id={anchor}>
          <summary>{heading}</summary>
          <article>
            {every !== null && <p>{language.translate("next", { time: next?.text ?? "" })}</p>}
            <WorkDetails {...one} later={later} document={document} />
          </article>
        </details>
      );
    return (
      <article key={id} id={anchor}>
        <header>{heading}</header>
        {!isFolded && every !== null && <p>{every}</p>}
        <WorkDetails {...one} later={later} document={document} />
      </article>
    );
  });
}

type WorkDetailsProps = WorkView & { later: WorkView["times"]; document: PageDocument };

function WorkDetails({ description, affects, every, later, document }: WorkDetailsProps) {
  const { words, language } = document;
  // Recurring times are only targets of links.
  const times = later.map((time) => (
    <span id={formatMaintenanceAnchor(time.id)}>{every === null && time.text}</span>
  ));
  return (
    <>
      {description !== "" && (
        <WrittenText text={description} words={words} lang={findTextLanguage(document)} />
      )}
      {affects.length > 0 && (
        <p>
          <Sentence
            parts={language.split("affects", {
              names: <Names names={affects} language={language} />,
            })}
          />
        </p>
      )}
      {times.length > 0 && (
        <p>
          {every === null ? (
            <Sentence
              parts={language.split("thenAt", {
                times: <Sentence parts={language.splitList(times)} />,
              })}
            />
          ) : (
            <Sentence parts={times.map((value) => ({ value }))} />
          )}
        </p>
      )}
    </>
  );
}

/** With more days than this, bars have no gaps, so that they fit into the page. */
const denseFrom = 170;

/** Renders a section as strings, because React would be slow for thousands of monitors. */
function* renderSection(
  section: SectionView,
  document: PageDocument,
  level: 2 | 3 = 2,
): Generator<string> {
  const { language } = document;
  const { id, name, monitors, listed, rest, nested, isFolded } = section;
  const heading = `<h${level} dir="auto">${Bun.escapeHTML(name)}</h${level}>`;
  yield isFolded ? renderSummary(section, heading, document) : heading;
  if (monitors.length === 0 && nested.length === 0)
    return yield `<p class="quiet">${language.translate("nothingShown")}</p>`;
  const below = level === 2 ? 3 : 4;
  yield* renderMonitors(listed, document, below);
  if (rest.length > 0) {
    const more = `<h${below}>${language.count("more", rest.length)}</h${below}>`;
    yield `<details class="sec nested rest" id="rest-${id}">`;
    yield renderSummary({ ...section, monitors: rest, nested: [] }, more, document);
    yield* renderMonitors(rest, document, below);
    yield "</details>";
  }
  for (const one of nested) {
    const [start, end] = one.isFolded
      ? [`<details class="sec nested" id="section-${one.id}">`, "</details>"]
      : ['<section class="sec nested">', "</section>"];
    yield start;
    yield* renderSection(one, document, 3);
    yield end;
  }
}

function* renderMonitors(
  monitors: readonly MonitorView[],
  document: PageDocument,
  level: 3 | 4,
): Generator<string> {
  if (monitors.length === 0) return;
  yield "<ul>";
  for (const monitor of monitors) yield* renderMonitor(monitor, document, level);
  yield "</ul>";
}

/** Renders the line of a folded section: its worst state, and the worst state of each day. */
function renderSummary(
  { name, monitors, nested }: SectionView,
  heading: string,
  { language, view }: PageDocument,
): string {
  const all = [...monitors, ...nested.flatMap((one) => one.monitors)];
  const worst = all.toSorted((a, b) => rankTone(a.tone) - rankTone(b.tone))[0];
  const tone = worst?.tone ?? "none";
  const isUp = all.every((monitor) => monitor.tone === "up");
  const word = isUp ? language.count("allCountUp", all.length) : (worst?.word ?? "");
  const icon = view.page.look.showIcons ? `${renderIcon(tone)} ` : "";
  const bars = all.length === 0 ? "" : renderWorstBars(name, all, language);
  return `<summary>${heading} <span class="num">${icon}<span class="word ${tone}">${word}</span></span>${bars}</summary>`;
}

/** Tones from the worst. Maintenance is worse than up, because it was announced. */
const worstFirst: readonly Tone[] = ["down", "degraded", "maintenance", "up", "none"];

/** Rank of a current state, the worst first. A state without results is better than trouble only. */
const rankTone = (tone: Tone) => ["down", "degraded", "maintenance", "none", "up"].indexOf(tone);

/** Renders the worst state of each day among the monitors of a section. */
function renderWorstBars(
  name: string,
  monitors: readonly MonitorView[],
  language: Language,
): string {
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
  const numbers = { count: language.number(troubled), all: language.number(count) };
  const label = Bun.escapeHTML(language.translate("daysWithTrouble", { name, ...numbers }));
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

function* renderMonitor(
  monitor: MonitorView,
  { view, words, to, language }: PageDocument,
  level: 3 | 4,
): Generator<string> {
  const { showUptime, showIcons } = view.page.look;
  const { description, tone, word, stateSince, lastKnown, figures, latency } = monitor;
  const plainName = Bun.escapeHTML(monitor.name);
  const name =
    monitor.link === null
      ? plainName
      : `<a href="${Bun.escapeHTML(monitor.link)}" rel="noopener">${plainName}</a>`;
  const { daysBetween, settled, marks } = monitor;
  const { uptime } = figures;
  const count = monitor.historyDays;
  const recent = count > recentDays ? monitor.recentFigures : figures;
  const took = latency === null ? "" : ` <span class="latency">${Bun.escapeHTML(latency)}</span>`;
  const since = renderByWidth("since", figures.since, recent.since);
  // In the reading order. The style sheet shows the uptime first.
  const measured = since === "" ? "" : `${since} `;
  const percent = showUptime ? `${measured}${renderByWidth("uptime", uptime, recent.uptime)}` : "";
  const sinceText = stateSince === null ? "" : ` <span class="since">${stateSince}</span>`;
  const incidents = marks.map(({ id, ...mark }) => ({ ...mark, url: to(`/incidents/${id}`) }));
  const marked =
    marks.length === 0 ? "" : ` data-incidents="${Bun.escapeHTML(JSON.stringify(incidents))}"`;
  const about =
    description === null ? "" : `<div class="about md">${words(description).html}</div>`;
  const known = lastKnown === null ? "" : `<p class="quiet">${Bun.escapeHTML(lastKnown)}</p>`;
  const label = !showUptime
    ? monitor.name
    : figures.since === null
      ? language.count("uptimeOfDays", count, { name: monitor.name, uptime })
      : language.translate("uptimeSince", { name: monitor.name, since: figures.since, uptime });
  yield `<li class="comp"><div class="line"><h${level} class="what${showIcons ? "" : " bare"}">${showIcons ? renderIcon(tone) : ""}<b dir="auto">${name}</b></h${level}> <p class="num"><span class="state"><span class="word ${tone}">${word}</span>${sinceText}</span>${percent + took === "" ? "" : ` <span class="figures">${percent}${took}</span>`}</p></div>${known}${about}<div class="bars${count > denseFrom ? " dense" : ""}"${marked} role="img" aria-label="${Bun.escapeHTML(label)}">`;
  yield renderSettledBars(monitor, language);
  yield `${renderBars(daysBetween(settled.count, count), (day) => describeDay(day.facts, language))}</div></li>`;
}

/**
 * Renders a figure of all days. Narrow windows show `recent` instead. It is an attribute, so that text browsers show
 * one figure.
 */
function renderByWidth(name: string, whole: string | null, recent: string | null): string {
  if (whole === recent) return whole === null ? "" : `<span class="${name}">${whole}</span>`;
  return `<span class="${name}" data-recent="${recent ?? ""}"><span class="whole">${whole ?? ""}</span></span>`;
}

/**
 * Cached bars of days that no longer change. A large page has 90,000 days; only two per monitor are rendered again.
 * Markers replace the words, so that all languages share the cache.
 */
const writtenBars = new WeakMap<object, { id: string; bars: string }>();

const perfectMark = "\ue001";
const emptyMark = "\ue002";
/** Encloses the facts of any other day. */
const factsMark = "\ue003";

function renderSettledBars(monitor: MonitorView, language: Language): string {
  const bars = findSettledBars(monitor)
    .replaceAll(perfectMark, describeDay(perfectDay, language))
    .replaceAll(emptyMark, describeDay(undefined, language));
  return bars.includes(factsMark)
    ? bars.replace(/\ue003([^\ue003]*)\ue003/g, (_, facts: string) =>
        describeDay(unpackFacts(facts), language),
      )
    : bars;
}

function findSettledBars({ daysBetween, settled: { of, count, until } }: MonitorView): string {
  const id = `${count} ${until}`;
  const written = writtenBars.get(of);
  if (written?.id === id) return written.bars;
  const bars = renderBars(daysBetween(0, count), markDay);
  writtenBars.set(of, { id, bars });
  return bars;
}

const perfectDay: DayFacts = {
  ratio: 1,
  downSeconds: 0,
  degradedSeconds: 0,
  maintenanceSeconds: 0,
};

function markDay({ facts }: DayView): string {
  if (facts === undefined) return emptyMark;
  const { ratio, downSeconds, degradedSeconds, maintenanceSeconds } = facts;
  if (ratio === 1 && downSeconds + degradedSeconds + maintenanceSeconds === 0) return perfectMark;
  const packed = [ratio ?? "", downSeconds, degradedSeconds, maintenanceSeconds].join(" ");
  return `${factsMark}${packed}${factsMark}`;
}

function unpackFacts(packed: string): DayFacts {
  const [ratio = "", ...seconds] = packed.split(" ");
  const [downSeconds = 0, degradedSeconds = 0, maintenanceSeconds = 0] = seconds.map(Number);
  return {
    ratio: ratio === "" ? null : Number(ratio),
    downSeconds,
    degradedSeconds,
    maintenanceSeconds,
  };
}

const renderBars = (days: readonly DayView[], describe: (day: DayView) => string): string =>
  days.map((day) => renderBar(day, describe(day))).join("");

function renderBar({ tone, date }: DayView, words: string): string {
  const title = `${date}: ${words}`;
  return tone === "up" ? `<i title="${title}"></i>` : `<i class="${tone}" title="${title}"></i>`;
}
