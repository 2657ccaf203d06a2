import { capitalized, durationInWords, latencyInWords, percent } from "../core/text.ts";
import { dayIn, minuteFormat, sinceIn, spanIn } from "../core/times.ts";
import { dayMs, ratioOf, toneOf } from "../monitoring/uptime/rules.ts";
import {
  type IncidentMark,
  type Totals,
  type PublicData,
  type PublicIncident,
  partialSince,
  type PublicMonitor,
  uptimeOf,
} from "./public-data.ts";
import type { PublicWindow } from "./windows.ts";
import type { MonitorStatus } from "../core/statuses.ts";

export type Tone = "up" | "degraded" | "down" | "maintenance" | "none";

export type Moment = { at: string; text: string };

export type MonitorView = ReturnType<typeof monitorView>;
export type DayView = { tone: Tone; text: string };
export type IncidentView = ReturnType<typeof incidentView>;
export type StatusView = ReturnType<typeof viewOf>;

const pastDays = 7;

/** What a page says at `now`, in words: everything but markup. */
export function viewOf(published: PublicData, now: number) {
  const { page, sections, incidents, windows, marks } = published;
  const times = timesIn(page.timeZone, now);
  const shown = incidents.map((incident) => incidentView(incident, times, now));
  const marked = Map.groupBy(marks, ({ monitor }) => monitor?.id);
  const all = sections.flatMap(({ monitors }) => monitors);
  // In half days, because a day may have 23 hours, or 25.
  const halves = Array.from({ length: 2 * pastDays + 2 }, (_, back) =>
    times.day(new Date(now - (back * dayMs) / 2).toISOString()),
  );
  const days = [...new Set(halves)].slice(0, pastDays);
  // One that began earlier stands on the day of its end: nothing is forgotten the day it is over.
  const placed = new Map(
    incidents.map(({ id, createdAt, resolvedAt }) => {
      const began = times.day(createdAt);
      return [id, days.includes(began) || resolvedAt === null ? began : times.day(resolvedAt)];
    }),
  );
  const checkedAt = all.reduce<string | null>(
    (last, { lastCheckedAt }) =>
      lastCheckedAt !== null && (last === null || lastCheckedAt > last) ? lastCheckedAt : last,
    null,
  );
  return {
    page,
    headline: headlineOf(all, shown, windows),
    /** Those that are open. */
    incidents: shown.filter(({ isOpen }) => isOpen),
    all: shown,
    windows: windows.map(({ startsAt, endsAt, ...window }) => ({
      ...window,
      time: times.span(startsAt, endsAt),
    })),
    sections: sections.map(({ name, monitors }) => ({
      name,
      monitors: monitors.map((monitor) =>
        monitorView(monitor, page, marked.get(monitor.id) ?? [], now),
      ),
    })),
    past: days.map((day) => ({
      day,
      incidents: shown.filter(({ id }) => placed.get(id) === day),
    })),
    checked: checkedAt === null ? null : times.moment(checkedAt),
  };
}

export const stateTones: Record<MonitorStatus, Tone> = {
  up: "up",
  degraded: "degraded",
  down: "down",
  maintenance: "maintenance",
  pending: "none",
  paused: "none",
};

const stateWords: Record<MonitorStatus, string> = {
  up: "",
  degraded: "Degraded",
  down: "Outage",
  maintenance: "Under maintenance",
  pending: "Not checked yet",
  paused: "Paused",
};

