import { useQuery } from "@tanstack/react-query";
import type { AlertChannel } from "../../src/alert-channels/schema.ts";
import { get } from "./client.ts";

export const useAlertChannels = (enabled = true) =>
  useQuery({
    queryKey: ["alert-channels"],
    queryFn: ({ signal }) => get<AlertChannel[]>("/api/v1/alert-channels", undefined, signal),
    enabled,
  });
