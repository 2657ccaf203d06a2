import { alertSources } from "../database/tables/alert-sources.ts";
import { alertChannels, escalationPolicies } from "../database/tables/alerting.ts";
import { incidents } from "../database/tables/incidents.ts";
import { maintenanceWindows, monitorGroups, monitors } from "../database/tables/monitoring.ts";
import { schedules } from "../database/tables/schedules.ts";
import { statusPages } from "../database/tables/status-pages.ts";
import { guardSourceLimit } from "../alerting/sources/service.ts";
import { channelMaker, groupMaker, monitorMaker } from "./monitor-makers.ts";
import { incidentMaker, maintenanceWindowMaker, statusPageMaker } from "./page-makers.ts";
import type { RecordMaker } from "./maker.ts";
import { guardLimit } from "../database/references.ts";
import type { Statement } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import { guardCurrentWindowLimit, guardWindowLimit } from "../monitoring/maintenance/service.ts";
import { guardMonitorsSize } from "../monitoring/monitors/store.ts";
import type { Noun } from "./rules.ts";

export const makers: Record<Noun, RecordMaker> = {
  "alert-channel": channelMaker,
  group: groupMaker,
  monitor: monitorMaker,
  "maintenance-window": maintenanceWindowMaker,
  "status-page": statusPageMaker,
  incident: incidentMaker,
};

/** Table of each kind of record, and its name in the audit log. */
export const tableOf = {
  "alert-channel": { table: alertChannels, action: "alert-channel" },
  "alert-source": { table: alertSources, action: "alert-source" },
  "escalation-policy": { table: escalationPolicies, action: "escalation-policy" },
  schedule: { table: schedules, action: "schedule" },
  group: { table: monitorGroups, action: "group" },
  monitor: { table: monitors, action: "monitor" },
  "maintenance-window": { table: maintenanceWindows, action: "maintenance" },
  "status-page": { table: statusPages, action: "status-page" },
  incident: { table: incidents, action: null },
} as const;

/** Returns guards that the organization stays within its limits. */
export const guardLimits = (scope: Scope, at: string): Statement[] => [
  guardLimit(scope, "monitors", monitors),
  guardMonitorsSize(scope.organizationId),
  guardLimit(scope, "monitor-groups", monitorGroups),
  guardLimit(scope, "alert-channels", alertChannels, "person_id is null"),
  guardSourceLimit(scope),
  guardLimit(scope, "escalation-policies", escalationPolicies),
  guardLimit(scope, "schedules", schedules),
  guardLimit(scope, "status-pages", statusPages),
  guardCurrentWindowLimit(scope, at),
  guardWindowLimit(scope),
];
