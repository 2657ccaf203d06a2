import { keepPreviousData, QueryClient, queryOptions, type QueryKey } from "@tanstack/react-query";
import { ApiError, dataOf, pageOf, type Result } from "./client.ts";
import { connection } from "./connection.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The live stream says when something is old.
      staleTime: 30_000,
      // Records carry their ETag by identity.
      structuralSharing: false,
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < 2,
      refetchOnWindowFocus: "always",
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

connection.onRestored(() => void queryClient.invalidateQueries());

/** Asks for what is shown and could not be loaded. */
export const askAgain = () =>
  queryClient.refetchQueries({
    type: "active",
    predicate: ({ state }) => state.status === "error",
  });

type Options = { fetch: { signal: AbortSignal } };

/** What a route answers, under a key. */
export const dataQuery = <T>(
  queryKey: QueryKey,
  ask: (options: Options) => Promise<Result<{ data: T }>>,
) => queryOptions({ queryKey, queryFn: ({ signal }) => dataOf(ask({ fetch: { signal } })) });

type Coming = { isLoading: boolean; failureCount: number };

/** Whether one of them comes for the first time; one that has failed is not waited for. */
export const isComing = (queries: readonly Coming[]): boolean =>
  queries.some(({ isLoading, failureCount }) => isLoading && failureCount === 0);

/** A page of a list, with its `meta`; the page before stays until this one is there. */
export const pageQuery = <T extends { data: unknown }>(
  queryKey: QueryKey,
  ask: (options: Options) => Promise<Result<T>>,
) =>
  queryOptions({
    queryKey,
    queryFn: ({ signal }) => pageOf(ask({ fetch: { signal } })),
    placeholderData: keepPreviousData,
  });
