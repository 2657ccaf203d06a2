/** The overview of monitors and groups: loads it in parts, and updates it in place. */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { expandMonitor, expandOverview } from "../../src/dashboard/rules.ts";
import type {
  Overview,
  OverviewFilters,
  OverviewGroup,
  OverviewMonitor,
} from "../../src/dashboard/schema.ts";
import { type State, findWorst } from "../components/display/state-icon.tsx";
import { dashboard, unwrapData, v1 } from "./client.ts";
import { listKey } from "./keys.ts";
import { createPageQuery, queryClient } from "./query.ts";

export type { Overview, OverviewGroup, OverviewMonitor };

export const overviewKey = ["overview"] as const;

/** Changes that the page shows before the server confirms them. */
const unconfirmedChanges = new Set<Promise<void>>();

/**
 * Makes reads of the overview wait until the returned function is called. Such a read would show the state before the
 * change, and the next change, such as a repeated key, would start from it.
 */
export function beginChange(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  unconfirmedChanges.add(promise);
  return () => {
    unconfirmedChanges.delete(promise);
    resolve();
  };
}

/**
 * Query of the overview, which the server truncates if there are many monitors. A refetch also
 * reloads the rows that were loaded later.
 */
export const createOverviewQuery = (filters?: OverviewFilters) => {
  const queryKey = filters === undefined ? overviewKey : [...overviewKey, filters];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<Overview> => {
      while (unconfirmedChanges.size > 0) await Promise.all(unconfirmedChanges);
      const query = filters ?? {};
      const overview = expandOverview(
        await unwrapData(dashboard.overview.get({ query, fetch: { signal } })),
      );
      const before = queryClient.getQueryData<Overview>(queryKey);
      if (before === undefined) return overview;
      let read = overview;
      for (const { groupId } of foldersOf(overview)) {
        const memberCount = membersOf(before, groupId).length;
        while (memberCount > membersOf(read, groupId).length && hasUnreadMonitors(read, groupId)) {
          const next = await readFurtherRows(read, filters, groupId, memberCount);
          if (next === read) break;
          read = next;
        }
      }
      return read;
    },
    // The live stream updates it.
    staleTime: Infinity,
  });
};

/** Query of the overview of a past time, which the live stream does not change. */
export const createPastOverviewQuery = (at: string | undefined, filters: OverviewFilters) =>
  queryOptions({
    queryKey: ["past-overview", at, filters],
    queryFn: async ({ signal }) => {
      const query = { ...filters, at: at ?? "" };
      return expandOverview(await unwrapData(dashboard.overview.get({ query, fetch: { signal } })));
    },
    enabled: at !== undefined,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });

/** The overview, possibly with only the first rows. `useOverview` loads all rows. */
export const overviewQuery = createOverviewQuery();

/** The overview with all rows. If there are many monitors, the rows arrive in batches. */
export function useOverview() {
  const query = useQuery(overviewQuery);
  const isPart = query.data !== undefined && isPartial(query.data);
  useEffect(() => {
    if (isPart) void readAll();
  }, [isPart]);
  return query;
}

/** Maximum number of rows per response. */
const maxRowsPerRead = 500;

const foldersOf = ({ totals }: Overview) => totals?.folders ?? [];
export const sumCounts = (states: Partial<Record<State, number>>) =>
  Object.values(states).reduce((sum, count) => sum + count, 0);

type Rows = readonly OverviewMonitor[];

/** Caches a computation per list of rows: many components need it, of up to thousands of rows. */
function memoizeByRows<T>(make: (rows: Rows) => T): (rows: Rows) => T {
  const known = new WeakMap<Rows, T>();
  return (rows) => {
    const found = known.get(rows) ?? make(rows);
    known.set(rows, found);
    return found;
  };
}

const groupByFolder = memoizeByRows((rows) => Map.groupBy(rows, ({ groupId }) => groupId));
const noRows: Rows = [];

