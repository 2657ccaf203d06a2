import type { AlertSummary } from "../../../src/alerting/records/schema.ts";

/** Filters of the list, as URL parameters. */
export type AlertFilters = { status?: AlertSummary["status"]; type?: "drill"; page?: number };

export function parseAlertFilters(search: Record<string, unknown>): AlertFilters {
  const status = (["open", "acknowledged", "snoozed", "resolved"] as const).find(
    (one) => one === search["status"],
  );
  const page = Number(search["page"]);
  return {
    ...(status && { status }),
    ...(search["type"] === "drill" && { type: "drill" as const }),
    ...(Number.isSafeInteger(page) && page > 1 && { page }),
  };
}
