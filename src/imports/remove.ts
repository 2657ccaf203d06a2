import { removeChannel } from "../alerting/channels/service.ts";
import { removePolicy } from "../alerting/policies/store.ts";
import { buildSourceRemoval } from "../alerting/sources/service.ts";
import { removeRecords } from "../database/deleted-records.ts";
import { findTargetUses, guardNoTarget } from "../database/escalation-uses.ts";
import { removeRow } from "../database/rows.ts";
import type { Statement } from "../database/store.ts";
import { schedules } from "../database/tables/schedules.ts";
import { buildAuditRows, buildEvents } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import { buildResolvingStatements } from "../incidents/by-monitor.ts";
import { removeGroup } from "../monitoring/groups/store.ts";
import { removeMonitors } from "../monitoring/monitors/store.ts";
import { tableOf } from "./records.ts";
import { type RemovableNoun, removableNouns } from "./rules.ts";

/**
 * Removes these records and their dependent rows. For monitors, the caller adds audit entries and events with
 * `commitEach`, and runs `applyPauses` afterwards.
 */
export async function buildRemovalStatements(
  scope: Scope,
  given: { readonly [N in RemovableNoun]?: readonly string[] },
  at: string,
): Promise<Statement[]> {
  const all = Object.fromEntries(
    removableNouns.map((noun) => [noun, given[noun] ?? []]),
  ) as unknown as Record<RemovableNoun, readonly string[]>;
  const changes = removableNouns
    .filter((noun) => noun !== "monitor" && all[noun].length > 0)
    .map((noun) => {
      const action = `${tableOf[noun].action ?? "incident"}.deleted` as const;
      return { action, subjectIds: all[noun] };
    });
  const channelUses = await findTargetUses(scope, "channel", all["alert-channel"]);
  const scheduleUses = await findTargetUses(scope, "schedule", all.schedule);
  return [
    ...changes.flatMap((one) => buildAuditRows(scope, one, at)),
    ...removeRecords(scope, "incident", all.incident, at),
    ...removeRecords(scope, "status-page", all["status-page"], at),
    ...removeRecords(scope, "maintenance", all["maintenance-window"], at),
    ...(await buildResolvingStatements(scope, all.monitor)),
    ...removeMonitors(scope, all.monitor, at),
    ...all.group.flatMap((one) => removeGroup(scope, one, at)),
    ...(all["alert-source"].length === 0
      ? []
      : await buildSourceRemoval(scope, all["alert-source"], at)),
    ...all["escalation-policy"].map((one) => removePolicy(scope, one)),
    guardNoTarget(scope, "schedule", all.schedule, scheduleUses),
    ...all.schedule.map((one) => removeRow(scope, schedules, one)),
    guardNoTarget(scope, "channel", all["alert-channel"], channelUses),
    ...all["alert-channel"].flatMap((one) => removeChannel(scope, one, at)),
    ...changes.flatMap((one) => buildEvents(scope, one, at)),
  ];
}
