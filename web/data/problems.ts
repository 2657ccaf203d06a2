/** Queries of failing channels, problems of the appliance, and who was alerted. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Attention, Problems } from "../../src/dashboard/problem-schema.ts";
import { dashboard } from "./client.ts";
import { attentionKey, listKey } from "./keys.ts";
import { countAllStates, type OverviewMonitor, overviewQuery } from "./overview.ts";
import { createDataQuery } from "./query.ts";
import { createStore } from "./store.ts";

export type { Attention, Problems };

export const problemsQuery = createDataQuery([...listKey("alert-channel"), "problems"], (options) =>
  dashboard.problems.get(options),
);

/**
 * Failing alert channels and problems of the appliance. Events of deliveries and of the appliance
 * refetch it.
 */
export const useProblems = () =>
  useQuery({
    ...problemsQuery,
    // Stuck deliveries and problems that resolve themselves cause no event.
    refetchInterval: 60_000,
    placeholderData: (before) => before,
  });

/** Problems that the readiness page explains. All others concern the appliance. */
export const isOfOnCall = ({ name }: Problems["appliance"][number]) =>
  name === "on-call" || name === "drill";

/** Number of problems of on-call, and of the appliance itself. */
export function countProblems(problems: Problems | undefined) {
  const all = problems?.appliance ?? [];
  const onCall = all.filter(isOfOnCall).length;
  return { onCall, appliance: all.length - onCall };
}

export const attentionQuery = createDataQuery(attentionKey, (options) =>
  dashboard.attention.get(options),
);

/** Notified channels of monitors that are down or degraded, by monitor ID. */
export const useAttention = () =>
  useQuery({
    ...attentionQuery,
    select: indexByMonitor,
    placeholderData: (before) => before,
  });

const indexByMonitor = (all: Attention[]) => new Map(all.map((one) => [one.monitorId, one]));

export const isTroubled = ({ status }: Pick<OverviewMonitor, "status">) =>
  status === "down" || status === "degraded";

/** Number of troubled monitors, failing channels and problems. Page titles start with it. */
export const problemCount = createStore(0);

/** Updates `problemCount` while a person is signed in. */
export function useProblemCount() {
  const { data: troubled = 0 } = useQuery({
    ...overviewQuery,
    select: (overview) => {
      const { down = 0, degraded = 0 } = countAllStates(overview);
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
