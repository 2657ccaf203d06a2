/** Queries and writes of the maintenance pages. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Times } from "../../../src/monitoring/maintenance/rules.ts";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { dashboard, unwrapData, addIfMatch, v1 } from "../../data/client.ts";
import { listKey, recordKey, tracesKey } from "../../data/keys.ts";
import { createDataQuery, createPageQuery, queryClient } from "../../data/query.ts";
import { useRecord } from "../../data/record.ts";
import { deleteRecord, holdDeletion } from "../../components/deletion.ts";
import { hold } from "../../components/held-changes.tsx";
import { notifyDone } from "../../components/toasts.tsx";
import { t } from "../../language/text.ts";

const windows = v1["maintenance-windows"];

export const usePastWindows = (page: number, enabled: boolean) =>
  useQuery({
    ...createPageQuery([...listKey("maintenance"), "over", page], (options) =>
      windows.get({ query: { state: "over", page }, ...options }),
    ),
    enabled,
  });

const previews = dashboard["maintenance-windows"];

/** Next occurrences of unsaved times, up to `count` + 1. Shows the previous ones while it loads. */
export function usePreview(times: Times | null, count: number) {
  const { startsAt = "", endsAt = "", timeZone = "", rrule = null } = times ?? {};
  const query = {
    startsAt,
    endsAt,
    timeZone,
    ...(rrule !== null && { rrule }),
    count: count + 1,
  };
  return useQuery({
    ...createDataQuery([...listKey("maintenance"), "preview", query], (options) =>
      previews.preview.get({ query, ...options }),
    ),
    enabled: times !== null,
    placeholderData: keepPreviousData,
  });
}

const createCalendarQuery = (from: string, to: string) =>
  createDataQuery([...listKey("maintenance"), "calendar", from, to], (options) =>
    previews.calendar.get({ query: { from, to }, ...options }),
  );

export const useCalendar = (from: string, to: string) =>
  useQuery({ ...createCalendarQuery(from, to), placeholderData: keepPreviousData });

/** Reads the titles of other windows that overlap an occurrence. */
export function useOverlaps(
  id: string | null,
  { startsAt, endsAt }: { startsAt: string; endsAt: string } = { startsAt: "", endsAt: "" },
): string[] {
  const { data = [] } = useQuery({
    ...createCalendarQuery(startsAt, endsAt),
    enabled: startsAt !== "",
  });
  return data
    .filter((window) => window.id !== id)
    .filter(({ occurrences }) =>
      occurrences.some((one) => one.startsAt < endsAt && one.endsAt > startsAt),
    )
    .map(({ title }) => title);
}

export const useWindow = (id: string) =>
  useRecord("maintenance-window", id, {
    ...createDataQuery(recordKey("maintenance", id), (options) => windows({ id }).get(options)),
    refetchInterval: 60_000,
  });

/** Receivers of the announcement of a window. Events of deliveries refetch them. */
export const useWindowReceipt = (id: string) =>
  useQuery(createDataQuery([...tracesKey, id], (options) => previews({ id }).receipt.get(options)));

/** Deletes a window. Holds it if status pages announce the window. */
export function deleteWindow(window: MaintenanceWindow) {
  const { id, title } = window;
  const route = windows({ id });
  if (window.public)
    holdDeletion((query) => route.delete(undefined, { query, ...addIfMatch(window) }));
  else
    void deleteRecord({ noun: "maintenance", id, title }, () =>
      route.delete(undefined, addIfMatch(window)),
    );
}

/** Ends a non-recurring window now, after a hold if status pages announce it. Undo restores its end. */
export async function endWindow(window: MaintenanceWindow) {
  const endsAt = new Date().toISOString();
  if (window.public) {
    await hold((query) =>
      windows({ id: window.id }).patch({ endsAt }, { query, ...addIfMatch(window) }),
    );
    return;
  }
  await setEnd(window.id, endsAt, window);
  notifyDone(t("Ended {title}", { title: window.title }), () => setEnd(window.id, window.endsAt));
}

async function setEnd(id: string, endsAt: string, seen?: MaintenanceWindow) {
  const after = await unwrapData(windows({ id }).patch({ endsAt }, addIfMatch(seen)));
  queryClient.setQueryData(recordKey("maintenance", id), after);
}
