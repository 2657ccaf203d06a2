/** Turns the data of a status page into its displayed words: headline, states, uptime, incidents, maintenance. */
import {
  capitalized,
  countInWords,
  durationInWords,
  latencyInWords,
  percent,
} from "../../core/text/words.ts";
import { dayIn, minuteFormat, sinceIn, spanIn } from "../../core/time/times.ts";
import { dayMs, ratioOf, toneOf } from "../../monitoring/uptime/rules.ts";
import {
  type IncidentMark,
  type Totals,
  type PublicData,
  type PublicIncident,
  partialSince,
  type PublicMonitor,
  uptimeOf,
} from "../formats/public-data.ts";
import type { PublicWindow } from "../windows.ts";
import type { ShownStatus } from "../../monitoring/monitors/judgement-rules.ts";

export type Tone = "up" | "degraded" | "down" | "maintenance" | "none";

export type Moment = { at: string; text: string };

export type MonitorView = ReturnType<typeof monitorView>;
export type DayView = { tone: Tone; text: string };
export type IncidentView = ReturnType<typeof incidentView>;
export type StatusView = ReturnType<typeof viewOf>;

const pastDays = 7;

/** Builds the content of a page at `now` in words, without markup. */
export function viewOf(published: PublicData, now: number) {
  const { page, sections, incidents, windows, marks } = published;
  const times = timesIn(page.timeZone, now);
  const shown = incidents.map((incident) => incidentView(incident, times, now));
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
  const checkedAt = all.reduce<string | null>(
    (last, { lastCheckedAt }) =>
      lastCheckedAt !== null && (last === null || lastCheckedAt > last) ? lastCheckedAt : last,
    null,
  );
  return {
    page,
    headline: headlineOf(all, shown, windows),
    /** Open incidents. */
    incidents: shown.filter(({ isOpen }) => isOpen),
    all: shown,
    /** Maintenance in progress. */
    running: plannedWork(
      windows.filter(({ isRunning }) => isRunning),
      times,
    ),
    scheduled: plannedWork(
      windows.filter(({ isRunning }) => !isRunning),
      times,
    ),
    sections: sections.map(({ name, monitors }) => ({
      name,
      monitors: monitors.map((monitor) =>
        monitorView(monitor, page, marksBy.get(monitor.id) ?? [], now, times),
      ),
    })),
    /** Resolved incidents that started or ended in the last `pastDays` days of the page's time zone, newest first. */
    past: shown.filter(({ id, isOpen }) => !isOpen && past.has(id)),
    pastDays,
    checked: checkedAt === null ? null : times.moment(checkedAt),
  };
}

export type WorkView = ReturnType<typeof plannedWork>[number];

/** Groups occurrences by maintenance window, in the order of each window's first occurrence. */
function plannedWork(windows: readonly PublicWindow[], times: ReturnType<typeof timesIn>) {
  return [...Map.groupBy(windows, ({ id }) => id).values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { id, title, description, monitors } = first;
    const spans = all.map(({ occurrenceId, startsAt, endsAt }) => ({
      id: occurrenceId,
      text: times.span(startsAt, endsAt),
    }));
    return [{ id, title, description, affects: monitors.map(({ name }) => name), times: spans }];
  });
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

/** Days per monitor in a narrow browser window. Its figures cover the same days. */
export const recentDays = 30;

function monitorView(
  monitor: PublicMonitor,
  { historyDays, showLatency, timeZone }: PublicData["page"],
  marks: readonly IncidentMark[],
  now: number,
  times: ReturnType<typeof timesIn>,
) {
  const { id, name, description, state, latencyMs, days } = monitor;
  const today = Math.floor(now / dayMs);
  const figuresOf = (count: number) => {
    const since = partialSince(monitor, today, count);
    return {
      uptime: percent(uptimeOf(days, today, count)),
      /** Start of the measurements, unless they cover the whole period. */
      since: since === null ? null : sinceIn(timeZone, since, now),
    };
  };
  /** Days from index `from` up to, but excluding, `to`. Index 0 is the oldest day. */
  const daysBetween = (from: number, to: number): DayView[] =>
    Array.from({ length: to - from }, (_, index) => {
      const day = today - historyDays + 1 + from + index;
      return dayView(day, days.get(day));
    });
  return {
    id,
    name,
    description,
    tone: stateTones[state],
    word: stateWords[state],
    lastKnown: lastKnownOf(monitor, times),
    latency:
      showLatency && state !== "unknown" && latencyMs !== null ? latencyInWords(latencyMs) : null,
    // Getters, because figures and days are most of the work on a large page. Each monitor computes them when rendered.
    get figures() {
      return figuresOf(historyDays);
    },
    /** Figures of the days in a narrow browser window. */
    get recentFigures() {
      return figuresOf(Math.min(recentDays, historyDays));
    },
    get days() {
      return daysBetween(0, historyDays);
    },
    historyDays,
    daysBetween,
    /** Incidents of the monitor, each with the indexes of its first and last day. */
    marks: marks.map(({ id, title, severity, createdAt, resolvedAt }) => {
      const placeOf = (at: number) => Math.floor(at / dayMs) - (today - historyDays + 1);
      const last = placeOf(resolvedAt === null ? now : Date.parse(resolvedAt));
      return { id, title, severity, first: placeOf(Date.parse(createdAt)), last };
    }),
    /** Days that no longer change: their number, the last day, and the sums `of` the monitor as cache key. */
    settled: { of: days, count: Math.max(0, historyDays - 2), until: today - 2 },
  };
}

