/** Writes a status page as JSON, with figures instead of words. */
import { dayMs } from "../../core/time/clock.ts";
import { computeRatio } from "../../monitoring/uptime/rules.ts";
import { type Totals, type PublicData, type PublicMonitor, computeUptime } from "./public-data.ts";
import type { StatusView } from "../rendering/view.ts";

/** Writes the page as JSON, one piece per monitor and per incident. */
export function* renderJson(
  { page, sections, incidents, windows }: PublicData,
  view: StatusView,
  now: number,
): Generator<string> {
  const { slug, title, description, timeZone } = page;
  const dates = listDates(page.historyDays, now);
  const head = {
    page: { slug, title, description, timeZone },
    status: view.headline.tone,
    headline: view.headline.text,
    updatedAt: new Date(now).toISOString(),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"sections":[`;
  for (const [index, { name, nested = false, monitors }] of sections.entries()) {
    yield `${index === 0 ? "" : ","}{"name":${JSON.stringify(name)},"nested":${nested},"monitors":[`;
    for (const [position, monitor] of monitors.entries())
      yield (position === 0 ? "" : ",") + renderMonitor(monitor, page, dates, now);
    yield "]}";
  }
  yield '],"incidents":[';
  for (const [index, { updates, earlier, ...incident }] of incidents.entries()) {
    const { updatedAt: _at, automatic: _facts, impactChanges: _changes, ...published } = incident;
    const monitorJson = {
      ...published,
      monitor: incident.monitors[0] ?? null,
      earlierUpdates: earlier,
      updates: updates.map(({ id, status, message, createdAt, editedAt }) => ({
        id,
        status,
        message,
        createdAt,
        editedAt,
      })),
    };
    yield (index === 0 ? "" : ",") + JSON.stringify(monitorJson);
  }
  const tail = {
    maintenance: windows.map(({ id, title, description, startsAt, endsAt, isRunning }) => ({
      id,
      title,
      description,
      startsAt,
      endsAt,
      isRunning,
    })),
  };
  yield `],${JSON.stringify(tail).slice(1)}`;
}

function renderMonitor(
  {
    id,
    name,
    description,
    link,
    state,
    impact,
    latencyMs,
    days,
    lastCheckedAt,
    ...known
  }: PublicMonitor,
  { showLatency, historyDays }: PublicData["page"],
  dates: readonly string[],
  now: number,
): string {
  const today = Math.floor(now / dayMs);
  const monitor = {
    id,
    name,
    ...(description !== null && { description }),
    ...(link != null && { link }),
    status: state,
    impact,
    lastKnownStatus: known.lastKnown,
    notJudgedSince: known.notJudgedSince,
    uptime: computeUptime(days, today, historyDays),
    ...(showLatency && { latencyMs }),
    lastCheckedAt,
  };
  const all = Array.from({ length: historyDays }, (_, index) => {
    const day = today - historyDays + 1 + index;
    return renderDay(dates[index] ?? "", days.get(day));
  });
  return `${JSON.stringify(monitor).slice(0, -1)},"days":[${all.join(",")}]}`;
}

/** Formats the JSON of a day by hand, which is faster: a page has up to 100,000 days. */
function renderDay(date: string, sums: Totals | undefined): string {
  const { downSeconds = 0, degradedSeconds = 0, maintenanceSeconds = 0 } = sums ?? {};
  const uptime = sums === undefined ? null : computeRatio(sums);
  return `{"day":"${date}","uptime":${uptime},"downSeconds":${downSeconds},"degradedSeconds":${degradedSeconds},"maintenanceSeconds":${maintenanceSeconds}}`;
}

function listDates(count: number, now: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now - (count - 1 - index) * dayMs).toISOString().slice(0, 10),
  );
}
