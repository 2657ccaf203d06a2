/** Queries of a monitor's page: uptime, timeline, checks, state changes and incidents. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Timeline } from "../../../src/dashboard/timeline-schema.ts";
import { dashboard, v1 } from "../../data/client.ts";
import { listKey, recordKey, uneditedKey } from "../../data/keys.ts";
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
        for (const part of ["heartbeats", "uptime", "timeline", "numbers"])
          void queryClient.invalidateQueries({ queryKey: [...uneditedKey(id), part] });
      }),
    [id],
  );
}

/** Options of queries over days or longer, for which a delay of one minute is acceptable. */
const slowRefetch = { refetchInterval: 60_000 };

export const useUptime = (id: string) =>
  useQuery({
    ...createDataQuery([...uneditedKey(id), "uptime"], (options) =>
      v1.monitors({ id }).uptime.get(options),
    ),
    ...slowRefetch,
  });

/** A period in Unix milliseconds. Without an end it lasts until now. */
type OpenSpan = { from: number; to: number | null };

const toQuery = ({ from, to }: OpenSpan) => ({
  from: new Date(from).toISOString(),
  ...(to !== null && { to: new Date(to).toISOString() }),
});

/** Query of a span in the numbers of a monitor, with a point for about every third pixel. */
export const toSpanQuery = (span: OpenSpan) => ({ ...toQuery(span), points: "300" });

/** The number of a monitor over a span. */
export const useNumbers = (id: string, { from, to }: OpenSpan) =>
  useQuery({
    ...createDataQuery([...uneditedKey(id), "numbers", from, to], (options) =>
      v1
        .monitors({ id })
        .numbers.get({ query: { ...toQuery({ from, to }), points: 300 }, ...options }),
    ),
    placeholderData: (before) => before,
  });

/** Figures of a past period. */
export const usePeriodFigures = (id: string, { from, to }: OpenSpan) =>
  useQuery({
    enabled: to !== null,
    ...createDataQuery([...uneditedKey(id), "figures", from, to], (options) =>
      dashboard
        .monitors({ id })
        .figures.get({ query: toQuery({ from, to }) as { from: string; to: string }, ...options }),
    ),
  });

/** Maximum number of states of a span. */
export const maxStates = 500;

/** States of a span, newest first. The last one is the state at its start. */
export const useStates = (id: string, { from, to }: OpenSpan) =>
  useQuery({
    ...createDataQuery([...uneditedKey(id), "states", from, to], (options) =>
      dashboard
        .monitors({ id })
        .states.get({ query: { ...toQuery({ from, to }), limit: maxStates }, ...options }),
    ),
    placeholderData: (before) => before,
  });

/** Checks per page. */
export const checksPerPage = 100;

/** The newest checks of a span. */
export const useHeartbeats = (id: string, { from, to }: OpenSpan) =>
  useQuery({
    ...createDataQuery([...uneditedKey(id), "heartbeats", from, to], (options) =>
      v1
        .monitors({ id })
        .heartbeats.get({ query: { ...toQuery({ from, to }), limit: checksPerPage }, ...options }),
    ),
    placeholderData: (before) => before,
  });

/** Reports of a job that its page shows. */
export const maxJobReports = 50;

export const useJob = (id: string) =>
  useQuery(
    createDataQuery([...uneditedKey(id), "job"], (options) =>
      v1.monitors({ id }).job.get({ query: { limit: maxJobReports }, ...options }),
    ),
  );

/** Next due times of a schedule that is not saved. */
export const useSchedulePreview = (schedule: string, timeZone: string) =>
  useQuery({
    ...createDataQuery([...listKey("monitor"), "schedule", schedule, timeZone], (options) =>
      dashboard["job-schedule"].get({ query: { schedule, timeZone }, ...options }),
    ),
    enabled: schedule !== "",
    placeholderData: (before) => before,
  });

export const useHeartbeat = (id: string, at: string) =>
  useQuery({
    ...createDataQuery([...uneditedKey(id), "heartbeat", at], (options) =>
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
    ...createDataQuery([...uneditedKey(id), "timeline", from, to, step], (options) =>
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
      v1.monitors({ id })["alert-preview"].get({ query: {}, ...options }),
    ),
  );