/** Describes the last known state, and since when the monitor is not judged; null while it is judged. */
function lastKnownOf(
  { state, lastKnown, notJudgedSince }: PublicMonitor,
  times: ReturnType<typeof timesIn>,
): string | null {
  if (state !== "unknown" && notJudgedSince === null) return null;
  const since = notJudgedSince === null ? "" : ` since ${times.moment(notJudgedSince).text}`;
  const before =
    lastKnown === "pending" ? "" : ` Last known: ${stateWords[lastKnown].toLowerCase()}.`;
  return `Not judged${since}.${before}`;
}

function dayView(day: number, sums: Totals | undefined): DayView {
  const date = new Date(day * dayMs).toISOString().slice(0, 10);
  if (sums === undefined) return { tone: "none", text: `${date}: no data` };
  const { degradedSeconds, downSeconds, maintenanceSeconds } = sums;
  const ratio = ratioOf(sums);
  const parts = [
    ...(ratio === null ? [] : [`${percent(ratio)} up`]),
    ...(downSeconds > 0 ? [`${durationInWords(downSeconds)} down`] : []),
    ...(degradedSeconds > 0 ? [`${durationInWords(degradedSeconds)} degraded`] : []),
    ...(maintenanceSeconds > 0 ? [`${durationInWords(maintenanceSeconds)} maintenance`] : []),
  ];
  return { tone: toneOf(sums), text: `${date}: ${parts.join(", ") || "no data"}` };
}

/** Writes the headline: the worst state first, with the names of the affected monitors if there are few. */
function headlineOf(
  monitors: readonly PublicMonitor[],
  incidents: readonly IncidentView[],
  windows: readonly PublicWindow[],
) {
  const named = (state: ShownStatus) =>
    monitors.filter((one) => one.state === state).map(({ name }) => name);
  const [down, degraded, maintained] = [named("down"), named("degraded"), named("maintenance")];
  const up = named("up").length;
  const unknown = named("unknown").length;
  const judged = up + down.length + degraded.length + maintained.length;
  const open = incidents.filter(({ isOpen }) => isOpen);
  const detail =
    open.length === 0
      ? down.length > 0
        ? "No incident has been posted yet."
        : "No open incidents."
      : open.length === 1
        ? "One incident is being worked on."
        : `${countInWords(open.length)} incidents are being worked on.`;
  const says = (tone: Tone, ...words: Words) => ({
    tone,
    words,
    text: words.map((word) => (typeof word === "string" ? word : word.name)).join(""),
    detail,
  });
  if (down.length > 1 && down.length === judged) return says("down", "All systems are down");
  if (down.length + degraded.length > 0) {
    const affected = new Set([...down, ...degraded]);
    const isAll =
      up > 0 &&
      unknown === 0 &&
      maintained.length === 0 &&
      open.every(
        ({ affects }) => affects.length > 0 && affects.every((name) => affected.has(name)),
      );
    return says(
      down.length > 0 ? "down" : "degraded",
      ...(down.length > 0 ? stateOf(down, "One", "down") : []),
      ...(down.length > 0 && degraded.length > 0 ? [", "] : []),
      ...(degraded.length > 0
        ? stateOf(degraded, down.length > 0 ? "one" : "One", "degraded")
        : []),
      ...(isAll ? [". Everything else is up."] : []),
    );
  }
  if (open.length > 0) return says("degraded", "Some systems are affected");
  if (maintained.length > 0 || windows.some(({ isRunning }) => isRunning))
    return says("maintenance", "Maintenance in progress");
  if (unknown > 0)
    return {
      ...says("none", ...(judged === 0 ? ["The current status is not known"] : notJudged(unknown))),
      detail: "The monitoring itself has trouble. This page shows the last known state.",
    };
  if (judged === 0)
    return { ...says("none", "No status yet"), detail: "There are no check results to show." };
  return says("up", "All systems are up");
}

