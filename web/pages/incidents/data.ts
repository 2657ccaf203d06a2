import { searchBounds } from "../../../src/core/limits.ts";
import { useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import type { IncidentAudienceQuery } from "../../../src/dashboard/incident-schema.ts";
import { dashboard, v1 } from "../../data/client.ts";
import { listKey, recordKey, tracesKey } from "../../data/keys.ts";
import { dataQuery, pageQuery } from "../../data/query.ts";
import { useRecord } from "../../data/record.ts";
import type { IncidentFilters } from "./list/filters.ts";

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
    q: q?.trim().slice(0, searchBounds.text.value),
    per_page: open ? mostOpen : 20,
    page: open ? 1 : page,
  };
  return useQuery({
    ...pageQuery([...listKey("incident"), query], (options) =>
      v1.incidents.get({ query, ...options }),
    ),
    enabled,
  });
}

/** Who would be notified of an update of this incident, or of a new one that affects this monitor. */
export const useAudience = (query: z.input<typeof IncidentAudienceQuery>) =>
  useQuery({
    ...dataQuery([...listKey("incident"), "audience", query], (options) =>
      dashboard["incident-audience"].get({ query, ...options }),
    ),
    placeholderData: (before) => before,
  });

/** The organization's own words to begin with. */
export const templatesQuery = dataQuery(listKey("incident-template"), (options) =>
  v1["incident-templates"].get(options),
);

export const useIncident = (id: string) =>
  useRecord(
    "incident",
    id,
    dataQuery(recordKey("incident", id), (options) => v1.incidents({ id }).get(options)),
  );

/** Who wrote its updates and who was notified, which deliveries change, too. */
export const useTraces = (id: string) =>
  useQuery(
    dataQuery([...tracesKey, id], (options) => dashboard.incidents({ id }).traces.get(options)),
  );
