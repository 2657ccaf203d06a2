import { listKey } from "../../data/keys.ts";
import { useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import type { IncidentAudienceQuery } from "../../../src/dashboard/incident-schema.ts";
import { dashboard, dataOf, pageOf, v1 } from "../../data/client.ts";
import type { IncidentFilters } from "./filters.ts";

/** So many that are open are shown at once. */
const mostOpen = 100;

/** One of the two parts of the list. */
export function useIncidents(filters: IncidentFilters, open: boolean, enabled: boolean) {
  const { q, status, severity, monitor, page } = filters;
  const query = {
    open: open ? ("true" as const) : ("false" as const),
    status,
    severity,
    monitorId: monitor,
    q: q?.trim(),
    per_page: open ? mostOpen : 20,
    page: open ? 1 : page,
  };
  return useQuery({
    queryKey: [...listKey("incident"), query],
    queryFn: ({ signal }) => pageOf(v1.incidents.get({ query, fetch: { signal } })),
    placeholderData: (before) => before,
    enabled,
  });
}

/** Who would be told of an update of this incident, or of a new one that affects this monitor. */
export const useAudience = (query: z.input<typeof IncidentAudienceQuery>) =>
  useQuery({
    queryKey: [...listKey("incident"), "audience", query],
    queryFn: ({ signal }) =>
      dataOf(dashboard["incident-audience"].get({ query, fetch: { signal } })),
    placeholderData: (before) => before,
  });
