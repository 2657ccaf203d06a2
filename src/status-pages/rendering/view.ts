/** Turns the data of a status page into its displayed words: headline, states, uptime, incidents, maintenance. */
import { dayMs } from "../../core/time/clock.ts";
import {
  capitalize,
  formatCount,
  formatDuration,
  formatLatency,
  formatPercent,
} from "../../core/text/formatting.ts";
import { toLocal } from "../../core/time/time-zones.ts";
import { formatDay, minuteFormat, formatSince, formatTimeSpan } from "../../core/time/times.ts";
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
import type { PublicWindow } from "../windows.ts";
import type { ShownStatus } from "../../monitoring/monitors/shown-status-rules.ts";

export type Tone = "up" | "degraded" | "down" | "maintenance" | "none";

export type Moment = { at: string; text: string };

export type MonitorView = ReturnType<typeof buildMonitorView>;
export type DayView = { tone: Tone; text: string };
export type IncidentView = ReturnType<typeof buildIncidentView>;
export type StatusView = ReturnType<typeof buildView>;

const pastDays = 7;
/** Minimum of past incidents, if the days of the page have so many. */
const minPast = 5;
/** Maximum monitors of a page on which no section is folded. */
const maxUnfoldedMonitors = 20;

/** Builds the content of a page at `now` in words, without markup. */
export function buildView(published: PublicData, now: number) {
  const { page, sections, incidents, windows, marks } = published;
  const times = createTimeFormats(page.timeZone, now);
  const incidentViews = incidents.map((incident) => buildIncidentView(incident, times, now));
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
    .map((mark) => buildMarkView(mark, times, now));
  const checkedAt = all.reduce<string | null>(
    (last, { lastCheckedAt }) =>
      lastCheckedAt !== null && (last === null || lastCheckedAt > last) ? lastCheckedAt : last,
    null,
  );
  return {
    page,
    headline: buildHeadline(all, incidentViews, windows),
    /** Open incidents. */
    incidents: incidentViews.filter(({ isOpen }) => isOpen),
    all: incidentViews,
    /** Maintenance in progress. */
    running: buildWorkViews(
      windows.filter(({ isRunning }) => isRunning),
      times,
    ),
    scheduled: buildWorkViews(
      windows.filter(({ isRunning }) => !isRunning),
      times,
    ),
    sections: sections.map(({ id, name, monitors }) => ({
      id,
      name,
      /** On a long page, sections without trouble are folded. */
      isFolded:
        sections.length > 1 &&
        all.length > maxUnfoldedMonitors &&
        monitors.length > 1 &&
        monitors.every(({ state }) => state === "up"),
      monitors: monitors.map((monitor) =>
        buildMonitorView(monitor, page, marksBy.get(monitor.id) ?? [], now, times),
      ),
    })),
    /**
     * Resolved incidents that started or ended in the last `pastDays` days of the page's time zone, and earlier ones
     * up to `minPast`, newest first.
     */
    past: [...recent, ...earlier],
    checked: checkedAt === null ? null : times.moment(checkedAt),
  };
}

export type WorkView = ReturnType<typeof buildWorkViews>[number];

/** Groups occurrences by maintenance window, in the order of each window's first occurrence. */
function buildWorkViews(
  windows: readonly PublicWindow[],
  times: ReturnType<typeof createTimeFormats>,
) {
  return [...Map.groupBy(windows, ({ id }) => id).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { id, title, description, monitors } = first;
    const spans = all.map(({ occurrenceId, startsAt, endsAt }) => ({
      id: occurrenceId,
      text: times.span(startsAt, endsAt),
    }));
    const affects = monitors.map(({ name }) => name);
    return [{ id, title, description, affects, times: spans, every: describeEvery(all, times) }];
  });
}

/**
 * Describes recurring maintenance, such as `Every day 21:22–22:22`. Null unless all occurrences have the same times
 * of day on the page, on the same days as in the window's time zone.
 */
