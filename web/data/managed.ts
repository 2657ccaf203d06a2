import { useQuery } from "@tanstack/react-query";
import type { ManagedRecord } from "../../src/configuration/schema.ts";
import { dashboard } from "./client.ts";
import { listKey } from "./keys.ts";
import { dataQuery } from "./query.ts";

const nouns = {
  alertChannels: "alert-channel",
  groups: "group",
  monitors: "monitor",
  maintenanceWindows: "maintenance",
  statusPages: "status-page",
} as const;

/** Which record of a configuration. */
export type ManagedAs = { section: keyof typeof nouns; id: string };

/** What a configuration says of the record; null where none manages it, or as long as that is unknown. */
export function useManaged(what: ManagedAs | null): ManagedRecord | null {
  const { section, id } = what ?? { section: "monitors" as const, id: "" };
  const { data = [] } = useQuery({
    ...dataQuery([...listKey(nouns[section]), "managed"], (options) =>
      dashboard.configuration.records.get({ query: { section }, ...options }),
    ),
    enabled: what !== null,
  });
  return data.find((one) => one.id === id) ?? null;
}