const notJudged = (count: number): Words => [
  `${count === 1 ? "One system" : `${countInWords(count)} systems`} can't be judged right now`,
];

/** Parts of a sentence. Names are separate parts, so that their writing direction does not affect the sentence. */
type Words = (string | { name: string })[];

const maxNamed = 3;
const maxNameLength = 80;

/** Returns `A, B and C are down`, or `Four systems are down` if the names are too many or too long. */
function stateOf(names: readonly string[], one: string, state: string): Words {
  const is = `${names.length === 1 ? " is" : " are"} ${state}`;
  if (names.length > maxNamed || names.join("").length > maxNameLength)
    return [
      `${names.length === 1 ? `${one} system` : `${countInWords(names.length)} systems`}${is}`,
    ];
  const listed = names.flatMap((name, index) => [
    ...(index === 0 ? [] : [index === names.length - 1 ? " and " : ", "]),
    { name },
  ]);
  return [...listed, is];
}

const severityTones = { minor: "degraded", major: "down", critical: "down" } as const;

function incidentView(
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
  times: ReturnType<typeof timesIn>,
  now: number,
) {
  const end = resolvedAt === null ? now : Date.parse(resolvedAt);
  return {
    id,
    title,
    severity: capitalized(severity),
    tone: severityTones[severity],
    affects: monitors.map(({ name }) => name),
    began: times.moment(createdAt),
    day: times.shortDay(createdAt),
    /** Start and end time; only the start of an open incident. */
    hours:
      resolvedAt === null ? `since ${times.clock(createdAt)}` : times.range(createdAt, resolvedAt),
    isOpen: status !== "resolved",
    /** Duration, until now for an open incident. */
    length: lengthOf(end - Date.parse(createdAt)),
    summary: updates[0]?.message ?? "",
    postmortem: postmortem && {
      message: postmortem.message,
      published: times.moment(postmortem.publishedAt),
    },
    /** Number of earlier updates that are not listed. */
    earlier,
    updates: updates.map((update) => ({
      id: update.id,
      status: capitalized(update.status),
      message: update.message,
      time: times.moment(update.createdAt),
      edited: update.editedAt === null ? null : times.moment(update.editedAt),
    })),
  };
}

/** Returns the id of the page element that shows an occurrence of maintenance. */
export const maintenanceAnchor = (occurrenceId: string) => `maintenance-${occurrenceId}`;

/** Returns the number of earlier updates in words. */
export const earlierInWords = (count: number) =>
  count === 1 ? "1 earlier update" : `${count.toLocaleString("en")} earlier updates`;

/** Formats a duration in whole minutes, so that the page does not change every second. */
function lengthOf(ms: number): string {
  return ms < 60_000 ? "less than a minute" : durationInWords(Math.floor(ms / 60_000) * 60);
}

/** Formats dates and times for people in a time zone. */
export function timesIn(timeZone: string, now: number) {
  const formatted = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...options });
    return (timestamp: string) => format.format(new Date(timestamp));
  };
  const day = formatted({ day: "numeric", month: "long", year: "numeric" });
  const clock = formatted(minuteFormat);
  const shortDay = (at: string) => dayIn(timeZone, Date.parse(at), now);
  return {
    day,
    shortDay,
    clock,
    /** Omits the end if it is within the same minute as the start. */
    range: (from: string, to: string) => {
      if (day(from) !== day(to)) return `${clock(from)} – ${shortDay(to)} ${clock(to)}`;
      return clock(from) === clock(to) ? clock(from) : `${clock(from)}–${clock(to)}`;
    },
    month: formatted({ month: "long", year: "numeric" }),
    /** Includes the day even if it is today, because cached pages can be read tomorrow. */
    moment: (at: string): Moment => ({
      at,
      text: `${shortDay(at)} ${clock(at)}`,
    }),
    span: (from: string, to: string) => spanIn(timeZone, Date.parse(from), Date.parse(to), now),
  };
}
