/** Queries of incidents, of their audience, and of message templates. */
import { maxSearchLength } from "../../data/search-limit.ts";
import { useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import type { IncidentAudienceQuery } from "../../../src/dashboard/incident-schema.ts";
import { dashboard, v1 } from "../../data/client.ts";
import { listKey, recordKey, tracesKey } from "../../data/keys.ts";
import { createDataQuery, createPageQuery } from "../../data/query.ts";
import { useRecord } from "../../data/record.ts";
import type { IncidentFilters } from "./list/filters.ts";

/** Maximum number of open incidents on the page. They are not paginated. */
const maxOpenIncidents = 100;

/** Loads the open or the resolved incidents, filtered. */
export function useIncidents(filters: IncidentFilters, open: boolean, enabled: boolean) {
  const { q, status, severity, monitor, page } = filters;
  const query = {
    open: open ? ("true" as const) : ("false" as const),
    status,
    severity,
    monitorId: monitor,
    q: q?.trim().slice(0, maxSearchLength),
    per_page: open ? maxOpenIncidents : 20,
    page: open ? 1 : page,
  };
  return useQuery({
    ...createPageQuery([...listKey("incident"), query], (options) =>
      v1.incidents.get({ query, ...options }),
    ),
    enabled,
  });
}

/**
 * Channels, pages and subscribers that an update would notify, or a new incident of this monitor.
 */
export const useAudience = (query: z.input<typeof IncidentAudienceQuery>) =>
  useQuery({
    ...createDataQuery([...listKey("incident"), "audience", query], (options) =>
      dashboard["incident-audience"].get({ query, ...options }),
    ),
    placeholderData: (before) => before,
  });

/** The organization's own message templates. */
export const templatesQuery = createDataQuery(listKey("incident-template"), (options) =>
  v1["incident-templates"].get(options),
);

export const useIncident = (id: string) =>
  useRecord(
    "incident",
    id,
    createDataQuery(recordKey("incident", id), (options) => v1.incidents({ id }).get(options)),
  );

/** Authors, checks and notifications of an incident. Events of deliveries refetch them. */
export const useTraces = (id: string) =>
  useQuery(
    createDataQuery([...tracesKey, id], (options) =>
      dashboard.incidents({ id }).traces.get(options),
    ),
  );
