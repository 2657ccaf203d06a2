import { queryOptions, useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import type { StatusPage } from "../../src/status-pages/schema.ts";
import type { Subscriber, SubscriberQuery } from "../../src/status-pages/subscribers/schema.ts";
import { dashboard, dataOf, pageOf, v1 } from "./client.ts";
import { useOrganizationRedirect } from "./organization-redirect.ts";
import { listKey, recordKey } from "./keys.ts";
import { queryClient } from "./query.ts";

export type { StatusPage, Subscriber };

/** The routes of a status page. */
export const pageRoutes = (id: string) => v1["status-pages"]({ id });

const listQuery = queryOptions({
  queryKey: listKey("status-page"),
  queryFn: ({ signal }) => dataOf(v1["status-pages"].get({ fetch: { signal } })),
});

/** All pages, the default one first. */
export const useStatusPages = () => useQuery(listQuery);

export const statusPageQuery = (id: string) =>
  queryOptions({
    queryKey: recordKey("status-page", id),
    queryFn: ({ signal }) => dataOf(pageRoutes(id).get({ fetch: { signal } })),
  });

export function useStatusPage(id: string) {
  const page = useQuery(statusPageQuery(id));
  useOrganizationRedirect("status-page", id, page.error);
  return page;
}

/** A page as it was just saved. */
export function cacheStatusPage(page: StatusPage) {
  queryClient.setQueryData(statusPageQuery(page.id).queryKey, page);
}

export const useSubscriberCounts = () =>
  useQuery({
    queryKey: [...listKey("subscriber"), "counts"],
    queryFn: ({ signal }) => dataOf(dashboard["subscriber-counts"].get({ fetch: { signal } })),
  });

export const useSubscribers = (pageId: string, query: z.input<typeof SubscriberQuery>) =>
  useQuery({
    queryKey: [...listKey("subscriber"), pageId, query],
    queryFn: ({ signal }) =>
      pageOf(pageRoutes(pageId).subscribers.get({ query, fetch: { signal } })),
    placeholderData: (before) => before,
  });
