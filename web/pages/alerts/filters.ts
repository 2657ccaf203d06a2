import { priorities } from "../../../src/core/statuses.ts";
import type { AlertSummary } from "../../../src/alerting/records/schema.ts";

/** Types of the last message about a problem. */
export const problemTypes = [
  "monitor.down",
  "monitor.degraded",
  "monitor.flapping",
  "certificate.expiring",
  "incident.opened",
  "incident.updated",
  "channel.failed",
  "appliance.troubled",
  "source.opened",
  "drill",
] as const;

/** Filters of the list, as URL parameters. */
export type AlertFilters = {
  status?: AlertSummary["status"];
  type?: (typeof problemTypes)[number];
  priority?: AlertSummary["priority"];
  monitor?: string;
  source?: string;
  page?: number;
};

const findOption = <T extends string>(value: unknown, options: readonly T[]): T | undefined =>
  options.find((option) => option === value);

const isId = (value: unknown): value is string =>
  typeof value === "string" && /^[0-9a-f-]{36}$/i.test(value);

/** Parses URL parameters, and drops values that the server would reject. */
export function parseAlertFilters(search: Record<string, unknown>): AlertFilters {
  const { monitor, source } = search;
  const statuses = ["open", "acknowledged", "snoozed", "resolved"] as const;
  const status = findOption(search["status"], statuses);
  const type = findOption(search["type"], problemTypes);
  const priority = findOption(search["priority"], priorities);
  const page = Number(search["page"]);
  return {
    ...(status && { status }),
    ...(type && { type }),
    ...(priority && { priority }),
    ...(isId(monitor) && { monitor }),
    ...(isId(source) && { source }),
    ...(Number.isSafeInteger(page) && page > 1 && { page }),
  };
}

/** The filters as query of the API, without the status and the page. */
export const queryOf = ({ type, priority, monitor, source }: AlertFilters) => ({
  ...(type && { type }),
  ...(priority && { priority }),
  ...(monitor !== undefined && { monitorId: monitor }),
  ...(source !== undefined && { sourceId: source }),
});
