/** Decides what the wall shows: headline, tiles, problems, and the number of columns. */
import { severities } from "../../../src/core/statuses.ts";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import type { Overview, OverviewMonitor } from "../../data/overview.ts";
import { isTroubled } from "../../data/problems.ts";
import { createTroubledOrder } from "../monitors/attention-rules.ts";
import { formatCount } from "../../components/display/format.ts";
import {
  type State,
  stateLabels,
  worstFirst,
  findWorst,
  stateWords,
} from "../../components/display/state-icon.tsx";
import { t, tCount } from "../../language/text.ts";

/**
 * Number of columns that makes `count` tiles largest in the available space and leaves few positions
 * empty. `ratio` is a tile's width divided by its height.
 */
export function chooseColumns(count: number, width: number, height: number, ratio: number): number {
  let best = { columns: 1, size: 0 };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const filled = count / (columns * rows);
    const size = Math.min(width / columns / ratio, height / rows) * filled;
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
export function splitFirst<T>(
  all: readonly T[],
  max: number,
): { shown: readonly T[]; more: number } {
  if (all.length <= max) return { shown: all, more: 0 };
  return { shown: all.slice(0, max - 1), more: all.length - max + 1 };
}

/** ID of the tile of all monitors in maintenance. */
export const plannedId = "maintenance";

/**
 * One tile per group, and one for all monitors in maintenance. Without groups, one tile per
 * monitor.
 */
export function buildTiles(overview: Overview, maintenanceEnd: string): Tile[] {
  const planned = overview.monitors.filter(({ status }) => status === "maintenance");
  const tiles = buildFolderTiles(overview);
  if (planned.length === 0 || overview.groups.length === 0) return tiles;
  const tile = buildTile(plannedId, t("Maintenance"), planned);
  const count = planned.length;
  const words =
    maintenanceEnd === ""
      ? tCount(count, "{count} monitor", "{count} monitors")
      : `${formatCount(count)}${maintenanceEnd}`;
  return [...tiles, { ...tile, words }];
}

function buildFolderTiles({ groups, monitors }: Overview): Tile[] {
  if (groups.length === 0)
    return monitors.map(({ id, name, status }) => ({
      id,
      name,
      state: status,
      words: stateLabels[status],
      monitors: [],
    }));
  const byGroup = Map.groupBy(monitors, ({ groupId }) => groupId);
  const tiles = groups.map(({ id, name }) => buildTile(id, name, byGroup.get(id) ?? []));
  const ungrouped = byGroup.get(null) ?? [];
  return ungrouped.length === 0 ? tiles : [...tiles, buildTile("rest", t("Ungrouped"), ungrouped)];
}

function buildTile(id: string, name: string, monitors: readonly OverviewMonitor[]): Tile {
  const states = monitors.map(({ status }) => status as State);
  return {
    id,
    name,
    state: monitors.length === 0 ? "paused" : findWorst(states),
    words: monitors.length === 0 ? t("empty") : countWords(states),
    monitors: monitors.toSorted(
      (one, other) => worstFirst.indexOf(one.status) - worstFirst.indexOf(other.status),
    ),
  };
}

/** Counts in words, the worst state first: `1 down, 11 up`, or `all 12 up` for a single state. */
function countWords(states: readonly State[]): string {
  const counts = countStates(states);
  const [only] = counts;
  if (counts.length === 1 && only !== undefined && only.count > 1)
    return t("all {count} {state}", {
      count: formatCount(only.count),
      state: stateWords[only.state],
    });
  return counts.map(({ state, count }) => `${formatCount(count)} ${stateWords[state]}`).join(", ");
}

/** Number of monitors per occurring state, the worst state first. */
export function countStates(states: readonly State[]): { state: State; count: number }[] {
  return worstFirst
    .map((state) => ({ state, count: states.filter((one) => one === state).length }))
    .filter(({ count }) => count > 0);
}

/** Monitors that are down or degraded, in the order of the Monitors page. */
export const listTroubled = (
  { monitors }: Overview,
  attention: Parameters<typeof createTroubledOrder>[0],
): OverviewMonitor[] => monitors.filter(isTroubled).toSorted(createTroubledOrder(attention));

type Headline = { state: State; parts: { state: State; words: string }[] };

/** The overall state in a few words, legible from a distance. */
export function buildHeadline({ monitors }: Overview): Headline {
  const counts = countStates(monitors.map(({ status }) => status));
  const countOf = (state: State) => counts.find((one) => one.state === state)?.count ?? 0;
  const buildSinglePart = (state: State, words: string) => ({ state, parts: [{ state, words }] });
  const troubled = (["down", "degraded"] as const)
    .filter((state) => countOf(state) > 0)
    .map((state) => ({ state, words: `${formatCount(countOf(state))} ${stateWords[state]}` }));
  if (troubled[0] !== undefined) return { state: troubled[0].state, parts: troubled };
  if (countOf("unknown") > 0)
    return buildSinglePart(
      "unknown",
      t("{count} not judged", { count: formatCount(countOf("unknown")) }),
    );
  if (countOf("up") > 0) return buildSinglePart("up", t("Everything is up"));
  if (countOf("maintenance") > 0) return buildSinglePart("maintenance", t("In maintenance"));
  if (countOf("pending") > 0) return buildSinglePart("pending", t("Waiting for the first results"));
  return buildSinglePart("paused", t("No active monitors"));
}

/** The most severe incident. Ties go to the first in the list, which must not be empty. */
export const findWorstIncident = (incidents: readonly IncidentSummary[]): IncidentSummary =>
  incidents.reduce((worst, one) =>
    severities.indexOf(one.severity) > severities.indexOf(worst.severity) ? one : worst,
  );
