/** Lists, creates, changes, orders and deletes monitors. */
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { runInSearchTurn } from "../../events/organization-turns.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createId } from "../../core/ids.ts";
import { deletedBody, buildPage } from "../../core/paging.ts";
import { mapListed } from "../../core/text/streamed-list.ts";
import { ungroupedError } from "../../database/group-limit.ts";
import {
  guardVersion,
  guardLimit,
  guardExists,
  unknownReferenceError,
} from "../../database/references.ts";
import {
  assertFound,
  guardFieldExists,
  buildFirstVersion,
  buildNextVersion,
} from "../../database/rows.ts";
import { buildResolvingStatements } from "../../incidents/by-monitor.ts";
import { guard, retryOnStaleRead, StaleRead, type Statement } from "../../database/store.ts";
import { alertChannels, escalationPolicies } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import {
  assignMonitors,
  listGroups,
  applyPauses,
  type GroupRecord,
  guardChannelLimit,
  touchGroup,
} from "../groups/store.ts";
import { replaceDependencies } from "../dependencies/service.ts";
import { applyMonitorPatch, assertCheckable, assertPauseEnd } from "./input-service.ts";
import { listMonitorPage } from "./list-store.ts";
import { buildColumns, type MonitorRecord, openMonitor, toMonitorRecord } from "./record.ts";
import { chooseChannels, mergeChannels } from "./rules.ts";
import {
  type MonitorOrder,
  type MonitorPatch,
  type MonitorQuery,
  type NewMonitor,
} from "./schema.ts";
import {
  changeMonitor,
  listDefaultChannelIds,
  findMonitor,
  insertMonitor,
  guardMonitorsSize,
  type MonitorRow,
  containsAllMonitors,
  removeMonitors,
  replaceMonitorChannels,
  type StoredMonitor,
  countStoredBytes,
  initialState,
} from "./store.ts";

export { applyMonitorPatch, assertCheckable } from "./input-service.ts";
export { monitorTables } from "./store.ts";

export async function listMonitors(scope: Scope, query: MonitorQuery) {
  const read = () => listMonitorPage(scope, query);
  const { monitors, total } = await (query.q === undefined ? read() : runInSearchTurn(scope, read));
  const { meta } = buildPage(query, [], total);
  return { data: mapListed(monitors, (monitor) => toMonitorRecord(scope, monitor)), meta };
}

/** Throws NOT_FOUND. */
export async function getMonitor(scope: Scope, id: string): Promise<MonitorRecord> {
  return toMonitorRecord(scope, await getStored(scope, id));
}

async function getStored(scope: Scope, id: string): Promise<StoredMonitor> {
  return assertFound(await findMonitor(scope, id), "monitor");
}

/**
 * Creates a monitor with the default channels and the channels of its group. Throws NOT_FOUND for an unknown group or
 * channel.
 */
export function createMonitor(
  scope: Scope,
  given: NewMonitor,
  guards: readonly Statement[] = [],
): Promise<MonitorRecord> {
  const { organizationId, limits } = scope;
  return retryOnStaleRead(async () => {
    await assertCheckable(scope, given);
    assertPauseEnd(scope, given);
    const now = scope.clock();
    const at = formatTimestamp(now);
    const id = createId(now);
    const group = await getGroupToJoin(scope, given.groupId);
    const input = choosePolicy(given, group);
    const alertChannelIds = chooseChannels(
      input.alertChannelIds,
      await listDefaultChannelIds(scope),
      group?.alertChannelIds ?? [],
      limits["alert-channels-of-a-monitor"],
    );
    const monitor: MonitorRow = {
      organizationId,
      id,
      ...buildColumns(scope, id, input),
      groupId: input.groupId,
      position: 0,
      ...buildFirstVersion(at),
    };
    const dependent = { table: "monitors", id, monitorIds: [id] } as const;
    const paused = monitor.paused || (group?.paused ?? false);
    const state = { ...initialState, since: at, paused };
    return commit(
      scope,
      [
        ...guards,
        ...guardChannels(scope, input.alertChannelIds, alertChannelIds),
        ...guardPolicy(scope, given.escalationPolicyId),
        ...insertMonitor(scope, monitor, at),
        guardLimit(scope, "monitors", monitors),
        guardMonitorsSize(organizationId),
        ...(group === null ? [] : buildMoveStatements(scope, monitor, group, at)),
        ...replaceMonitorChannels(scope, id, alertChannelIds),
        guardChannelLimit(scope, [id]),
        ...(await replaceDependencies(scope, dependent, input.dependsOn)),
        ...applyPauses(organizationId, at, [id]),
      ],
      { action: "monitor.created", subjectId: id },
      toMonitorRecord(scope, {
        monitor,
        state,
        alertChannelIds,
        dependsOn: input.dependsOn,
        screenshotAt: null,
        uptime24h: null,
      }),
    );
  });
}

