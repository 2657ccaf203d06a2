import { useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { channelsQuery, channelUsesQuery } from "./alert-channels.ts";
import { type FirstRequest, listFirstRequests, monitorsRequests } from "./early-requests.ts";
import { overviewQuery } from "./overview.ts";
import { attentionQuery, problemsQuery } from "./problems.ts";
import { isFirstLoad, queryClient } from "./query.ts";

const queries = {
  overview: overviewQuery,
  problems: problemsQuery,
  attention: attentionQuery,
  "alert-channel-uses": channelUsesQuery,
  "api/v1/alert-channels": channelsQuery,
} as Record<FirstRequest, unknown> as Record<FirstRequest, UseQueryOptions>;

/** Starts all queries of the first screen at once, before the screen renders. */
export function prefetchFirstScreen() {
  const page = new URLSearchParams(location.search).get("back") ?? location.pathname;
  for (const request of listFirstRequests(page === "/sign-in" ? "/" : page))
    void queryClient.prefetchQuery(queries[request]);
}

/** Whether the Monitors page is still loading. Content that appears later would push rows down. */
export const useIsMonitorsLoading = (mayWrite: boolean): boolean =>
  isFirstLoad(
    // The list is constant, and so is the order of these hooks.
    monitorsRequests.map((request) =>
      useQuery({
        ...queries[request],
        enabled: mayWrite || request !== "api/v1/alert-channels",
      }),
    ),
  );
