import { getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { alertChannels } from "./tables/alerting.ts";
import { apiKeys, invitations } from "./tables/accounts.ts";
import { incidents, incidentTemplates } from "./tables/incidents.ts";
import { maintenanceWindows, monitorGroups, monitors } from "./tables/monitoring.ts";
import { statusPages } from "./tables/status-pages.ts";

/** What names the subjects of the audit log, by the word before the point of an action. */
const named: Record<string, [table: SQLiteTable, column: string]> = {
  monitor: [monitors, "name"],
  group: [monitorGroups, "name"],
  incident: [incidents, "title"],
  "incident-template": [incidentTemplates, "name"],
  "alert-channel": [alertChannels, "name"],
  maintenance: [maintenanceWindows, "title"],
  "status-page": [statusPages, "title"],
  "api-key": [apiKeys, "name"],
  invitation: [invitations, "email"],
};

/** What names the records of each kind that belong to an organization. */
export const namedTables = Object.values(named).map(
  ([table, column]) => [getTableName(table), column] as const,
);

/** Whether nobody can look up afterwards what the subject was called. */
export const isRemoval = (action: string): boolean => /\.(deleted|removed|revoked)$/.test(action);

/** SQL for the name of a subject that the same write removes; `null` where it has none. */
export function nameOfRemoved(action: string, organizationId: string, id: string): string {
  if (action === "person.removed") return `(select name from people where id = ${id})`;
  const its = isRemoval(action) ? named[action.slice(0, action.indexOf("."))] : undefined;
  if (its === undefined) return "null";
  return `(select ${its[1]} from ${getTableName(its[0])} s
    where s.organization_id = ${organizationId} and s.id = ${id})`;
}