function describeEvery(
  all: readonly PublicWindow[],
  times: ReturnType<typeof createTimeFormats>,
): string | null {
  const [first, ...later] = all;
  if (first === undefined || first.recurrence === null) return null;
  const { recurrence, timeZone, startsAt, endsAt } = first;
  const range = times.range(startsAt, endsAt);
  const isSame = later.every((one) => times.range(one.startsAt, one.endsAt) === range);
  const isOneDay = times.day(startsAt) === times.day(endsAt);
  const isOnSameDays = all.every(({ startsAt: at }) => times.isSameLocally(at, timeZone));
  return isSame && isOneDay && isOnSameDays ? `${recurrence} ${range}` : null;
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

const stateWords: Record<ShownStatus, string> = {
  unknown: "Not judged",
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance",
  pending: "Not checked yet",
  paused: "Paused",
};

/** States whose start is shown. */
const sinceStates: readonly ShownStatus[] = ["down", "degraded", "maintenance"];

/** Days per monitor in a narrow browser window. Its figures cover the same days. */
export const recentDays = 30;

function buildMonitorView(
  monitor: PublicMonitor,
  { historyDays, showLatency, timeZone }: PublicData["page"],
  marks: readonly IncidentMark[],
  now: number,
  times: ReturnType<typeof createTimeFormats>,
) {
  const { id, name, description, state, latencyMs, days } = monitor;
  const today = Math.floor(now / dayMs);
  const computeFigures = (count: number) => {
    const since = findPartialStart(monitor, today, count);
    return {
      uptime: formatPercent(computeUptime(days, today, count)),
      /** Start of the measurements, unless they cover the whole period. */
      since: since === null ? null : formatSince(timeZone, since, now),
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
    tone: stateTones[state],
    word: stateWords[state],
    /** Start of a state that is not normal. */
    stateSince: sinceStates.includes(state) ? `since ${times.moment(monitor.since).text}` : null,
    lastKnown: describeLastKnown(monitor, times),
    latency:
      showLatency && state !== "unknown" && latencyMs !== null ? formatLatency(latencyMs) : null,
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
      const dayIndexAt = (at: number) => Math.floor(at / dayMs) - (today - historyDays + 1);
      const last = dayIndexAt(resolvedAt === null ? now : Date.parse(resolvedAt));
      return { id, title, severity, first: dayIndexAt(Date.parse(createdAt)), last };
    }),
    /** Days that no longer change: their number, the last day, and the sums `of` the monitor as cache key. */
    settled: { of: days, count: Math.max(0, historyDays - 2), until: today - 2 },
  };
}

/** Describes the last known state, and since when the monitor is not judged; null while it is judged. */
function describeLastKnown(
  { state, lastKnown, notJudgedSince }: PublicMonitor,
  times: ReturnType<typeof createTimeFormats>,
): string | null {
  if (state !== "unknown" && notJudgedSince === null) return null;
  const since = notJudgedSince === null ? "" : ` since ${times.moment(notJudgedSince).text}`;
  const before =
    lastKnown === "pending" ? "" : ` Last known: ${stateWords[lastKnown].toLowerCase()}.`;
  return `Not judged${since}.${before}`;
}

function buildDayView(day: number, sums: Totals | undefined): DayView {
  const date = new Date(day * dayMs).toISOString().slice(0, 10);
  if (sums === undefined) return { tone: "none", text: `${date}: no data` };
  const { degradedSeconds, downSeconds, maintenanceSeconds } = sums;
  const ratio = computeRatio(sums);
  const parts = [
    ...(ratio === null ? [] : [`${formatPercent(ratio)} up`]),
    ...(downSeconds > 0 ? [`${formatDuration(downSeconds)} down`] : []),
    ...(degradedSeconds > 0 ? [`${formatDuration(degradedSeconds)} degraded`] : []),
    ...(maintenanceSeconds > 0 ? [`${formatDuration(maintenanceSeconds)} maintenance`] : []),
  ];
  return { tone: determineTone(sums), text: `${date}: ${parts.join(", ") || "no data"}` };
}

