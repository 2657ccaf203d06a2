import { useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import type { StatusPage } from "../../src/status-pages/schema.ts";
import type { Subscriber, SubscriberQuery } from "../../src/status-pages/subscribers/schema.ts";
import { dashboard, v1 } from "./client.ts";
import { listKey, recordKey } from "./keys.ts";
import { createDataQuery, createPageQuery, queryClient } from "./query.ts";
import { useRecord } from "./record.ts";

export type { StatusPage, Subscriber };

export const getPageRoutes = (id: string) => v1["status-pages"]({ id });

const listQuery = createDataQuery(listKey("status-page"), (options) =>
  v1["status-pages"].get(options),
);

/** All status pages, the default page first. */
export const useStatusPages = () => useQuery(listQuery);

export const createStatusPageQuery = (id: string) =>
  createDataQuery(recordKey("status-page", id), (options) => getPageRoutes(id).get(options));

export const useStatusPage = (id: string) =>
  useRecord("status-page", id, createStatusPageQuery(id));

/** Caches a page that was just saved. */
export function cacheStatusPage(page: StatusPage) {
  queryClient.setQueryData(createStatusPageQuery(page.id).queryKey, page);
}

export const useAccessTokens = (pageId: string) =>
  useQuery(
    createDataQuery([...recordKey("status-page", pageId), "access-tokens"], (options) =>
      getPageRoutes(pageId)["access-tokens"].get(options),
    ),
  );

export const createPublishingQuery = (pageId: string) => ({
  ...createDataQuery([...recordKey("status-page", pageId), "publishing"], (options) =>
    getPageRoutes(pageId).publishing.get(options),
  ),
  // The result of a publication causes no event.
  refetchInterval: 5_000,
});

export const useSubscriberCounts = () =>
  useQuery(
    createDataQuery([...listKey("subscriber"), "counts"], (options) =>
      dashboard["subscriber-counts"].get(options),
    ),
  );

export const useSubscribers = (pageId: string, query: z.input<typeof SubscriberQuery>) =>
  useQuery(
    createPageQuery([...listKey("subscriber"), pageId, query], (options) =>
      getPageRoutes(pageId).subscribers.get({ query, ...options }),
    ),
  );
