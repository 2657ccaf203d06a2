import { useQuery } from "@tanstack/react-query";
import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import { get, getPage } from "../../data/client.ts";
import type { IncidentFilters } from "./filters.ts";

/** So many that are open are shown at once. */
const mostOpen = 100;

/** One of the two parts of the list. */
export function useIncidents(filters: IncidentFilters, open: boolean, enabled: boolean) {
  const { q, status, severity, monitor, page } = filters;
  const query = {
    open,
    status,
    severity,
    monitorId: monitor,
    q: q?.trim(),
    per_page: open ? mostOpen : 20,
    page: open ? 1 : page,
  };
  return useQuery({
    queryKey: ["incidents", "list", query],
    queryFn: ({ signal }) => getPage<IncidentSummary>("/api/v1/incidents", query, signal),
    placeholderData: (before) => before,
    enabled,
  });
}

/** Who would be told of an update of this incident, or of a new one that affects this monitor. */
export const useAudience = (of: { incidentId: string } | { monitorId: string | null }) =>
  useQuery({
    queryKey: ["incident-audience", of],
    queryFn: ({ signal }) => get<IncidentAudience>("/incident-audience", of, signal),
    placeholderData: (before) => before,
  });