function describeOpenIncidents(count: number, isAnyDown: boolean): string {
  if (count === 0) return isAnyDown ? "No incident has been posted yet." : "No open incidents.";
  return count === 1
    ? "One incident is being worked on."
    : `${formatCount(count)} incidents are being worked on.`;
}

/** Writes the headline: the worst state first, with the names of the affected monitors if there are few. */
function buildHeadline(
  monitors: readonly PublicMonitor[],
  incidents: readonly IncidentView[],
  windows: readonly PublicWindow[],
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
  const detail = describeOpenIncidents(open.length, down.length > 0);
  const composeHeadline = (tone: Tone, ...words: Words) => ({
    tone,
    words,
    text: words.map((word) => (typeof word === "string" ? word : word.name)).join(""),
    detail,
  });
  if (down.length > 1 && down.length === judged)
    return composeHeadline("down", "All systems are down");
  if (down.length + degraded.length > 0) {
    const named: Words = [
      ...(down.length > 0 ? describeState(down, "One", "down") : []),
      ...(down.length > 0 && degraded.length > 0 ? [", "] : []),
      ...(degraded.length > 0
        ? describeState(degraded, down.length > 0 ? "one" : "One", "degraded")
        : []),
    ];
    const rest = unknown === 0 ? describeRest(monitors, open, judged) : null;
    return composeHeadline(
      down.length > 0 ? "down" : "degraded",
      ...named,
      ...(rest === null ? [] : [`. ${rest}`]),
    );
  }
  if (open.length > 0) return composeHeadline("degraded", "Some systems are affected");
  if (maintained.length > 0 || windows.some(({ isRunning }) => isRunning))
    return composeHeadline("maintenance", "Maintenance in progress");
  if (unknown > 0)
    return {
      ...composeHeadline(
        "none",
        ...(judged === 0 ? ["The current status is not known"] : describeNotJudged(unknown)),
      ),
      detail: "The monitoring itself has trouble. This page shows the last known state.",
    };
  if (judged === 0)
    return {
      ...composeHeadline("none", "No status yet"),
      detail: "There are no check results to show.",
    };
  return composeHeadline("up", "All systems are up");
}

/**
 * Describes the monitors without trouble, such as `44 of 49 work.` Null if an open incident can affect any of them.
 */
function describeRest(
  monitors: readonly PublicMonitor[],
  open: readonly IncidentView[],
  judged: number,
): string | null {
  if (open.some(({ affects }) => affects.length === 0)) return null;
  const reported = new Set(open.flatMap(({ affects }) => affects));
  const working = monitors.filter(({ state, name }) => state === "up" && !reported.has(name));
  const count = working.length;
  const troubles = monitors.filter(({ state }) => state === "down" || state === "degraded").length;
  if (count === 0) return null;
  if (count === judged - troubles && troubles <= maxNamed) return "Everything else is up.";
  return `${formatCount(count)} of ${formatCount(judged)} ${count === 1 ? "works" : "work"}.`;
}

const describeNotJudged = (count: number): Words => [
  `${count === 1 ? "One system" : `${formatCount(count)} systems`} can't be judged right now`,
];

/** Parts of a sentence. Names are separate parts, so that their writing direction does not affect the sentence. */
type Words = (string | { name: string })[];

const maxNamed = 3;
/** Names before “and 2 more”. */
const maxNamedBeforeMore = 2;
const maxNameLength = 80;

/** Returns `A, B and C are down`, `A, B and 2 more are down`, or `4 systems are down` if the names are too long. */
function describeState(names: readonly string[], one: string, state: string): Words {
  const is = `${names.length === 1 ? " is" : " are"} ${state}`;
  const named = names.slice(0, names.length > maxNamed ? maxNamedBeforeMore : maxNamed);
  if (named.join("").length > maxNameLength)
    return [
      `${names.length === 1 ? `${one} system` : `${formatCount(names.length)} systems`}${is}`,
    ];
  const more = names.length - named.length;
  const listed = named.flatMap((name, index) => [
    ...(index === 0 ? [] : [more === 0 && index === named.length - 1 ? " and " : ", "]),
    { name },
  ]);
  return [...listed, ...(more > 0 ? [` and ${formatCount(more)} more`] : []), is];
}

