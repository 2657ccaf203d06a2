import { incidentStatuses, severities } from "../../../../src/core/statuses.ts";
import type { IncidentSummary } from "../../../../src/incidents/schema.ts";

/** Filters of the incident list, as URL parameters. */
export type IncidentFilters = {
  q?: string;
  status?: IncidentSummary["status"];
  severity?: IncidentSummary["severity"];
  open?: "true" | "false";
  monitor?: string;
  page?: number;
};

const findOption = <T extends string>(value: unknown, options: readonly T[]): T | undefined =>
  options.find((option) => option === String(value));

/** Parses URL parameters, and drops values that the server would reject. */
export function parseIncidentFilters(search: Record<string, unknown>): IncidentFilters {
  const { q, monitor } = search;
  const status = findOption(search["status"], incidentStatuses);
  const severity = findOption(search["severity"], severities);
  const open = findOption(search["open"], ["true", "false"]);
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

/** Whether the filters show the list of open incidents, and the list of resolved ones. */
export function shownPartsOf({ status, open }: IncidentFilters): { open: boolean; over: boolean } {
  return {
    open: open !== "false" && status !== "resolved",
    over: open !== "true" && (status === undefined || status === "resolved"),
  };
}

/** Puts the worst incidents first, and leaves the order within a severity. */
export const compareBySeverity = (
  one: Pick<IncidentSummary, "severity">,
  other: Pick<IncidentSummary, "severity">,
): number => severities.indexOf(other.severity) - severities.indexOf(one.severity);
