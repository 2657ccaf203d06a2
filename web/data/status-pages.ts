import { queryOptions, useQuery } from "@tanstack/react-query";
import type { SubscriberCount } from "../../src/dashboard/schema.ts";
import type { StatusPage } from "../../src/status-pages/schema.ts";
import type { Subscriber } from "../../src/status-pages/subscribers/schema.ts";
import { get, getPage, type Query } from "./client.ts";
import { useElsewhere } from "./elsewhere.ts";
import { queryClient } from "./query.ts";

export type { StatusPage, Subscriber };

export const pagePath = (id: string, part = "") => `/api/v1/status-pages/${id}${part}`;

const listQuery = queryOptions({
  queryKey: ["status-pages"],
  queryFn: ({ signal }) => get<StatusPage[]>("/api/v1/status-pages", undefined, signal),
});

/** All pages, the default one first. */
export const useStatusPages = () => useQuery(listQuery);

export const statusPageQuery = (id: string) =>
  queryOptions({
    queryKey: ["status-page", id],
    queryFn: ({ signal }) => get<StatusPage>(pagePath(id), undefined, signal),
  });

export function useStatusPage(id: string) {
  const page = useQuery(statusPageQuery(id));
  useElsewhere("status-page", id, page.error);
  return page;
}

/** A page as it was just saved. */
export function keepStatusPage(page: StatusPage) {
  queryClient.setQueryData(statusPageQuery(page.id).queryKey, page);
  void queryClient.invalidateQueries({ queryKey: listQuery.queryKey });
}

export const useSubscriberCounts = () =>
  useQuery({
    queryKey: ["subscribers", "counts"],
    queryFn: ({ signal }) => get<SubscriberCount[]>("/subscriber-counts", undefined, signal),
  });

export const useSubscribers = (pageId: string, query: Query) =>
  useQuery({
    queryKey: ["subscribers", pageId, query],
    queryFn: ({ signal }) => getPage<Subscriber>(pagePath(pageId, "/subscribers"), query, signal),
    placeholderData: (before) => before,
  });
