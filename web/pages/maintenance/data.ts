import { useQuery } from "@tanstack/react-query";
import { endsIn } from "../../../src/core/time/times.ts";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { dataOf, ifMatch, pageOf, v1 } from "../../data/client.ts";
import { listKey, recordKey } from "../../data/keys.ts";
import { dataQuery, pageQuery, queryClient } from "../../data/query.ts";
import { useRecord } from "../../data/record.ts";
import { deleteWithUndo, notifyDone } from "../../components/toasts.tsx";

const windows = v1["maintenance-windows"];

const perPage = 100;

/** Every window of this state, or of all of them. */
async function allWindows(state: MaintenanceWindow["state"] | undefined, signal: AbortSignal) {
  const found: MaintenanceWindow[] = [];
  for (let page = 1; ; page++) {
    const { data, meta } = await pageOf(
      windows.get({ query: { state, page, per_page: perPage }, fetch: { signal } }),
    );
    found.push(...data);
    if (page * perPage >= meta.total) return found;
  }
}

/** What runs and what is to come; a window that nobody writes to begins and ends by itself. */
export const useWindows = (state?: "running" | "scheduled", enabled = true) =>
  useQuery({
    queryKey: [...listKey("maintenance"), state ?? "all"],
    queryFn: ({ signal }) => allWindows(state, signal),
    refetchInterval: 60_000,
    enabled,
  });

/** Behind how many are in maintenance: when they no longer are; empty where nobody knows. */
export function useMaintenanceEnd(zone: string, isAny: boolean): string {
  const { data = [] } = useWindows("running", isAny);
  const ends = data
    .filter(({ monitorIds, groupIds }) => monitorIds.length + groupIds.length > 0)
    .flatMap(({ current }) => (current === null ? [] : [Date.parse(current.endsAt)]));
  return endsIn(zone, ends, Date.now());
}

export const usePastWindows = (page: number, enabled: boolean) =>
  useQuery({
    ...pageQuery([...listKey("maintenance"), "over", page], (options) =>
      windows.get({ query: { state: "over", page }, ...options }),
    ),
    enabled,
  });

export const useWindow = (id: string) =>
  useRecord("maintenance-window", id, {
    ...dataQuery(recordKey("maintenance", id), (options) => windows({ id }).get(options)),
    refetchInterval: 60_000,
  });

export const deleteWindow = (window: MaintenanceWindow) =>
  deleteWithUndo(window, () =>
    dataOf(windows({ id: window.id }).delete(undefined, ifMatch(window))),
  );

/** Ends a window that is not repeated, now; taken back, it goes on until when it was to end. */
export async function endNow(window: MaintenanceWindow) {
  await setEnd(window.id, new Date().toISOString(), window);
  notifyDone(`Ended ${window.title}`, () => setEnd(window.id, window.endsAt));
}

async function setEnd(id: string, endsAt: string, seen?: MaintenanceWindow) {
  const after = await dataOf(windows({ id }).patch({ endsAt }, ifMatch(seen)));
  queryClient.setQueryData(recordKey("maintenance", id), after);
}
