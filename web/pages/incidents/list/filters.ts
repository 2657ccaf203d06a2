import { incidentStatuses, severities } from "../../../../src/core/statuses.ts";
import type { IncidentSummary } from "../../../../src/incidents/schema.ts";

/** What the list is narrowed to, as it stands in the address. */
export type IncidentFilters = {
  q?: string;
  status?: IncidentSummary["status"];
  severity?: IncidentSummary["severity"];
  open?: "true" | "false";
  monitor?: string;
  page?: number;
};

const oneOf = <T extends string>(value: unknown, options: readonly T[]): T | undefined =>
  options.find((option) => option === String(value));

/** Whatever somebody typed into the address becomes filters that the server takes. */
export function incidentFiltersOf(search: Record<string, unknown>): IncidentFilters {
  const { q, monitor } = search;
  const status = oneOf(search["status"], incidentStatuses);
  const severity = oneOf(search["severity"], severities);
  const open = oneOf(search["open"], ["true", "false"]);
  const page = Number(search["page"]);
  return {
    ...(typeof q === "string" && q.trim() !== "" && { q }),
    ...(status && { status }),
    ...(severity && { severity }),
    ...(open && { open }),
    ...(typeof monitor === "string" && /^[0-9a-f-]{36}$/i.test(monitor) && { monitor }),
    ...(Number.isSafeInteger(page) && page > 1 && { page }),
  };
}

export const isNarrowed = (filters: IncidentFilters): boolean =>
  Object.keys(filters).some((name) => name !== "page");

/** Which of its two parts the list has: those that are open, and those that are over. */
export function partsOf({ status, open }: IncidentFilters): { open: boolean; over: boolean } {
  return {
    open: open !== "false" && status !== "resolved",
    over: open !== "true" && (status === undefined || status === "resolved"),
  };
}
