/** SQL that looks up the names of the audit log's subjects. */
import { getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { alertChannels, escalationPolicies } from "./tables/alerting.ts";
import { alertSources } from "./tables/alert-sources.ts";
import { apiKeys, invitations } from "./tables/accounts.ts";
import { incidents, incidentTemplates } from "./tables/incidents.ts";
import { maintenanceWindows, monitorGroups, monitors } from "./tables/monitoring.ts";
import { schedules } from "./tables/schedules.ts";
import { statusPages } from "./tables/status-pages.ts";

/** Tables and name columns of the audit log's subjects, by the prefix of the action. */
const namedSubjects: Record<string, [table: SQLiteTable, column: string]> = {
  monitor: [monitors, "name"],
  group: [monitorGroups, "name"],
  incident: [incidents, "title"],
  "incident-template": [incidentTemplates, "name"],
  "alert-channel": [alertChannels, "name"],
  "alert-source": [alertSources, "name"],
  schedule: [schedules, "name"],
  "escalation-policy": [escalationPolicies, "name"],
  "contact-method": [alertChannels, "name"],
  maintenance: [maintenanceWindows, "title"],
  "status-page": [statusPages, "title"],
  "api-key": [apiKeys, "name"],
  invitation: [invitations, "email"],
};

/** Tables and name columns of records that belong to an organization. */
export const namedTables = Object.values(namedSubjects).map(
  ([table, column]) => [getTableName(table), column] as const,
);

/** SQL that tells who opened an incident, `manual` or `monitor`, even after its deletion; null for other records. */
export const buildOriginSql = (organizationId: string, id: string): string =>
  `coalesce((select origin from incidents where organization_id = ${organizationId} and id = ${id}),
    (select content ->> 'origin' from deleted_rows where organization_id = ${organizationId}
      and record_id = ${id} and table_name = 'incidents'))`;

/** SQL for the name of a channel `c`; with the name of its person `p`, if it is a contact method. */
export const contactMethodName = "iif(p.id is null, c.name, p.name || ': ' || c.name)";

/** Whether the action deletes its subject, so that its name can't be looked up later. */
export const isRemoval = (action: string): boolean => /\.(deleted|removed|revoked)$/.test(action);

/** Whether the audit row stores the name of the subject, because it has none later. An alert has the name of its monitor, and a sign-in provider belongs to no organization. */
export const hasStoredName = (action: string): boolean =>
  isRemoval(action) || /^(alert|identity-provider)\./.test(action);

/** SQL for the name of a subject that the audit row stores; `null` without a name. */
export function buildStoredNameSql(action: string, organizationId: string, id: string): string {
  if (action.startsWith("alert."))
    return `(select coalesce(data ->> '$.monitor.name', data ->> '$.incident.title',
        data ->> '$.channel.name', data ->> '$.report.title', 'the drill of ' || (data ->> '$.drill.name'),
        'the problem ' || subject_id)
      from alert_records s where s.organization_id = ${organizationId} and s.id = ${id})`;
  if (action.startsWith("identity-provider."))
    return `(select name from identity_providers where id = ${id})`;
  if (action === "contact-method.deleted")
    return `(select ${contactMethodName} from alert_channels c left join people p on p.id = c.person_id
      where c.organization_id = ${organizationId} and c.id = ${id})`;
  if (action === "person.removed") return `(select name from people where id = ${id})`;
  const subject = isRemoval(action)
    ? namedSubjects[action.slice(0, action.indexOf("."))]
    : undefined;
  if (subject === undefined) return "null";
  return `(select ${subject[1]} from ${getTableName(subject[0])} s
    where s.organization_id = ${organizationId} and s.id = ${id})`;
}
