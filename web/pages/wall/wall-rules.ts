/** Decides what the wall shows: headline, tiles, problems, and the number of columns. */
import { severities } from "../../../src/core/statuses.ts";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import type { Overview, OverviewMonitor } from "../../data/overview.ts";
import { isTroubled } from "../../data/problems.ts";
import { troubledFirst } from "../monitors/attention-rules.ts";
import { countInWords, plural } from "../../components/display/format.ts";
import {
  type State,
  stateLabels,
  worstFirst,
  worstOf,
} from "../../components/display/state-icon.tsx";

/**
 * Number of columns that makes `count` tiles largest in the available space. `ratio` is a tile's
 * width divided by its height.
 */
export function columnsFor(count: number, width: number, height: number, ratio: number): number {
  let best = { columns: 1, size: 0 };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const size = Math.min(width / columns / ratio, height / rows);
    if (size > best.size) best = { columns, size };
  }
  return best.columns;
}

export type Tile = {
  id: string;
  name: string;
  state: State;
  /** Counts per state, such as `1 down, 11 up`. */
  words: string;
  monitors: readonly OverviewMonitor[];
};

/** The first items, and the number of omitted ones. One position is left for “and 3 more”. */
export function firstOf<T>(all: readonly T[], most: number): { shown: readonly T[]; more: number } {
  if (all.length <= most) return { shown: all, more: 0 };
  return { shown: all.slice(0, most - 1), more: all.length - most + 1 };
}

/** ID of the tile of all monitors in maintenance. */
export const plannedId = "maintenance";

/**
 * One tile per group, and one for all monitors in maintenance. Without groups, one tile per
 * monitor.
 */
export function tilesOf(overview: Overview, maintenanceEnd: string): Tile[] {
  const planned = overview.monitors.filter(({ status }) => status === "maintenance");
  const tiles = foldersOf(overview);
  if (planned.length === 0 || overview.groups.length === 0) return tiles;
  const tile = tileOf(plannedId, "Maintenance", planned);
  const count = planned.length;
  const words =
    maintenanceEnd === "" ? plural(count, "monitor") : `${countInWords(count)}${maintenanceEnd}`;
  return [...tiles, { ...tile, words }];
}

function foldersOf({ groups, monitors }: Overview): Tile[] {
  if (groups.length === 0)
    return monitors.map(({ id, name, status }) => ({
      id,
      name,
      state: status,
      words: stateLabels[status],
      monitors: [],
    }));
  const byGroup = Map.groupBy(monitors, ({ groupId }) => groupId);
  const tiles = groups.map(({ id, name }) => tileOf(id, name, byGroup.get(id) ?? []));
  const rest = byGroup.get(null) ?? [];
  return rest.length === 0 ? tiles : [...tiles, tileOf("rest", "Ungrouped", rest)];
}

function tileOf(id: string, name: string, monitors: readonly OverviewMonitor[]): Tile {
  const states = monitors.map(({ status }) => status as State);
  return {
    id,
    name,
    state: monitors.length === 0 ? "paused" : worstOf(states),
    words: monitors.length === 0 ? "empty" : countWords(states),
    monitors: monitors.toSorted(
      (one, other) => worstFirst.indexOf(one.status) - worstFirst.indexOf(other.status),
    ),
  };
}

/** Counts in words, the worst state first: `1 down, 11 up`, or `all 12 up` for a single state. */
function countWords(states: readonly State[]): string {
  const counts = countsOf(states);
  const [only] = counts;
  if (counts.length === 1 && only !== undefined && only.count > 1)
    return `all ${countInWords(only.count)} ${stateLabels[only.state].toLowerCase()}`;
  return counts
    .map(({ state, count }) => `${countInWords(count)} ${stateLabels[state].toLowerCase()}`)
    .join(", ");
}

/** Number of monitors per occurring state, the worst state first. */
export function countsOf(states: readonly State[]): { state: State; count: number }[] {
  return worstFirst
    .map((state) => ({ state, count: states.filter((one) => one === state).length }))
    .filter(({ count }) => count > 0);
}

/** Monitors that are down or degraded, in the order of the Monitors page. */
export const troubleOf = ({ monitors }: Overview): OverviewMonitor[] =>
  monitors.filter(isTroubled).toSorted(troubledFirst);

type Headline = { state: State; parts: { state: State; words: string }[] };

/** The overall state in a few words, legible from a distance. */
export function headline({ monitors }: Overview): Headline {
  const counts = countsOf(monitors.map(({ status }) => status));
  const of = (state: State) => counts.find((one) => one.state === state)?.count ?? 0;
  const only = (state: State, words: string) => ({ state, parts: [{ state, words }] });
  const troubled = (["down", "degraded"] as const)
    .filter((state) => of(state) > 0)
    .map((state) => ({ state, words: `${countInWords(of(state))} ${state}` }));
  if (troubled[0] !== undefined) return { state: troubled[0].state, parts: troubled };
  if (of("unknown") > 0) return only("unknown", `${countInWords(of("unknown"))} not judged`);
  if (of("up") > 0) return only("up", "Everything is up");
  if (of("maintenance") > 0) return only("maintenance", "In maintenance");
  if (of("pending") > 0) return only("pending", "Waiting for the first results");
  return only("paused", "No active monitors");
}

/** The most severe incident. Ties go to the first in the list, which must not be empty. */
export const worstIncident = (incidents: readonly IncidentSummary[]): IncidentSummary =>
  incidents.reduce((worst, one) =>
    severities.indexOf(one.severity) > severities.indexOf(worst.severity) ? one : worst,
  );
