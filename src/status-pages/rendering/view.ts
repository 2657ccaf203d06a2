/** Turns the data of a status page into its displayed words: headline, states, uptime, incidents, maintenance. */
import { dayMs, minuteMs } from "../../core/time/clock.ts";
import { eventDays } from "../../events/retention.ts";
import { computeRatio, determineTone } from "../../monitoring/uptime/rules.ts";
import {
  type IncidentMark,
  type Totals,
  type PublicData,
  type PublicIncident,
  findPartialStart,
  type PublicMonitor,
  computeUptime,
} from "../formats/public-data.ts";
import type { Language } from "../languages/language.ts";
import { describeRecurrence } from "../languages/recurrence.ts";
import { createTimeFormats, type TimeFormats } from "../languages/times.ts";
import type { PublicWindow } from "../windows.ts";
import type { IncidentStatus } from "../../incidents/schema.ts";
import type { ShownStatus } from "../../monitoring/monitors/shown-status-rules.ts";

export type Tone = "up" | "degraded" | "down" | "maintenance" | "none";

export type MonitorView = ReturnType<typeof buildMonitorView>;
/** A day of a monitor, without words. `facts` is undefined without measurements. */
export type DayView = { tone: Tone; date: string; facts: DayFacts | undefined };
export type DayFacts = Pick<Totals, "downSeconds" | "degradedSeconds" | "maintenanceSeconds"> & {
  ratio: number | null;
};
export type IncidentView = ReturnType<typeof buildIncidentView>;
export type StatusView = ReturnType<typeof buildView>;

const pastDays = 7;
/** Minimum number of past incidents to show, if the page has that many. */
const minPast = 5;
/** Maximum monitors of a page on which no section is folded. */
const maxUnfoldedMonitors = 20;

/** Builds the content of a page at `now` in words, without markup. */
export function buildView(published: PublicData, now: number, language: Language) {
  const { page, sections, incidents, windows, marks } = published;
  const times = createTimeFormats(language, page.timeZone, now);
  const reader: Reader = { language, times, now };
  const incidentViews = incidents.map((incident) => buildIncidentView(incident, reader));
  const marksBy = new Map<string, IncidentMark[]>();
  for (const mark of marks)
    for (const { id } of mark.monitors) marksBy.set(id, [...(marksBy.get(id) ?? []), mark]);
  const all = sections.flatMap(({ monitors }) => monitors);
  // Steps of half a day, because days with a clock change have 23 or 25 hours.
  const halves = Array.from({ length: 2 * pastDays + 2 }, (_, back) =>
    times.day(new Date(now - (back * dayMs) / 2).toISOString()),
  );
  const days = [...new Set(halves)].slice(0, pastDays);
  // A long incident also counts by its end. Otherwise it would disappear when it is resolved.
  const past = new Set(
    incidents
      .filter(({ createdAt, resolvedAt }) =>
        [createdAt, resolvedAt].some((at) => at !== null && days.includes(times.day(at))),
      )
      .map(({ id }) => id),
  );
  const recent = incidentViews.filter(({ id, isOpen }) => !isOpen && past.has(id));
  const earlier = marks
    .filter(({ id, resolvedAt }) => resolvedAt !== null && !past.has(id))
    .slice(0, Math.max(0, minPast - recent.length))
    .map((mark) => buildMarkView(mark, reader));
  const checkedAt = all.reduce<string | null>(
    (last, { lastCheckedAt }) =>
      lastCheckedAt !== null && (last === null || lastCheckedAt > last) ? lastCheckedAt : last,
    null,
  );
  return {
    page,
    headline: buildHeadline(all, incidentViews, windows, language),
    /** Open incidents. */
    incidents: incidentViews.filter(({ isOpen }) => isOpen),
    all: incidentViews,
    /** Maintenance in progress. */
    running: buildWorkViews(
      windows.filter(({ isRunning }) => isRunning),
      reader,
    ),
    scheduled: buildWorkViews(
      windows.filter(({ isRunning }) => !isRunning),
      reader,
    ),
    sections: nestSections(
      sections.map((section) => ({
        ...section,
        isLong: sections.length > 1 && all.length > maxUnfoldedMonitors,
        monitors: section.monitors.map((monitor) =>
          buildMonitorView(monitor, page, marksBy.get(monitor.id) ?? [], reader),
        ),
      })),
    ),
    /**
     * Resolved incidents that started or ended in the last `pastDays` days of the page's time zone, and earlier ones
     * up to `minPast`, newest first.
     */
    past: [...recent, ...earlier],
    checked: checkedAt === null ? null : times.moment(checkedAt),
  };
}

