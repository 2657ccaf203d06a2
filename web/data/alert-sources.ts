import { useQuery } from "@tanstack/react-query";
import type { AlertSource, LoggedSourceRequest } from "../../src/alerting/sources/schema.ts";
import { v1 } from "./client.ts";
import { listKey, recordKey } from "./keys.ts";
import { createDataQuery, createPageQuery } from "./query.ts";
import { useRecord } from "./record.ts";

export type { AlertSource, LoggedSourceRequest };

export const getSourceRoutes = (id: string) => v1["alert-sources"]({ id });

const sourcesQuery = createDataQuery(listKey("alert-source"), (options) =>
  v1["alert-sources"].get(options),
);

/** All sources, by name. */
export const useAlertSources = () => useQuery(sourcesQuery);

export const useAlertSource = (id: string) =>
  useRecord(
    "alert-source",
    id,
    createDataQuery(recordKey("alert-source", id), (options) => getSourceRoutes(id).get(options)),
  );

/** Interval at which the log is read again, because requests without an alert cause no event. */
const logMs = 5_000;

export const useSourceRequests = (id: string, page: number, enabled: boolean) =>
  useQuery({
    ...createPageQuery([...recordKey("alert-source", id), "requests", page], (options) =>
      getSourceRoutes(id).requests.get({ query: { page, per_page: 20 } as never, ...options }),
    ),
    enabled,
    refetchInterval: logMs,
  });
