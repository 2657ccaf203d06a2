import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Attention, Problems } from "../../src/dashboard/problem-schema.ts";
import { dashboard } from "./client.ts";
import { attentionKey, listKey } from "./keys.ts";
import { allStates, type OverviewMonitor, overviewQuery } from "./overview.ts";
import { dataQuery } from "./query.ts";
import { createStore } from "./store.ts";

export type { Attention, Problems };

export const problemsQuery = dataQuery([...listKey("alert-channel"), "problems"], (options) =>
  dashboard.problems.get(options),
);

/** What keeps people from being told, and what is wrong with the appliance; deliveries and its own events renew it. */
export const useProblems = () =>
  useQuery({
    ...problemsQuery,
    // What is stuck, or passes by itself, makes no event.
    refetchInterval: 60_000,
    placeholderData: (before) => before,
  });

export const attentionQuery = dataQuery(attentionKey, (options) =>
  dashboard.attention.get(options),
);

/** Who was told of what is down or degraded, by monitor. */
export const useAttention = () =>
  useQuery({
    ...attentionQuery,
    select: byMonitor,
    placeholderData: (before) => before,
  });

const byMonitor = (all: Attention[]) => new Map(all.map((one) => [one.monitorId, one]));

export const isTroubled = ({ status }: OverviewMonitor) =>
  status === "down" || status === "degraded";

/** Everything that somebody should look at; the titles of pages begin with it. */
export const problemCount = createStore(0);

/** Counts for as long as somebody is signed in. */
export function useProblemCount() {
  const { data: troubled = 0 } = useQuery({
    ...overviewQuery,
    select: (overview) => {
      const { down = 0, degraded = 0 } = allStates(overview);
      return down + degraded;
    },
  });
  const { data: problems } = useProblems();
  const count = troubled + (problems?.channels.length ?? 0) + (problems?.appliance.length ?? 0);
  useEffect(() => {
    problemCount.set(count);
    return () => problemCount.set(0);
  }, [count]);
}
