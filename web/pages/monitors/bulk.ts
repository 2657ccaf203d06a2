/** Requests, previews and undo of bulk changes, and the selection of all monitors that match the filters. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import type { ManyMonitors } from "../../../src/monitoring/monitors/bulk-schema.ts";
import { unwrapData, v1, addIdempotencyKey } from "../../data/client.ts";
import {
  createOverviewQuery,
  isPartial,
  type Overview,
  overviewQuery,
  readRows,
} from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { createProvisionalId } from "../../data/record.ts";
import { hold } from "../../components/held-changes.tsx";
import { notify, notifyDone } from "../../components/toasts.tsx";
import { findKnownMonitors } from "./actions.ts";
import { canAlert } from "./bulk-rules.ts";
import { type Filters, isFiltered, toSentFilters } from "./list/filters.ts";
import { buildItems, type Item } from "./list/rows.ts";
import { tCount } from "../../language/text.ts";

export type BulkChangeInput = z.input<typeof ManyMonitors>;

/** Maximum number of monitors of a bulk change. */
export const maxSelectedMonitors = 5_000;

/** The effects of a bulk change. The selection of a dialog does not change. */
export const useBulkPreview = (body: BulkChangeInput | null) =>
  useQuery({
    queryKey: ["bulk-preview", body],
    queryFn: () => unwrapData(v1.monitors.bulk.preview.post(body as BulkChangeInput)),
    enabled: body !== null,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });

/** Changes monitors in one write, after a hold if that can send alerts, and offers to undo it. */
export async function changeMonitors(input: BulkChangeInput, idempotencyKey: string) {
  if (canAlert(findKnownMonitors(new Set(input.monitorIds)), input.change ?? {})) {
    const key = addIdempotencyKey(idempotencyKey);
    await hold((query) => v1.monitors.bulk.post(input, { query, ...key }));
    return;
  }
  const { changed, undo } = await unwrapData(
    v1.monitors.bulk.post(input, addIdempotencyKey(idempotencyKey)),
  );
  const text = tCount(changed, "Changed {count} monitor", "Changed {count} monitors");
  if (undo === null) return void notify(text);
  const undoOnce = addIdempotencyKey(createProvisionalId());
  notifyDone(text, () => unwrapData(v1.monitors.bulk.post(undo, undoOnce)));
}

const nothingFolded: ReadonlySet<string> = new Set();

const findItems = (overview: Overview, filters: Filters): Item[] =>
  buildItems(overview, filters, nothingFolded);

/** Number of monitors that match the filters, loaded or not. */
export const countMatching = (found: Overview, filters: Filters) =>
  findItems(found, filters).reduce((sum, one) => sum + (one.kind === "head" ? one.count : 0), 0);

/** Loads all monitors that match the filters, in folded groups too, and returns their IDs. */
export async function listMatching(filters: Filters): Promise<string[]> {
  const all = queryClient.getQueryData<Overview>(overviewQuery.queryKey);
  if (all === undefined) return [];
  const sent = toSentFilters(filters);
  const asked = isPartial(all) && isFiltered(sent) ? sent : undefined;
  const { queryKey } = createOverviewQuery(asked);
  const read = () => queryClient.getQueryData<Overview>(queryKey) ?? all;
  for (const item of findItems(read(), filters))
    if (item.kind === "head") await readRows(asked, item.group?.id ?? null, Infinity);
  return findItems(read(), filters).flatMap((item) =>
    item.kind === "row" ? [item.monitor.id] : [],
  );
}
