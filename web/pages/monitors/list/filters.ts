/** The filters of the Monitors page, in the URL and for the server. */
import { hourMs, minuteMs } from "../../../../src/core/time/clock.ts";
import { maxSearchLength } from "../../../data/search-limit.ts";
import type { OverviewGroup, OverviewMonitor } from "../../../data/overview.ts";

/** Filters of the page. They are in the URL, so that a filtered page can be shared. */
export type Filters = {
  q?: string;
  status?: string;
  type?: string;
  tag?: string;
  /** A past time (RFC 3339) that the page shows instead of now. */
  at?: string;
};

/** The first past time that a page shows: the last whole minute an hour ago. */
export const chooseFirstPast = () => {
  const hourAgo = Date.now() - hourMs;
  return new Date(hourAgo - (hourAgo % minuteMs)).toISOString();
};

const filterNames = ["q", "status", "type", "tag"] as const;

export function parseFilters(search: Record<string, unknown>): Filters {
  const filters: Filters = {};
  for (const name of [...filterNames, "at"] as const) {
    const value = search[name];
    if (typeof value === "string" && value !== "") filters[name] = value;
  }
  return filters;
}

export const isFiltered = (filters: Filters): boolean =>
  filterNames.some((name) => filters[name] !== undefined);

/** Filters to send to the server, which rejects blank or very long texts. */
export function toSentFilters({ q = "", status, type, tag }: Filters): Filters {
  const text = q.trim().slice(0, maxSearchLength);
  return {
    ...(text !== "" && { q: text }),
    ...(status !== undefined && { status }),
    ...(type !== undefined && { type }),
    ...(tag !== undefined && { tag }),
  };
}

/** Whether a monitor matches all filters. A monitor inherits the tags of its group. */
export function isMatching(
  monitor: OverviewMonitor,
  group: OverviewGroup | undefined,
  { q, status, type, tag }: Filters,
): boolean {
  if (status !== undefined && monitor.status !== status) return false;
  if (type !== undefined && monitor.type !== type) return false;
  if (tag !== undefined && !monitor.tags.includes(tag) && !group?.tags.includes(tag)) return false;
  if (q === undefined) return true;
  const text = `${monitor.name} ${monitor.target} ${group?.name ?? ""}`.toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
