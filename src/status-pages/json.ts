import { dayMs, ratioOf } from "../uptime/rules.ts";
import { type Published, uptimeOf } from "./published.ts";
import type { StatusView } from "./view.ts";

/** The page for machines: what it says, with figures instead of words. */
export function jsonOf(
  { page, sections, incidents, windows }: Published,
  view: StatusView,
  now: number,
) {
  const today = Math.floor(now / dayMs);
  const count = page.historyDays;
  return {
    page: {
      slug: page.slug,
      title: page.title,
      description: page.description,
      timeZone: page.timeZone,
    },
    status: view.headline.tone,
    headline: view.headline.text,
    updatedAt: new Date(now).toISOString(),
    sections: sections.map(({ name, monitors }) => ({
      name,
      monitors: monitors.map(({ id, name, state, latencyMs, days, lastCheckedAt }) => {
        return {
          id,
          name,
          status: state,
          uptime: uptimeOf(days, today, count),
          ...(page.showLatency && { latencyMs }),
          lastCheckedAt,
          days: Array.from({ length: count }, (_, index) => {
            const day = today - count + 1 + index;
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
      }),
    })),
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
}