type FlatSection = Pick<PublicData["sections"][number], "id" | "name" | "nested" | "folding"> & {
  /** On a long page, monitors without trouble are folded. */
  isLong: boolean;
  monitors: readonly MonitorView[];
};
export type SectionView = {
  id: string;
  name: string;
  isFolded: boolean;
  /** Monitors of the section itself. */
  monitors: readonly MonitorView[];
  /** The listed monitors. The rest is up and folded into one line. */
  listed: readonly MonitorView[];
  rest: readonly MonitorView[];
  nested: readonly SectionView[];
};

const isUp = ({ tone }: MonitorView) => tone === "up";

const isQuiet = ({ isLong, monitors }: FlatSection) =>
  isLong && monitors.length > 1 && monitors.every(isUp);

/** Puts nested sections into their parents. */
function nestSections(sections: readonly FlatSection[]): SectionView[] {
  const build = (section: FlatSection, nested: readonly FlatSection[]): SectionView => {
    const { id, name, folding = "auto", isLong, monitors } = section;
    const isWithoutTrouble =
      nested.every(isQuiet) && (isQuiet(section) || (nested.length > 0 && monitors.length === 0));
    const isFolded = folding === "folded" || (folding === "auto" && isWithoutTrouble);
    const rest = isLong && folding === "auto" && !isFolded ? monitors.filter(isUp) : [];
    const hasRest = rest.length > 1;
    return {
      id,
      name,
      isFolded,
      monitors,
      listed: hasRest ? monitors.filter((one) => !isUp(one)) : monitors,
      rest: hasRest ? rest : [],
      nested: nested.map((one) => build(one, [])),
    };
  };
  return sections.flatMap((section, index) => {
    if (section.nested === true) return [];
    const laterSections = sections.slice(index + 1);
    const end = laterSections.findIndex(({ nested }) => nested !== true);
    return [build(section, end === -1 ? laterSections : laterSections.slice(0, end))];
  });
}

/** The language, times and clock of a rendered page. */
type Reader = { language: Language; times: TimeFormats; now: number };

export type WorkView = ReturnType<typeof buildWorkViews>[number];

/** Groups occurrences by maintenance window, in the order of each window's first occurrence. */
function buildWorkViews(windows: readonly PublicWindow[], { times, language }: Reader) {
  return [...Map.groupBy(windows, ({ id }) => id).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { id, title, description, monitors } = first;
    const spans = all.map(({ occurrenceId, startsAt, endsAt }) => ({
      id: occurrenceId,
      text: times.span(startsAt, endsAt),
    }));
    const affects = monitors.map(({ name }) => name);
    return [
      { id, title, description, affects, times: spans, every: describeEvery(all, times, language) },
    ];
  });
}

/**
 * Describes recurring maintenance, such as `Every day 21:22–22:22`. Null unless all occurrences have the same times
 * of day on the page, on the same days as in the window's time zone.
 */
function describeEvery(
  all: readonly PublicWindow[],
  times: TimeFormats,
  language: Language,
): string | null {
  const [first, ...later] = all;
  const recurrence = first === undefined ? null : describeRecurrence(first.plan, language);
  if (first === undefined || recurrence === null) return null;
  const { timeZone, startsAt, endsAt } = first;
  const range = times.range(startsAt, endsAt);
  const isSame = later.every((one) => times.range(one.startsAt, one.endsAt) === range);
  const isOneDay = times.day(startsAt) === times.day(endsAt);
  const isOnSameDays = all.every(({ startsAt: at }) => times.isSameLocally(at, timeZone));
  return isSame && isOneDay && isOnSameDays
    ? language.translate("repeatsAt", { rule: recurrence, time: range })
    : null;
}

export const stateTones: Record<ShownStatus, Tone> = {
  unknown: "none",
  up: "up",
  degraded: "degraded",
  down: "down",
  maintenance: "maintenance",
  pending: "none",
  paused: "none",
};

const impactKeys = {
  degraded: "degraded",
  "partial-outage": "partialOutage",
  "major-outage": "majorOutage",
} as const;

/** Returns the key of the word for a monitor's state. */
export const stateKeyOf = ({ state, impact }: Pick<PublicMonitor, "state" | "impact">) =>
  impact === null ? state : impactKeys[impact];