/** The loaded monitors of a folder: its first ones, in order. */
export const membersOf = ({ monitors }: Overview, groupId: string | null): Rows =>
  groupByFolder(monitors).get(groupId) ?? noRows;

/**
 * Number of a folder's monitors per state. Uses the server's counts if some rows are not loaded.
 */
export function countStatesOfFolder(overview: Overview, groupId: string | null) {
  const members = membersOf(overview, groupId);
  const counted = foldersOf(overview).find((folder) => folder.groupId === groupId)?.states ?? {};
  return sumCounts(counted) > members.length ? counted : countStates(members);
}

export const countStates = memoizeByRows((rows) => {
  const states: Partial<Record<State, number>> = {};
  for (const { status } of rows) states[status] = (states[status] ?? 0) + 1;
  return states;
});

/** Number of monitors per state. Uses the server's counts if some rows are not loaded. */
export function countAllStates(overview: Overview): Partial<Record<State, number>> {
  if (!isPartial(overview)) return countStates(overview.monitors);
  const states: Partial<Record<State, number>> = {};
  for (const folder of foldersOf(overview))
    for (const [state, count] of Object.entries(countStatesOfFolder(overview, folder.groupId)))
      states[state as State] = (states[state as State] ?? 0) + count;
  return states;
}

/** Whether the folder has monitors that are not loaded. */
export const hasUnreadMonitors = (overview: Overview, groupId: string | null) =>
  sumCounts(countStatesOfFolder(overview, groupId)) > membersOf(overview, groupId).length;

/** Whether any monitors are not loaded. */
export function isPartial(overview: Overview): boolean {
  const { totals, monitors } = overview;
  if (totals === undefined) return false;
  return totals.folders.reduce((sum, { states }) => sum + sumCounts(states), 0) > monitors.length;
}

/** All loaded monitors, including down or degraded ones whose rows are not loaded yet. */
export function listKnownMonitors({ monitors, totals }: Overview): readonly OverviewMonitor[] {
  if (totals === undefined) return monitors;
  const ids = new Set(monitors.map(({ id }) => id));
  return [...monitors, ...totals.troubled.filter(({ id }) => !ids.has(id))];
}

/** Loads the next rows of a folder. Returns the same object if there are no new ones. */
async function readFurtherRows(
  overview: Overview,
  filters: OverviewFilters | undefined,
  groupId: string | null,
  until: number,
): Promise<Overview> {
  const from = membersOf(overview, groupId).length;
  const query = {
    ...filters,
    ...(groupId !== null && { groupId }),
    from,
    count: Math.min(maxRowsPerRead, Math.max(1, until - from)),
  };
  const rows = await unwrapData(dashboard.overview.rows.get({ query }));
  return appendRows(
    overview,
    groupId,
    rows.map((row) => expandMonitor(row, groupId)),
  );
}

/** Adds rows at the end of their folder. Skips rows that are already loaded. */
function appendRows(overview: Overview, groupId: string | null, rows: readonly OverviewMonitor[]) {
  const known = new Set(overview.monitors.map(({ id }) => id));
  const newRows = rows.filter(({ id }) => !known.has(id));
  if (newRows.length === 0) return overview;
  const folders = [...overview.groups.map(({ id }): string | null => id), null];
  const behind = new Set(folders.slice(folders.indexOf(groupId) + 1));
  const next = overview.monitors.findIndex((monitor) => behind.has(monitor.groupId));
  const at = next === -1 ? overview.monitors.length : next;
  return { ...overview, monitors: overview.monitors.toSpliced(at, 0, ...newRows) };
}

const runningReads = new Map<string, Promise<void>>();

/**
 * Loads at least the first `until` rows of a folder. Calls for one folder run one after the other.
 */
