import { useQuery } from "@tanstack/react-query";
import { dashboard, dataOf, v1 } from "../../data/client.ts";
import { useElsewhere } from "../../data/elsewhere.ts";

export function useIncident(id: string) {
  const incident = useQuery({
    queryKey: ["incident", id],
    queryFn: ({ signal }) => dataOf(v1.incidents({ id }).get({ fetch: { signal } })),
  });
  useElsewhere("incident", id, incident.error);
  return incident;
}

/** Who wrote its updates and who was told; messages arrive some seconds after what they tell. */
export const useTraces = (id: string) =>
  useQuery({
    queryKey: ["incident", id, "traces"],
    queryFn: ({ signal }) => dataOf(dashboard.incidents({ id }).traces.get({ fetch: { signal } })),
    refetchInterval: 10_000,
  });
