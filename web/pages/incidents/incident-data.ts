import { useQuery } from "@tanstack/react-query";
import type { IncidentTraces } from "../../../src/dashboard/incident-schema.ts";
import type { Incident } from "../../../src/incidents/schema.ts";
import { get } from "../../data/client.ts";
import { useElsewhere } from "../../data/elsewhere.ts";

export const incidentPath = (id: string) => `/api/v1/incidents/${id}`;

export function useIncident(id: string) {
  const incident = useQuery({
    queryKey: ["incident", id],
    queryFn: ({ signal }) => get<Incident>(incidentPath(id), undefined, signal),
  });
  useElsewhere("incident", id, incident.error);
  return incident;
}

/** Who wrote its updates and who was told; messages arrive some seconds after what they tell. */
export const useTraces = (id: string) =>
  useQuery({
    queryKey: ["incident", id, "traces"],
    queryFn: ({ signal }) => get<IncidentTraces>(`/incidents/${id}/traces`, undefined, signal),
    refetchInterval: 10_000,
  });
