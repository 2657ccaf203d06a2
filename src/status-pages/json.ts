import { dayMs, ratioOf } from "../uptime/rules.ts";
import { type Published, type PublishedMonitor, uptimeOf } from "./published.ts";
import type { StatusView } from "./view.ts";

/** The page for machines, as JSON: what it says, with figures instead of words; one piece a monitor. */
export function* jsonOf(
  { page, sections, incidents, windows }: Published,
  view: StatusView,
  now: number,
): Generator<string> {
  const { slug, title, description, timeZone } = page;
  const head = {
    page: { slug, title, description, timeZone },
    status: view.headline.tone,
    headline: view.headline.text,
    updatedAt: new Date(now).toISOString(),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"sections":[`;
  for (const [index, { name, monitors }] of sections.entries()) {
    yield `${index === 0 ? "" : ","}{"name":${JSON.stringify(name)},"monitors":[`;
    for (const [place, monitor] of monitors.entries())
      yield (place === 0 ? "" : ",") + JSON.stringify(monitorOf(monitor, page, now));
    yield "]}";
  }
  const tail = {
    incidents: incidents.map(({ updatedAt: _at, monitor, ...incident }) => ({
      ...incident,
      monitor,
    })),
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

function monitorOf(
  { id, name, state, latencyMs, days, lastCheckedAt }: PublishedMonitor,
  { showLatency, historyDays }: Published["page"],
  now: number,
) {
  const today = Math.floor(now / dayMs);
  return {
    id,
    name,
    status: state,
    uptime: uptimeOf(days, today, historyDays),
    ...(showLatency && { latencyMs }),
    lastCheckedAt,
    days: Array.from({ length: historyDays }, (_, index) => {
      const day = today - historyDays + 1 + index;
      const sums = days.get(day);
      return {
        day: new Date(day * dayMs).toISOString().slice(0, 10),
        uptime: sums === undefined ? null : ratioOf(sums),
        downSeconds: sums?.downSeconds ?? 0,
        degradedSeconds: sums?.degradedSeconds ?? 0,
        maintenanceSeconds: sums?.maintenanceSeconds ?? 0,
      };
    }),
  };
}