/** States whose start is shown. */
const sinceStates: readonly ShownStatus[] = ["down", "degraded", "maintenance"];

/** Days per monitor in a narrow browser window. Its figures cover the same days. */
export const recentDays = 30;

function buildMonitorView(
  monitor: PublicMonitor,
  { historyDays, showLatency }: PublicData["page"],
  marks: readonly IncidentMark[],
  { language, times, now }: Reader,
) {
  const { id, name, description, state, latencyMs, days } = monitor;
  const today = Math.floor(now / dayMs);
  const computeFigures = (count: number) => {
    const since = findPartialStart(monitor, today, count);
    return {
      uptime: language.percent(computeUptime(days, today, count)),
      /** Start of the measurements, unless they cover the whole period. */
      since: since === null ? null : times.since(since),
    };
  };
  /** Days from index `from` up to, but excluding, `to`. Index 0 is the oldest day. */
  const buildDayViews = (from: number, to: number): DayView[] =>
    Array.from({ length: to - from }, (_, index) => {
      const day = today - historyDays + 1 + from + index;
      return buildDayView(day, days.get(day));
    });
  return {
    id,
    name,
    description,
    link: monitor.link ?? null,
    tone: stateTones[state],
    word: language.translate(stateKeyOf(monitor)),
    /** Start of a state that is not normal. */
    stateSince: sinceStates.includes(state)
      ? language.translate("since", { time: times.moment(monitor.since).text })
      : null,
    lastKnown: describeLastKnown(monitor, times, language),
    latency:
      showLatency && state !== "unknown" && latencyMs !== null ? language.latency(latencyMs) : null,
    // Getters, because figures and days are most of the work on a large page. Each monitor computes them when rendered.
    get figures() {
      return computeFigures(historyDays);
    },
    /** Figures of the days in a narrow browser window. */
    get recentFigures() {
      return computeFigures(Math.min(recentDays, historyDays));
    },
    get days() {
      return buildDayViews(0, historyDays);
    },
    historyDays,
    daysBetween: buildDayViews,
    toneAt: (index: number): Tone => {
      const sums = days.get(today - historyDays + 1 + index);
      return sums === undefined ? "none" : determineTone(sums);
    },
    /** Incidents of the monitor, each with the indexes of its first and last day. */
    marks: marks.map(({ id, title, severity, createdAt, resolvedAt }) => {
      const getDayIndex = (at: number) => Math.floor(at / dayMs) - (today - historyDays + 1);
      const last = getDayIndex(resolvedAt === null ? now : Date.parse(resolvedAt));
      return { id, title, severity, first: getDayIndex(Date.parse(createdAt)), last };
    }),
    /** Days that no longer change: their number, the last day, and the sums `of` the monitor as cache key. */
    settled: { of: days, count: Math.max(0, historyDays - 2), until: today - 2 },
  };
}

/** Describes the last known state, and since when the monitor is not judged; null while it is judged. */
function describeLastKnown(
  { state, lastKnown, notJudgedSince }: PublicMonitor,
  times: TimeFormats,
  language: Language,
): string | null {
  if (state !== "unknown" && notJudgedSince === null) return null;
  const currentText =
    notJudgedSince === null
      ? language.translate("notJudged")
      : language.translate("notJudgedSince", { time: times.moment(notJudgedSince).text });
  if (lastKnown === "pending") return currentText;
  return `${currentText} ${language.translate("lastKnown", { state: language.lower(language.translate(lastKnown)) })}`;
}

function buildDayView(day: number, sums: Totals | undefined): DayView {
  const date = new Date(day * dayMs).toISOString().slice(0, 10);
  if (sums === undefined) return { tone: "none", date, facts: undefined };
  const { degradedSeconds, downSeconds, maintenanceSeconds } = sums;
  const facts = { ratio: computeRatio(sums), downSeconds, degradedSeconds, maintenanceSeconds };
  return { tone: determineTone(sums), date, facts };
}

/** Describes a day, such as `99.98 % up, 17 s down`. The script of the page reads its parts. */
export function describeDay(facts: DayFacts | undefined, language: Language): string {
  if (facts === undefined) return language.translate("noData");
  const { ratio, degradedSeconds, downSeconds, maintenanceSeconds } = facts;
  const parts = [
    ...(ratio === null ? [] : [language.translate("dayUp", { value: language.percent(ratio) })]),
    ...describeTime(language, "dayDown", downSeconds),
    ...describeTime(language, "dayDegraded", degradedSeconds),
    ...describeTime(language, "dayMaintenance", maintenanceSeconds),
  ];
  return parts.join(language.translate("separator")) || language.translate("noData");
}

