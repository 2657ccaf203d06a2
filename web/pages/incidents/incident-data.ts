import { recordKey, tracesKey } from "../../data/keys.ts";
import { useQuery } from "@tanstack/react-query";
import { dashboard, dataOf, v1 } from "../../data/client.ts";
import { useOrganizationRedirect } from "../../data/organization-redirect.ts";

export function useIncident(id: string) {
  const incident = useQuery({
    queryKey: recordKey("incident", id),
    queryFn: ({ signal }) => dataOf(v1.incidents({ id }).get({ fetch: { signal } })),
  });
  useOrganizationRedirect("incident", id, incident.error);
  return incident;
}

/** Who wrote its updates and who was told, which what was sent changes, too. */
export const useTraces = (id: string) =>
  useQuery({
    queryKey: [...tracesKey, id],
    queryFn: ({ signal }) => dataOf(dashboard.incidents({ id }).traces.get({ fetch: { signal } })),
  });