export function readRows(
  filters: OverviewFilters | undefined,
  groupId: string | null,
  until: number,
): Promise<void> {
  const { queryKey } = createOverviewQuery(filters);
  const key = JSON.stringify([queryKey, groupId]);
  const before = runningReads.get(key);
  const after = (before ?? Promise.resolve()).then(async () => {
    for (;;) {
      const overview = queryClient.getQueryData<Overview>(queryKey);
      if (overview === undefined || !hasUnreadMonitors(overview, groupId)) return;
      if (membersOf(overview, groupId).length >= until) return;
      const next = await readFurtherRows(overview, filters, groupId, until);
      const known = new Set(overview.monitors);
      const newMonitors = next.monitors.filter((one) => !known.has(one));
      if (newMonitors.length === 0) return;
      // The live stream may have changed the overview during the request.
      queryClient.setQueryData<Overview>(
        queryKey,
        (now) => now && appendRows(now, groupId, newMonitors),
      );
    }
  });
  const settled = after.catch(() => {});
  runningReads.set(key, settled);
  void settled.then(() => {
    if (runningReads.get(key) === settled) runningReads.delete(key);
  });
  return after;
}

async function readAll() {
  const overview = queryClient.getQueryData<Overview>(overviewKey);
  for (const { groupId } of overview === undefined ? [] : foldersOf(overview))
    await readRows(undefined, groupId, Infinity);
}

/** Changes the cached overview, in all filtered variants. No-op before it is loaded. */
export function changeOverview(change: (overview: Overview) => Overview) {
  queryClient.setQueriesData<Overview>({ queryKey: overviewKey }, (one) => one && change(one));
}

/** Replaces rows of the overview. */
export function changeRows(
  overview: Overview,
  change: (row: OverviewMonitor) => OverviewMonitor,
): Overview {
  const { monitors, totals } = overview;
  return {
    ...overview,
    monitors: monitors.map(change),
    ...(totals && { totals: { ...totals, troubled: totals.troubled.map(change) } }),
  };
}

export const changeMonitor =
  (id: string, change: Partial<OverviewMonitor>) =>
  (overview: Overview): Overview =>
    changeRows(overview, (one) => (one.id === id ? { ...one, ...change } : one));

/** Removes monitors from the overview and from its counts. */
export function removeMonitorsFrom(overview: Overview, ids: ReadonlySet<string>): Overview {
  const removedMonitors = listKnownMonitors(overview).filter(({ id }) => ids.has(id));
  const { monitors, totals } = overview;
  const omitRemoved = (rows: readonly OverviewMonitor[]) => rows.filter(({ id }) => !ids.has(id));
  if (totals === undefined) return { ...overview, monitors: omitRemoved(monitors) };
  const folders = totals.folders.map(({ groupId, states }) => {
    const less = countStates(removedMonitors.filter((one) => one.groupId === groupId));
    const entries = Object.entries(states) as [State, number][];
    const remaining = entries.map(([state, count]) => [
      state,
      Math.max(0, count - (less[state] ?? 0)),
    ]);
    return { groupId, states: Object.fromEntries(remaining) as typeof states };
  });
  const troubled = omitRemoved(totals.troubled);
  return { ...overview, monitors: omitRemoved(monitors), totals: { ...totals, folders, troubled } };
}

export const refreshOverview = () => queryClient.invalidateQueries({ queryKey: overviewKey });

/** The worst state of all monitors, for the logo and the favicon. Ignores pending monitors. */
export function useOverallState(): State {
  const { data } = useQuery({
    ...overviewQuery,
    select: (overview) =>
      findWorst(
        (Object.entries(countAllStates(overview)) as [State, number][]).flatMap(([state, count]) =>
          count > 0 && state !== "pending" ? [state] : [],
        ),
      ),
  });
  return data ?? "up";
}

/** Counts for the navigation; null while they load. */
export function useCounts(): { monitors: number | null; openIncidents: number | null } {
  const { data: monitors } = useQuery({
    ...overviewQuery,
    select: (overview) => sumCounts(countAllStates(overview)),
  });
  const { data: open } = useQuery(
    createPageQuery([...listKey("incident"), "open-count"], (options) =>
      v1.incidents.get({ query: { open: "true", per_page: 1 }, ...options }),
    ),
  );
  return { monitors: monitors ?? null, openIncidents: open?.meta.total ?? null };
}
