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

/** What was changed or deleted here since a configuration was applied, read anew whenever somebody looks. */
export const differingQuery = {
  ...dataQuery(["configuration", "differing"], (options) =>
    dashboard.configuration.records.get({ query: { differing: "true" }, ...options }),
  ),
  staleTime: 0,
};

/** Which record of a configuration. */
export type ManagedAs = { section: keyof typeof nouns; id: string };

/** What configurations say of the records of a section. */
export const useManagedRecords = (section: ManagedAs["section"], enabled = true) =>
  useQuery({
    ...dataQuery([...listKey(nouns[section]), "managed"], (options) =>
      dashboard.configuration.records.get({ query: { section }, ...options }),
    ),
    enabled,
  });

/** What a configuration says of the record; null where none manages it, or as long as that is unknown. */
export function useManaged({ section, id }: ManagedAs): ManagedRecord | null {
  const { data = [] } = useManagedRecords(section);
  return data.find((one) => one.id === id) ?? null;
}
