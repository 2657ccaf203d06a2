import { queryOptions, useQuery } from "@tanstack/react-query";
import { expandOverview } from "../../src/dashboard/rules.ts";
import type { Overview, OverviewGroup, OverviewMonitor } from "../../src/dashboard/schema.ts";
import { type State, worstOf } from "../components/state-icon.tsx";
import { dashboard, dataOf, v1 } from "./client.ts";
import { listKey } from "./keys.ts";
import { pageQuery, queryClient } from "./query.ts";

export type { Overview, OverviewGroup, OverviewMonitor };

export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: async ({ signal }) =>
    expandOverview(await dataOf(dashboard.overview.get({ fetch: { signal } }))),
  // Kept up to date by the live stream.
  staleTime: Infinity,
});

export const useOverview = () => useQuery(overviewQuery);

/** Changes what the page holds of the overview; nothing happens before it is loaded. */
export function changeOverview(change: (overview: Overview) => Overview) {
  queryClient.setQueryData(overviewQuery.queryKey, (overview) => overview && change(overview));
}

export const withMonitor =
  (id: string, change: Partial<OverviewMonitor>) =>
  (overview: Overview): Overview => ({
    ...overview,
    monitors: overview.monitors.map((one) => (one.id === id ? { ...one, ...change } : one)),
  });

export const refreshOverview = () =>
  queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey });

/** What the mark and the favicon show. */
export function useOverallState(): State {
  const { data } = useQuery({
    ...overviewQuery,
    select: ({ monitors }) =>
      worstOf(monitors.map(({ status }) => status).filter((status) => status !== "pending")),
  });
  return data ?? "up";
}

/** The figures in the navigation; null while unknown. */
export function useCounts(): { monitors: number | null; openIncidents: number | null } {
  const { data: monitors } = useQuery({
    ...overviewQuery,
    select: ({ monitors }) => monitors.length,
  });
  const { data: open } = useQuery(
    pageQuery([...listKey("incident"), "open-count"], (options) =>
      v1.incidents.get({ query: { open: "true", per_page: 1 }, ...options }),
    ),
  );
  return { monitors: monitors ?? null, openIncidents: open?.meta.total ?? null };
}