type DayKey = "dayDown" | "dayDegraded" | "dayMaintenance";

const describeTime = (language: Language, key: DayKey, seconds: number): string[] =>
  seconds > 0 ? [language.translate(key, { value: language.duration(seconds) })] : [];

function describeOpenIncidents(count: number, isAnyDown: boolean, language: Language): string {
  if (count > 0) return language.count("openIncidents", count);
  return language.translate(isAnyDown ? "noIncidentPosted" : "noOpenIncidents");
}

/** Writes the headline: the worst state first, with the names of the affected monitors if there are few. */
function buildHeadline(
  monitors: readonly PublicMonitor[],
  incidents: readonly IncidentView[],
  windows: readonly PublicWindow[],
  language: Language,
) {
  const listNamesInState = (state: ShownStatus) =>
    monitors.filter((one) => one.state === state).map(({ name }) => name);
  const down = listNamesInState("down");
  const degraded = listNamesInState("degraded");
  const maintained = listNamesInState("maintenance");
  const up = listNamesInState("up").length;
  const unknown = listNamesInState("unknown").length;
  const judged = up + down.length + degraded.length + maintained.length;
  const open = incidents.filter(({ isOpen }) => isOpen);
  const detail = describeOpenIncidents(open.length, down.length > 0, language);
  const composeHeadline = (tone: Tone, words: SentenceParts) => ({
    tone,
    words,
    text: words.map((word) => (typeof word === "string" ? word : word.name)).join(""),
    detail,
  });
  const compose = (tone: Tone, key: HeadlineKey) =>
    composeHeadline(tone, [language.translate(key)]);
  if (down.length > 1 && down.length === judged) return compose("down", "allDown");
  if (down.length + degraded.length > 0) {
    const troubles = describeTroubles(language, down, degraded);
    const restText = unknown === 0 ? describeRest(monitors, open, judged, language) : null;
    return composeHeadline(
      down.length > 0 ? "down" : "degraded",
      restText === null ? troubles : joinWords(language, "sentences", troubles, [restText]),
    );
  }
  if (open.length > 0) return compose("degraded", "someAffected");
  if (maintained.length > 0 || windows.some(({ isRunning }) => isRunning))
    return compose("maintenance", "maintenanceInProgress");
  if (unknown > 0)
    return {
      ...(judged === 0
        ? compose("none", "statusUnknown")
        : composeHeadline("none", [language.count("systemsNotJudged", unknown)])),
      detail: `${language.translate("monitoringTrouble")} ${language.translate("lastStateShown")}`,
    };
  if (judged === 0)
    return { ...compose("none", "noStatus"), detail: language.translate("noResults") };
  return compose("up", "allUp");
}

type HeadlineKey =
  "allUp" | "allDown" | "someAffected" | "maintenanceInProgress" | "statusUnknown" | "noStatus";

/**
 * Describes the monitors without trouble, such as `44 of 49 work.` Null if an open incident can affect any of them.
 */
function describeRest(
  monitors: readonly PublicMonitor[],
  open: readonly IncidentView[],
  judged: number,
  language: Language,
): string | null {
  if (open.some(({ affects }) => affects.length === 0)) return null;
  const reported = new Set(open.flatMap(({ affects }) => affects));
  const working = monitors.filter(({ state, name }) => state === "up" && !reported.has(name));
  const count = working.length;
  const troubles = monitors.filter(({ state }) => state === "down" || state === "degraded").length;
  if (count === 0) return null;
  if (count === judged - troubles && troubles <= maxNamed) return language.translate("restUp");
  return language.count("restWorks", count, { all: language.number(judged) });
}

/** Parts of a sentence. Names are separate parts, so that their writing direction does not affect the sentence. */
type SentenceParts = (string | { name: string })[];

const maxNamed = 3;
/** Names before “and 2 more”. */
const maxNamedBeforeMore = 2;
const maxNameLength = 80;

function describeTroubles(
  language: Language,
  down: readonly string[],
  degraded: readonly string[],
): SentenceParts {
  const first = down.length === 0 ? [] : describeState(language, down, "namesDown", "systemsDown");
  if (degraded.length === 0) return first;
  const second = describeState(language, degraded, "namesDegraded", "systemsDegraded");
  if (down.length === 0) return second;
  const [start, ...rest] = second;
  const lowered =
    typeof start === "string"
      ? [language.lower(start.charAt(0)) + start.slice(1), ...rest]
      : second;
  return joinWords(language, "clauses", first, lowered);
}

