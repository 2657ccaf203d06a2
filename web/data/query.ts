import { keepPreviousData, QueryClient, queryOptions, type QueryKey } from "@tanstack/react-query";
import { ApiError, unwrapData, unwrapPage, type Result } from "./client.ts";
import { connection } from "./connection.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The live stream invalidates queries earlier.
      staleTime: 30_000,
      // ETags are stored by object identity, which structural sharing would change.
      structuralSharing: false,
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < 2,
      refetchOnWindowFocus: "always",
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

connection.onRestored(() => void queryClient.invalidateQueries());

/** Refetches the visible queries that failed. */
export const refetchFailed = () =>
  queryClient.refetchQueries({
    type: "active",
    predicate: ({ state }) => state.status === "error",
  });

type Options = { fetch: { signal: AbortSignal } };

/** Query options that load the `data` of a route. */
export const createDataQuery = <T>(
  queryKey: QueryKey,
  request: (options: Options) => Promise<Result<{ data: T }>>,
) =>
  queryOptions({ queryKey, queryFn: ({ signal }) => unwrapData(request({ fetch: { signal } })) });

type LoadingState = { isLoading: boolean; isFetched: boolean; failureCount: number };

/**
 * Whether any query is in its first load. Failed queries do not count, so pages do not wait for
 * them, nor disappear while they are loaded again.
 */
export const isFirstLoad = (queries: readonly LoadingState[]): boolean =>
  queries.some(
    ({ isLoading, isFetched, failureCount }) => isLoading && !isFetched && failureCount === 0,
  );

/**
 * Query options of a list page with its `meta`. The previous page stays visible during the load.
 */
export const createPageQuery = <T extends { data: unknown }>(
  queryKey: QueryKey,
  request: (options: Options) => Promise<Result<T>>,
) =>
  queryOptions({
    queryKey,
    queryFn: ({ signal }) => unwrapPage(request({ fetch: { signal } })),
    placeholderData: keepPreviousData,
  });
