import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";
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
