import { alertChannels } from "../database/tables/alerting.ts";
import { incidents } from "../database/tables/incidents.ts";
import { maintenanceWindows, monitorGroups, monitors } from "../database/tables/monitoring.ts";
import { statusPages } from "../database/tables/status-pages.ts";
import { channel, group, monitor } from "./make-monitors.ts";
import { incident, maintenanceWindow, statusPage } from "./make-pages.ts";
import type { Maker } from "./maker.ts";
import { mustBeWithin } from "../database/references.ts";
import type { Statement } from "../database/store.ts";
import type { Scope } from "../events/scope.ts";
import { mustBeFew, mustHaveRoomForWindow } from "../monitoring/maintenance/service.ts";
import { mustFitMonitors } from "../monitoring/monitors/store.ts";
import type { Noun } from "./rules.ts";

export const makers: Record<Noun, Maker> = {
  "alert-channel": channel,
  group,
  monitor,
  "maintenance-window": maintenanceWindow,
  "status-page": statusPage,
  incident,
};

/** Table of each kind of record, and its name in the audit log. */
export const tableOf = {
  "alert-channel": { table: alertChannels, action: "alert-channel" },
  group: { table: monitorGroups, action: "group" },
  monitor: { table: monitors, action: "monitor" },
  "maintenance-window": { table: maintenanceWindows, action: "maintenance" },
  "status-page": { table: statusPages, action: "status-page" },
  incident: { table: incidents, action: null },
} as const;

/** Returns guards that the organization stays within its limits. */
export const mustFit = (scope: Scope, at: string): Statement[] => [
  mustBeWithin(scope, "monitors", monitors),
  mustFitMonitors(scope.organizationId),
  mustBeWithin(scope, "monitor-groups", monitorGroups),
  mustBeWithin(scope, "alert-channels", alertChannels),
  mustBeWithin(scope, "status-pages", statusPages),
  mustBeFew(scope, at),
  mustHaveRoomForWindow(scope),
];