/** Describes a past incident without its timeline. */
function buildMarkView(
  mark: IncidentMark,
  times: ReturnType<typeof createTimeFormats>,
  now: number,
): IncidentView {
  const rest = { postmortem: null, earlier: 0, updates: [], updatedAt: mark.createdAt } as const;
  return buildIncidentView({ ...mark, ...rest, status: "resolved" }, times, now);
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
  }: PublicIncident,
  times: ReturnType<typeof createTimeFormats>,
  now: number,
) {
  const end = resolvedAt === null ? now : Date.parse(resolvedAt);
  return {
    id,
    title,
    severity: capitalize(severity),
    tone: severityTones[severity],
    affects: monitors.map(({ name }) => name),
    began: times.moment(createdAt),
    day: times.shortDay(createdAt),
    /** Start and end time; only the start of an open incident. */
    hours:
      resolvedAt === null ? `since ${times.clock(createdAt)}` : times.range(createdAt, resolvedAt),
    isOpen: status !== "resolved",
    /** Duration, until now for an open incident. */
    length: describeDuration(end - Date.parse(createdAt)),
    summary: updates[0]?.message ?? "",
    postmortem: postmortem && {
      message: postmortem.message,
      published: times.moment(postmortem.publishedAt),
    },
    /** Number of earlier updates that are not listed. */
    earlier,
    updates: updates.map((update) => ({
      id: update.id,
      status: capitalize(update.status),
      message: update.message,
      time: times.moment(update.createdAt),
      edited: update.editedAt === null ? null : times.moment(update.editedAt),
    })),
  };
}

/** Returns the id of the page element that shows an occurrence of maintenance. */
export const formatMaintenanceAnchor = (occurrenceId: string) => `maintenance-${occurrenceId}`;

/** Returns the number of earlier updates in words. */
export const describeEarlierUpdates = (count: number) =>
  count === 1 ? "1 earlier update" : `${count.toLocaleString("en")} earlier updates`;

/** Formats a duration in whole minutes, so that the page does not change every second. */
function describeDuration(ms: number): string {
  return ms < 60_000 ? "less than a minute" : formatDuration(Math.floor(ms / 60_000) * 60);
}

/** Formats dates and times for people in a time zone. */
export function createTimeFormats(timeZone: string, now: number) {
  const createFormat = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...options });
    return (timestamp: string) => format.format(new Date(timestamp));
  };
  const day = createFormat({ day: "numeric", month: "long", year: "numeric" });
  const clock = createFormat(minuteFormat);
  const formatShortDay = (at: string) => formatDay(timeZone, Date.parse(at), now);
  return {
    day,
    shortDay: formatShortDay,
    clock,
    /** Omits the end if it is within the same minute as the start. */
    range: (from: string, to: string) => {
      if (day(from) !== day(to)) return `${clock(from)} – ${formatShortDay(to)} ${clock(to)}`;
      return clock(from) === clock(to) ? clock(from) : `${clock(from)}–${clock(to)}`;
    },
    month: createFormat({ month: "long", year: "numeric" }),
    /** Includes the day even if it is today, because cached pages can be read tomorrow. */
    moment: (at: string): Moment => ({
      at,
      text: `${formatShortDay(at)} ${clock(at)}`,
    }),
    /** Whether clocks of the page and of another time zone show the same. */
    isSameLocally: (at: string, other: string) =>
      toLocal(Date.parse(at), timeZone) === toLocal(Date.parse(at), other),
    span: (from: string, to: string) =>
      formatTimeSpan(timeZone, Date.parse(from), Date.parse(to), now),
  };
}