/** Joins clauses or sentences with the punctuation of the language. */
function joinWords(
  language: Language,
  key: "clauses" | "sentences",
  first: SentenceParts,
  second: SentenceParts,
): SentenceParts {
  const parts = language.split<SentenceParts>(key, { first, second });
  return parts.flatMap((part): SentenceParts => ("text" in part ? [part.text] : part.value));
}

/** Returns `A, B and C are down`, `A, B and 2 more are down`, or `4 systems are down` if the names are too long. */
function describeState(
  language: Language,
  names: readonly string[],
  named: "namesDown" | "namesDegraded",
  counted: "systemsDown" | "systemsDegraded",
): SentenceParts {
  const listedNames = names.slice(0, names.length > maxNamed ? maxNamedBeforeMore : maxNamed);
  if (listedNames.join("").length > maxNameLength) return [language.count(counted, names.length)];
  const more = names.length - listedNames.length;
  const items: SentenceParts = [
    ...listedNames.map((name) => ({ name })),
    ...(more > 0 ? [language.count("more", more)] : []),
  ];
  const listedParts = language
    .splitList(items)
    .map((part) => ("text" in part ? part.text : part.value));
  return language
    .splitCount<SentenceParts>(named, names.length, { names: listedParts })
    .flatMap((part): SentenceParts => ("text" in part ? [part.text] : part.value));
}

/** Describes a past incident without its timeline. */
function buildMarkView(mark: IncidentMark, reader: Reader): IncidentView {
  const emptyFields = {
    postmortem: null,
    earlier: 0,
    updates: [],
    updatedAt: mark.createdAt,
  } as const;
  return buildIncidentView({ ...mark, ...emptyFields, status: "resolved" }, reader);
}

const severityTones = { minor: "degraded", major: "down", critical: "down" } as const;

function buildIncidentView(
  {
    id,
    title,
    status,
    severity,
    monitors,
    createdAt,
    resolvedAt,
    postmortem,
    earlier,
    updates,
    automatic,
  }: PublicIncident,
  { language, times, now }: Reader,
) {
  const end = resolvedAt === null ? now : Date.parse(resolvedAt);
  return {
    id,
    title,
    /** Whether a person wrote the title. */
    isTitled: automatic?.hasTitle !== true,
    severity: language.translate(severity),
    tone: severityTones[severity],
    affects: monitors.map(({ name }) => name),
    began: times.moment(createdAt),
    pastTime: findPastTime(Date.parse(createdAt), end, now),
    day: times.shortDay(createdAt),
    /** Start and end time; only the start of an open incident. */
    hours:
      resolvedAt === null
        ? language.translate("since", { time: times.clock(createdAt) })
        : times.range(createdAt, resolvedAt),
    isOpen: status !== "resolved",
    /** Duration, until now for an open incident. */
    length: describeDuration(end - Date.parse(createdAt), language),
    summary: updates[0]?.message ?? "",
    postmortem: postmortem && {
      message: postmortem.message,
      published: times.moment(postmortem.publishedAt),
    },
    /** Number of earlier updates that are not listed. */
    earlier,
    updates: updates.map((update) => ({
      id: update.id,
      status: language.translate(update.status as IncidentStatus),
      message: update.message,
      lang: update.lang ?? null,
      time: times.moment(update.createdAt),
      edited: update.editedAt === null ? null : times.moment(update.editedAt),
    })),
  };
}

/** Returns the first whole minute of an incident, in RFC 3339; null if it has none, or if the page can't show it. */
function findPastTime(start: number, end: number, now: number): string | null {
  const minute = Math.ceil(start / minuteMs) * minuteMs;
  const isStored = start > now - eventDays * dayMs;
  return isStored && minute < end ? `${new Date(minute).toISOString().slice(0, 16)}Z` : null;
}

/** Returns the id of the page element that shows an occurrence of maintenance. */
export const formatMaintenanceAnchor = (occurrenceId: string) => `maintenance-${occurrenceId}`;

/** Formats a duration in whole minutes, so that the page does not change every second. */
function describeDuration(ms: number, language: Language): string {
  return ms < 60_000
    ? language.translate("lessThanAMinute")
    : language.duration(Math.floor(ms / minuteMs) * 60);
}
