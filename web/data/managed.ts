import { useQuery } from "@tanstack/react-query";
import type { ManagedRecord } from "../../src/configuration/schema.ts";
import { dashboard } from "./client.ts";
import { buildManagedKey } from "./keys.ts";
import { createDataQuery } from "./query.ts";

const sectionNouns = {
  alertChannels: "alert-channel",
  alertSources: "alert-source",
  escalationPolicies: "escalation-policy",
  groups: "group",
  monitors: "monitor",
  maintenanceWindows: "maintenance",
  schedules: "schedule",
  statusPages: "status-page",
} as const;

/**
 * Managed records that were changed or deleted since the configuration was applied. Refetched on
 * every visit.
 */
export const driftedRecordsQuery = {
  ...createDataQuery(["configuration", "differing"], (options) =>
    dashboard.configuration.records.get({ query: { differing: "true" }, ...options }),
  ),
  staleTime: 0,
};

/** A record by its section in configurations and its ID. */
export type ManagedAs = { section: keyof typeof sectionNouns; id: string };

/** The managed records of a section, with their configuration and drift. */
export const useManagedRecords = (section: ManagedAs["section"], enabled = true) =>
  useQuery({
    ...createDataQuery(buildManagedKey(sectionNouns[section]), (options) =>
      dashboard.configuration.records.get({ query: { section }, ...options }),
    ),
    enabled,
  });

/**
 * The configuration entry of a record; null if no configuration manages it, or while that is
 * loading.
 */
export function useManaged({ section, id }: ManagedAs): ManagedRecord | null {
  const { data = [] } = useManagedRecords(section);
  return data.find((one) => one.id === id) ?? null;
}
