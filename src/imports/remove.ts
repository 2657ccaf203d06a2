import { removeChannel } from "../alerting/channels/service.ts";
import { removeRow } from "../database/rows.ts";
import type { Statement } from "../database/store.ts";
import { incidents } from "../database/tables/incidents.ts";
import { maintenanceWindows, monitorGroups } from "../database/tables/monitoring.ts";
import { statusPages } from "../database/tables/status-pages.ts";
import { buildAuditRows, buildEvents } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { buildResolvingStatements } from "../incidents/by-monitor.ts";
import { leaveGroup } from "../monitoring/groups/store.ts";
import { removeMonitors } from "../monitoring/monitors/store.ts";
import { tableOf } from "./records.ts";
import { type Noun, nouns } from "./rules.ts";

/**
 * Removes these records and their dependent rows. For monitors, the caller adds audit entries and events with
 * `commitEach`, and runs `applyPauses` afterwards.
 */
export async function buildRemovalStatements(
  scope: Scope,
  all: Readonly<Record<Noun, readonly string[]>>,
  at: string,
): Promise<Statement[]> {
  const { organizationId } = scope;
  const changes = nouns
    .filter((noun) => noun !== "monitor" && all[noun].length > 0)
    .map((noun) => {
      const action = `${tableOf[noun].action ?? "incident"}.deleted` as const;
      return { action, subjectIds: all[noun] };
    });
  return [
    ...changes.flatMap((one) => buildAuditRows(scope, one, at)),
    ...all.incident.map((one) => removeRow(scope, incidents, one)),
    ...all["status-page"].map((one) => removeRow(scope, statusPages, one)),
    ...all["maintenance-window"].map((one) => removeRow(scope, maintenanceWindows, one)),
    ...(await buildResolvingStatements(scope, all.monitor)),
    ...removeMonitors(organizationId, all.monitor, at),
    ...all.group.flatMap((one) => [
      leaveGroup(organizationId, one, [], at),
      removeRow(scope, monitorGroups, one),
    ]),
    ...all["alert-channel"].flatMap((one) => removeChannel(scope, one, at)),
    ...changes.flatMap((one) => buildEvents(scope, one, at)),
  ];
}
