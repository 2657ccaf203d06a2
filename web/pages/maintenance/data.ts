import { useQuery } from "@tanstack/react-query";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { get, getPage, send } from "../../data/client.ts";
import { deleteWithUndo } from "../../parts/deleting.ts";
import { useElsewhere } from "../../data/elsewhere.ts";
import { queryClient } from "../../data/query.ts";
import { complain, say } from "../../parts/toasts.tsx";

export const windowPath = (id: string) => `/api/v1/maintenance-windows/${id}`;

const perPage = 100;

/** Every window of this state, or of all of them. */
async function allWindows(state: string | undefined, signal: AbortSignal) {
  const found: MaintenanceWindow[] = [];
  for (let page = 1; ; page++) {
    const { data, meta } = await getPage<MaintenanceWindow>(
      "/api/v1/maintenance-windows",
      { state, page, per_page: perPage },
      signal,
    );
    found.push(...data);
    if (page * perPage >= meta.total) return found;
  }
}

/** What runs and what is to come; a window that nobody writes to begins and ends by itself. */
export const useWindows = (state?: "running" | "scheduled", enabled = true) =>
  useQuery({
    queryKey: ["maintenances", state ?? "all"],
    queryFn: ({ signal }) => allWindows(state, signal),
    refetchInterval: 60_000,
    enabled,
  });

export const useWindowsOver = (page: number, enabled: boolean) =>
  useQuery({
    queryKey: ["maintenances", "over", page],
    queryFn: ({ signal }) =>
      getPage<MaintenanceWindow>("/api/v1/maintenance-windows", { state: "over", page }, signal),
    placeholderData: (before) => before,
    enabled,
  });

export function useWindow(id: string) {
  const window = useQuery({
    queryKey: ["maintenance", id],
    queryFn: ({ signal }) => get<MaintenanceWindow>(windowPath(id), undefined, signal),
    refetchInterval: 60_000,
  });
  useElsewhere("maintenance-window", id, window.error);
  return window;
}

export const deleteWindow = ({ id, title }: MaintenanceWindow) =>
  deleteWithUndo({ id, title }, windowPath(id), "maintenances");

/** Ends a window that is not repeated, now. */
export async function endNow(window: MaintenanceWindow) {
  try {
    const endsAt = new Date().toISOString();
    const after = await send<MaintenanceWindow>("PATCH", windowPath(window.id), { endsAt }, window);
    queryClient.setQueryData(["maintenance", window.id], after);
    say(`Ended ${window.title}`);
  } catch (error) {
    complain(error);
  }
  await queryClient.invalidateQueries({ queryKey: ["maintenances"] });
}
