import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { AlertPreview } from "../../../src/alerting/schema.ts";
import type { PastState } from "../../../src/dashboard/schema.ts";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import type { Monitor } from "../../../src/monitoring/monitors/schema.ts";
import type { Heartbeat, LatencyPoint, Uptime } from "../../../src/monitoring/uptime/schema.ts";
import { get, getPage } from "../../data/client.ts";
import { useElsewhere } from "../../data/elsewhere.ts";
import { useOverview } from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";

const path = (id: string, part = "") => `/api/v1/monitors/${id}${part}`;

/** The monitor; if it belongs to another of the person's organizations, that one is switched to. */
export function useMonitor(id: string) {
  const monitor = useQuery({
    queryKey: ["monitor", id],
    queryFn: ({ signal }) => get<Monitor>(path(id), undefined, signal),
  });
  useElsewhere("monitor", id, monitor.error);
  useFresh(id);
  return monitor;
}

/** Each check changes the monitor's row, and with it what is told of its last checks. */
function useFresh(id: string) {
  const { data: overview } = useOverview();
  const row = overview?.monitors.find((one) => one.id === id);
  useEffect(() => {
    if (row === undefined) return;
    void queryClient.invalidateQueries({ queryKey: ["monitor", id], exact: true });
    void queryClient.invalidateQueries({ queryKey: ["monitor", id, "heartbeats"] });
  }, [id, row]);
}

/** Figures of whole periods: a minute old is young. */
const slow = { refetchInterval: 60_000 };

export const useUptime = (id: string) =>
  useQuery({
    queryKey: ["monitor", id, "uptime"],
    queryFn: ({ signal }) => get<Uptime>(path(id, "/uptime"), undefined, signal),
    ...slow,
  });

export const useStates = (id: string) =>
  useQuery({
    queryKey: ["monitor", id, "states"],
    queryFn: ({ signal }) => get<PastState[]>(`/monitors/${id}/states`, { limit: 100 }, signal),
  });

export const useHeartbeats = (id: string, limit: number) =>
  useQuery({
    queryKey: ["monitor", id, "heartbeats", limit],
    queryFn: ({ signal }) => get<Heartbeat[]>(path(id, "/heartbeats"), { limit }, signal),
    placeholderData: (before) => before,
  });

export type Span = { from: number; to: number };

export const useLatency = (id: string, hours: number, zoom: Span | null) =>
  useQuery({
    queryKey: ["monitor", id, "latency", hours, zoom],
    queryFn: async ({ signal }) => {
      const now = Date.now();
      const span = zoom ?? { from: now - hours * 3_600_000, to: now };
      const query = {
        from: new Date(span.from).toISOString(),
        to: new Date(span.to).toISOString(),
        points: 240,
      };
      return { span, points: await get<LatencyPoint[]>(path(id, "/latency"), query, signal) };
    },
    placeholderData: (before) => before,
    ...(zoom === null && slow),
  });

export const useIncidentsOf = (monitorId: string) =>
  useQuery({
    queryKey: ["incidents", "of", monitorId],
    queryFn: ({ signal }) =>
      getPage<IncidentSummary>("/api/v1/incidents", { monitorId, per_page: 5 }, signal),
  });

export const useAlertRecipients = (id: string) =>
  useQuery({
    queryKey: ["monitor", id, "alert-preview"],
    queryFn: ({ signal }) => get<AlertPreview>(path(id, "/alert-preview"), undefined, signal),
  });
