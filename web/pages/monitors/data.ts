import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { dashboard, dataOf, pageOf, v1 } from "../../data/client.ts";
import { useOrganizationRedirect } from "../../data/organization-redirect.ts";
import { listKey, recordKey } from "../../data/keys.ts";
import { onChecks } from "../../data/live.ts";
import { queryClient } from "../../data/query.ts";

/** The monitor; if it belongs to another of the person's organizations, that one is switched to. */
export function useMonitor(id: string) {
  const monitor = useQuery({
    queryKey: recordKey("monitor", id),
    queryFn: ({ signal }) => dataOf(v1.monitors({ id }).get({ fetch: { signal } })),
  });
  useOrganizationRedirect("monitor", id, monitor.error);
  useChecks(id);
  return monitor;
}

/** What is told of its last checks is another with each. */
function useChecks(id: string) {
  useEffect(
    () =>
      onChecks((ids) => {
        if (!ids.has(id)) return;
        void queryClient.invalidateQueries({ queryKey: recordKey("monitor", id), exact: true });
        void queryClient.invalidateQueries({
          queryKey: [...recordKey("monitor", id), "heartbeats"],
        });
      }),
    [id],
  );
}

/** Figures of whole periods: a minute old is young. */
const slow = { refetchInterval: 60_000 };

export const useUptime = (id: string) =>
  useQuery({
    queryKey: [...recordKey("monitor", id), "uptime"],
    queryFn: ({ signal }) => dataOf(v1.monitors({ id }).uptime.get({ fetch: { signal } })),
    ...slow,
  });

export const useStates = (id: string) =>
  useQuery({
    queryKey: [...recordKey("monitor", id), "states"],
    queryFn: ({ signal }) =>
      dataOf(dashboard.monitors({ id }).states.get({ query: { limit: 100 }, fetch: { signal } })),
  });

export const useHeartbeats = (id: string, limit: number) =>
  useQuery({
    queryKey: [...recordKey("monitor", id), "heartbeats", limit],
    queryFn: ({ signal }) =>
      dataOf(v1.monitors({ id }).heartbeats.get({ query: { limit }, fetch: { signal } })),
    placeholderData: (before) => before,
  });

export type Span = { from: number; to: number };

export const useLatency = (id: string, hours: number, zoom: Span | null) =>
  useQuery({
    queryKey: [...recordKey("monitor", id), "latency", hours, zoom],
    queryFn: async ({ signal }) => {
      const now = Date.now();
      const span = zoom ?? { from: now - hours * 3_600_000, to: now };
      const query = {
        from: new Date(span.from).toISOString(),
        to: new Date(span.to).toISOString(),
        points: 240,
      };
      const { latency } = v1.monitors({ id });
      return { span, points: await dataOf(latency.get({ query, fetch: { signal } })) };
    },
    placeholderData: (before) => before,
    ...(zoom === null && slow),
  });

export const useIncidentsOf = (monitorId: string) =>
  useQuery({
    queryKey: [...listKey("incident"), "of", monitorId],
    queryFn: ({ signal }) =>
      pageOf(v1.incidents.get({ query: { monitorId, per_page: 5 }, fetch: { signal } })),
  });

export const useAlertRecipients = (id: string) =>
  useQuery({
    queryKey: [...recordKey("monitor", id), "alert-preview"],
    queryFn: ({ signal }) =>
      dataOf(v1.monitors({ id })["alert-preview"].get({ fetch: { signal } })),
  });
