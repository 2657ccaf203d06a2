/** Queries of a monitor's page: uptime, timeline, checks, state changes and incidents. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Timeline } from "../../../src/dashboard/timeline-schema.ts";
import { dashboard, v1 } from "../../data/client.ts";
import { listKey, recordKey } from "../../data/keys.ts";
import { onChecks } from "../../data/live.ts";
import { createDataQuery, createPageQuery, queryClient } from "../../data/query.ts";
import { useRecord } from "../../data/record.ts";

/**
 * Loads a monitor. If it belongs to another of the person's organizations, switches to that one.
 */
export function useMonitor(id: string) {
  useChecks(id);
  return useRecord(
    "monitor",
    id,
    createDataQuery(recordKey("monitor", id), (options) => v1.monitors({ id }).get(options)),
  );
}

/** Refetches the monitor and its recent checks after each check. */
function useChecks(id: string) {
  useEffect(
    () =>
      onChecks((ids) => {
        if (!ids.has(id)) return;
        void queryClient.invalidateQueries({ queryKey: recordKey("monitor", id), exact: true });
        for (const part of ["heartbeats", "uptime", "timeline"])
          void queryClient.invalidateQueries({ queryKey: [...recordKey("monitor", id), part] });
      }),
    [id],
  );
}

/** Options of queries over days or longer, for which a delay of one minute is acceptable. */
const slow = { refetchInterval: 60_000 };

export const useUptime = (id: string) =>
  useQuery({
    ...createDataQuery([...recordKey("monitor", id), "uptime"], (options) =>
      v1.monitors({ id }).uptime.get(options),
    ),
    ...slow,
  });

export const useStates = (id: string) =>
  useQuery(
    createDataQuery([...recordKey("monitor", id), "states"], (options) =>
      dashboard.monitors({ id }).states.get({ query: { limit: 100 }, ...options }),
    ),
  );

export const useHeartbeats = (id: string, limit: number) =>
  useQuery({
    ...createDataQuery([...recordKey("monitor", id), "heartbeats", limit], (options) =>
      v1.monitors({ id }).heartbeats.get({ query: { limit }, ...options }),
    ),
    placeholderData: (before) => before,
  });

export const useHeartbeat = (id: string, at: string) =>
  useQuery({
    ...createDataQuery([...recordKey("monitor", id), "heartbeat", at], (options) =>
      v1.monitors({ id }).heartbeats.get({
        query: { from: at, to: new Date(Date.parse(at) + 1).toISOString(), limit: 1 },
        ...options,
      }),
    ),
    staleTime: Infinity,
    select: ([heartbeat]) => heartbeat,
  });

export type Span = { from: number; to: number };

/** State and latency of the monitor per `step` seconds of a time range. */
export const useTimeline = (id: string, { from, to }: Span, step: number, enabled = true) =>
  useQuery({
    enabled,
    ...createDataQuery([...recordKey("monitor", id), "timeline", from, to, step], (options) =>
      dashboard.monitors({ id }).timeline.get({
        query: {
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          step: String(step),
        },
        ...options,
      }),
    ),
    staleTime: 20_000,
    placeholderData: (before: Timeline | undefined) => before,
  });

export const useMonitorIncidents = (monitorId: string) =>
  useQuery(
    createPageQuery([...listKey("incident"), "of", monitorId], (options) =>
      v1.incidents.get({ query: { monitorId, per_page: 5 }, ...options }),
    ),
  );

export const useAlertRecipients = (id: string) =>
  useQuery(
    createDataQuery([...recordKey("monitor", id), "alert-preview"], (options) =>
      v1.monitors({ id })["alert-preview"].get(options),
    ),
  );