/** Updates a monitor. Throws NOT_FOUND, PRECONDITION_FAILED, and VALIDATION_ERROR for an invalid result. */
export function updateMonitor(scope: Scope, id: string, patch: MonitorPatch) {
  return retryOnStaleRead(async () => {
    const stored = await getStored(scope, id);
    const before = stored.monitor;
    const patched = await applyMonitorPatch(scope, before, patch);
    const at = formatTimestamp(scope.clock());
    const moves = patched.groupId !== before.groupId;
    const group = moves ? await getGroupToJoin(scope, patched.groupId) : null;
    const input = choosePolicy(patched, group);
    const alertChannelIds = mergeChannels(
      patch.alertChannelIds ?? stored.alertChannelIds,
      group?.alertChannelIds ?? [],
    );
    const dependsOn = patch.dependsOn ?? stored.dependsOn;
    const dependent = { table: "monitors", id, monitorIds: [id] } as const;
    const monitor: MonitorRow = {
      ...before,
      ...buildColumns(scope, id, input, before),
      groupId: input.groupId,
      ...buildNextVersion(before, at),
    };
    const groupPaused = moves ? (group?.paused ?? false) : stored.groupPaused;
    const paused = monitor.paused || groupPaused;
    const state =
      paused === stored.state.paused
        ? stored.state
        : { ...stored.state, paused, status: "pending" as const, since: at };
    return commit(
      scope,
      [
        ...guardChannels(scope, patch.alertChannelIds ?? [], alertChannelIds),
        ...guardPolicy(scope, patch.escalationPolicyId ?? null),
        ...guardCurrent(scope, monitors, before),
        ...(moves ? buildMoveStatements(scope, before, group, at) : []),
        changeMonitor(scope, monitor),
        ...(countStoredBytes(monitor) > countStoredBytes(before)
          ? [guardMonitorsSize(scope.organizationId)]
          : []),
        ...replaceMonitorChannels(scope, id, alertChannelIds),
        ...(moves || patch.alertChannelIds ? [guardChannelLimit(scope, [id])] : []),
        ...(await replaceDependencies(scope, dependent, patch.dependsOn)),
        ...applyPauses(scope.organizationId, at, [id]),
      ],
      {
        action: "monitor.updated",
        subjectId: id,
        fields: [
          ...openMonitor(scope, before).listChanges({ ...input }),
          ...listChangedFields(stored, { alertChannelIds, dependsOn }, [
            "alertChannelIds",
            "dependsOn",
          ]),
        ],
      },
      toMonitorRecord(scope, { ...stored, monitor, state, alertChannelIds, dependsOn }),
    );
  });
}

/** Returns a monitor after a patch, including secrets, without storing it. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function previewMonitorPatch(scope: Scope, id: string, patch: MonitorPatch) {
  const { monitor } = await getStored(scope, id);
  return applyMonitorPatch(scope, monitor, patch);
}

/** Reads the group to join; null for the ungrouped list. Throws NOT_FOUND, and FORBIDDEN for a limited caller. */
async function getGroupToJoin(scope: Scope, groupId: string | null): Promise<GroupRecord | null> {
  if (groupId === null) {
    if (scope.groupIds !== null) throw ungroupedError("groupId");
    return null;
  }
  const [group] = await listGroups(scope, groupId);
  if (group === undefined) throw unknownReferenceError("groupId", "monitor group");
  return group;
}

/** Adds the escalation policy of the group that a monitor joins, if the monitor has none. */
const choosePolicy = (input: NewMonitor, group: GroupRecord | null): NewMonitor => ({
  ...input,
  escalationPolicyId: input.escalationPolicyId ?? group?.escalationPolicyId ?? null,
});

const guardPolicy = (scope: Scope, id: string | null) =>
  guardFieldExists(scope, "escalationPolicyId", escalationPolicies, id === null ? [] : [id]);

/** Moves a monitor to the end of the group, or of the ungrouped list for null. */
function buildMoveStatements(
  scope: Scope,
  { id }: MonitorRow,
  group: GroupRecord | null,
  at: string,
) {
  const joined =
    group === null
      ? []
      : [guardVersion(monitorGroups, scope.organizationId, group), touchGroup(scope, group.id, at)];
  return [...joined, ...assignMonitors(scope, group?.id ?? null, [id], "end", at)];
}

/**
 * Requires all channels to exist. A missing `given` channel is the caller's error; a missing other one causes a retry.
 */
function guardChannels(scope: Scope, givenIds: readonly string[], all: readonly string[]) {
  return [
    ...guardFieldExists(scope, "alertChannelIds", alertChannels, givenIds),
    ...guardExists(alertChannels, scope.organizationId, all, () => new StaleRead()),
  ];
}

/**
 * Deletes a monitor. It can be restored with its results. Its incidents stay. Incidents that it opened automatically are resolved.
 * Throws NOT_FOUND, PRECONDITION_FAILED.
 */
export function deleteMonitor(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () => {
    const { monitor } = await getStored(scope, id);
    const at = formatTimestamp(scope.clock());
    return commit(
      scope,
      [
        ...guardCurrent(scope, monitors, monitor),
        ...(await buildResolvingStatements(scope, [id])),
        ...removeMonitors(scope, [id], at),
      ],
      { action: "monitor.deleted", subjectId: id },
      { ...deletedBody, title: monitor.name },
    );
  });
}

/**
 * Sets the order of a group's monitors, or of the ungrouped list. Monitors of other groups join. Throws NOT_FOUND for an
 * unknown ID, CONFLICT if the list omits a monitor, PRECONDITION_FAILED.
 */
export function orderMonitors(scope: Scope, { groupId, monitorIds }: MonitorOrder) {
  const { organizationId } = scope;
  return retryOnStaleRead(async () => {
    const group = await getGroupToJoin(scope, groupId);
    const at = formatTimestamp(scope.clock());
    return commit(
      scope,
      [
        ...guardFieldExists(scope, "monitorIds", monitors, monitorIds),
        ...(group === null
          ? []
          : [...guardCurrent(scope, monitorGroups, group), touchGroup(scope, group.id, at)]),
        guard(
          containsAllMonitors(organizationId, groupId, monitorIds),
          () => new AppError("CONFLICT", "The order leaves monitors out. Read them again."),
        ),
        ...assignMonitors(scope, groupId, monitorIds, 0, at),
        ...applyPauses(organizationId, at, monitorIds),
      ],
      groupId === null
        ? { action: "group.reordered", subjectId: organizationId, fields: ["monitorIds"] }
        : { action: "group.updated", subjectId: groupId, fields: ["monitorIds"] },
      { groupId, monitorIds },
    );
  });
}