function monitorView(
  monitor: PublicMonitor,
  { historyDays, showLatency, timeZone }: PublicData["page"],
  marks: readonly IncidentMark[],
  now: number,
) {
  const { id, name, description, state, latencyMs, days } = monitor;
  const today = Math.floor(now / dayMs);
  /** Some of its days, by their place. */
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
    /** What it is in a word; empty while it is up. */
    word: stateWords[state],
    latency: showLatency && latencyMs !== null ? latencyInWords(latencyMs) : null,
    // Of a large page these are most of the work: done monitor by monitor, where they are needed.
    get uptime() {
      return percent(uptimeOf(days, today, historyDays));
    },
    /** Where it was not there all the time that its uptime is of. */
    get since() {
      const since = partialSince(monitor, today, historyDays);
      return since === null ? null : sinceIn(timeZone, since, now);
    },
    get days() {
      return daysBetween(0, historyDays);
    },
    historyDays,
    daysBetween,
    /** Its incidents with the places of the first and the last day of each. */
    marks: marks.map(({ id, title, severity, createdAt, resolvedAt }) => {
      const placeOf = (at: number) => Math.floor(at / dayMs) - (today - historyDays + 1);
      const last = placeOf(resolvedAt === null ? now : Date.parse(resolvedAt));
      return { id, title, severity, first: placeOf(Date.parse(createdAt)), last };
    }),
    /** How many of them don't change any more, up to which day, and what they are days of. */
    settled: { of: days, count: Math.max(0, historyDays - 2), until: today - 2 },
  };
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

function headlineOf(
  monitors: readonly PublicMonitor[],
  incidents: readonly IncidentView[],
  windows: readonly PublicWindow[],
) {
  const count = (state: MonitorStatus) => monitors.filter((one) => one.state === state).length;
  const judged = monitors.length - count("paused") - count("pending");
  const open = incidents.filter(({ isOpen }) => isOpen).length;
  const down = count("down");
  const detail =
    open === 0
      ? down > 0
        ? "No incident has been posted yet."
        : "No open incidents."
      : open === 1
        ? "One incident is being worked on."
        : `${open} incidents are being worked on.`;
  const says = (tone: Tone, text: string) => ({ tone, text, detail });
  if (down > 0 && down === judged) return says("down", "All systems are down");
  if (down > 0) return says("down", "Some systems are down");
  if (incidents.some(({ isOpen, tone }) => isOpen && tone === "down"))
    return says("degraded", "Some systems are affected");
  if (count("degraded") > 0 || open > 0) return says("degraded", "Some systems are affected");
  if (count("maintenance") > 0 || windows.some(({ isRunning }) => isRunning))
    return says("maintenance", "Maintenance is under way");
  return says("up", monitors.length === 0 ? "No known problems" : "All systems are up");
}

const severityTones = { minor: "degraded", major: "down", critical: "down" } as const;

function incidentView(
  { id, title, status, severity, monitor, createdAt, resolvedAt, updates }: PublicIncident,
  times: ReturnType<typeof timesIn>,
  now: number,
) {
  const end = resolvedAt === null ? now : Date.parse(resolvedAt);
  return {
    id,
    title,
    severity: capitalized(severity),
    tone: severityTones[severity],
    affects: monitor?.name ?? null,
    began: times.moment(createdAt),
    isOpen: status !== "resolved",
    /** How long it lasted, or lasts. */
    length: lengthOf(end - Date.parse(createdAt)),
    summary: updates[0]?.message ?? "",
    updates: updates.map((update) => ({
      id: update.id,
      status: capitalized(update.status),
      message: update.message,
      time: times.moment(update.createdAt),
    })),
  };
}

/** In whole minutes: the page is not made anew each second. */
function lengthOf(ms: number): string {
  return ms < 60_000 ? "less than a minute" : durationInWords(Math.floor(ms / 60_000) * 60);
}

/** Dates and times as people of a time zone read them. */
export function timesIn(timeZone: string, now: number) {
  const formatted = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...options });
    return (timestamp: string) => format.format(new Date(timestamp));
  };
  const day = formatted({ day: "numeric", month: "long", year: "numeric" });
  const clock = formatted(minuteFormat);
  return {
    day,
    month: formatted({ month: "long", year: "numeric" }),
    /** Never as of today: the page is kept, and may be read tomorrow. */
    moment: (at: string): Moment => ({
      at,
      text: `${dayIn(timeZone, Date.parse(at), now)} ${clock(at)}`,
    }),
    span: (from: string, to: string) => spanIn(timeZone, Date.parse(from), Date.parse(to), now),
  };
}
