/** The maintenance windows that other pages show, too. */
import { useQuery } from "@tanstack/react-query";
import { formatUntil } from "../../../src/core/time/times.ts";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { unwrapPage, v1 } from "../../data/client.ts";
import { listKey } from "../../data/keys.ts";

const windows = v1["maintenance-windows"];

const perPage = 100;

/** Loads all windows, or all in one state. */
async function loadAllWindows(state: MaintenanceWindow["state"] | undefined, signal: AbortSignal) {
  const found: MaintenanceWindow[] = [];
  for (let page = 1; ; page++) {
    const { data, meta } = await unwrapPage(
      windows.get({ query: { state, page, per_page: perPage }, fetch: { signal } }),
    );
    found.push(...data);
    if (page * perPage >= meta.total) return found;
  }
}

// States change with the time as well as with events, so lists are polled.
export const useWindows = (state?: "running" | "scheduled", enabled = true) =>
  useQuery({
    queryKey: [...listKey("maintenance"), state ?? "all"],
    queryFn: ({ signal }) => loadAllWindows(state, signal),
    refetchInterval: 60_000,
    enabled,
  });

/** Describes when the current maintenance of monitors ends; empty if unknown. */
export function useMaintenanceEnd(zone: string, isAny: boolean): string {
  const { data = [] } = useWindows("running", isAny);
  const endTimes = data
    .filter(({ monitorIds, groupIds }) => monitorIds.length + groupIds.length > 0)
    .flatMap(({ current }) => (current === null ? [] : [Date.parse(current.endsAt)]));
  return formatUntil(zone, endTimes, Date.now());
}
