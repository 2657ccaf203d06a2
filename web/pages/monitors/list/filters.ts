import { searchBounds } from "../../../../src/core/limits.ts";
import type { OverviewGroup, OverviewMonitor } from "../../../data/overview.ts";

/** What the page is narrowed to; it stands in the address, so that it can be sent to others. */
export type Filters = { q?: string; status?: string; type?: string; tag?: string };

const names = ["q", "status", "type", "tag"] as const;

export function filtersOf(search: Record<string, unknown>): Filters {
  const filters: Filters = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === "string" && value !== "") filters[name] = value;
  }
  return filters;
}

export const isFiltered = (filters: Filters): boolean =>
  names.some((name) => filters[name] !== undefined);

/** The same for the server, which takes no blanks and no more than somebody would type. */
export function sentFilters({ q = "", ...others }: Filters): Filters {
  const text = q.trim().slice(0, searchBounds.text.value);
  return text === "" ? others : { ...others, q: text };
}

/** Tags count as the monitor's where it or its group has them. */
export function matches(
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
