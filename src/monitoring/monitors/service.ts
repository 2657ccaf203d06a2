/** Lists, creates, changes, orders and deletes monitors. */
import { commit, commitEach, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { inSearchTurn } from "../../events/turns.ts";
import { timestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { deleted, page } from "../../core/paging.ts";
import { mapListed } from "../../core/text/streamed-list.ts";
import { invalid } from "../../core/validation.ts";
import {
  mustBeUnchanged,
  mustBeWithin,
  mustExist,
  unknownReference,
} from "../../database/references.ts";
import { found, mustName, firstVersion, nextVersion } from "../../database/rows.ts";
import { resolvingStatements } from "../../incidents/by-monitor.ts";
import { inPortions, must, retrying, StaleRead, type Statement } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import {
  assignMonitors,
  listGroups,
  followPauses,
  type GroupRecord,
  mustHaveFewChannels,
  touchGroup,
} from "../groups/store.ts";
import { changedMonitor, mustBeCheckable } from "./input-service.ts";
import { pageOfMonitors } from "./list-store.ts";
import { columnsOf, type MonitorRecord, shown } from "./record.ts";
import { channelsOfNew, channelsTogether } from "./rules.ts";
import {
  type ChangeOfMany,
  type ManyMonitors,
  type MonitorOrder,
  type MonitorPatch,
  type MonitorQuery,
  type NewMonitor,
} from "./schema.ts";
import {
  attachChannels,
  changeMonitor,
  changeMonitors,
  defaultChannelIds,
  detachChannels,
  findMonitor,
  fitsTags,
  insertMonitor,
  mustFitMonitors,
  type MonitorRow,
  namesAllOf,
  removeMonitors,
  replaceMonitorChannels,
  type StoredMonitor,
  storedBytes,
  unchecked,
} from "./store.ts";

export { changedMonitor, mustBeCheckable } from "./input-service.ts";
export { tablesOfMonitors } from "./store.ts";

export async function listMonitors(scope: Scope, query: MonitorQuery) {
  const read = () => pageOfMonitors(scope, query);
  const { monitors, total } = await (query.q === undefined ? read() : inSearchTurn(scope, read));
  const { meta } = page(query, [], total);
  return { data: mapListed(monitors, (monitor) => shown(scope, monitor)), meta };
}

/** Throws NOT_FOUND. */
export async function getMonitor(scope: Scope, id: string): Promise<MonitorRecord> {
  return shown(scope, await getStored(scope, id));
}

async function getStored(scope: Scope, id: string): Promise<StoredMonitor> {
  return found(await findMonitor(scope, id), "monitor");
}

/**
 * Creates a monitor with the default channels and the channels of its group. Throws NOT_FOUND for an unknown group or
 * channel.
 */
export function createMonitor(scope: Scope, input: NewMonitor): Promise<MonitorRecord> {
  const { organizationId, limits } = scope;
  return retrying(async () => {
    await mustBeCheckable(scope, input);
    const now = scope.clock();
    const at = timestamp(now);
    const id = newId(now);
    const group = await groupToJoin(scope, input.groupId);
    const alertChannelIds = channelsOfNew(
      input.alertChannelIds,
      await defaultChannelIds(scope),
      group?.alertChannelIds ?? [],
      limits["alert-channels-of-a-monitor"],
    );
    const monitor: MonitorRow = {
      organizationId,
      id,
      ...columnsOf(scope, id, input),
      groupId: input.groupId,
      position: 0,
      ...firstVersion(at),
    };
    const paused = monitor.paused || (group?.paused ?? false);
    const state = { ...unchecked, since: at, paused };
    return commit(
      scope,
      [
        ...mustKnow(scope, input.alertChannelIds, alertChannelIds),
        ...insertMonitor(scope, monitor, at),
        mustBeWithin(scope, "monitors", monitors),
        mustFitMonitors(organizationId),
        ...(group === null ? [] : move(scope, monitor, group, at)),
        ...replaceMonitorChannels(scope, id, alertChannelIds),
        mustHaveFewChannels(scope, [id]),
        ...followPauses(organizationId, at, [id]),
      ],
      { action: "monitor.created", subjectId: id },
      shown(scope, { monitor, state, alertChannelIds, screenshotAt: null, uptime24h: null }),
    );
  });
}

/** Updates a monitor. Throws NOT_FOUND, PRECONDITION_FAILED, and VALIDATION_ERROR for an invalid result. */
export function updateMonitor(scope: Scope, id: string, patch: MonitorPatch) {
  return retrying(async () => {
    const stored = await getStored(scope, id);
    const before = stored.monitor;
    const input = await changedMonitor(scope, before, patch);
    const at = timestamp(scope.clock());
    const moves = input.groupId !== before.groupId;
    const group = moves ? await groupToJoin(scope, input.groupId) : null;
    const alertChannelIds = channelsTogether(
      patch.alertChannelIds ?? stored.alertChannelIds,
      group?.alertChannelIds ?? [],
    );
    const monitor: MonitorRow = {
      ...before,
      ...columnsOf(scope, id, input, before),
      groupId: input.groupId,
      ...nextVersion(before, at),
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
        ...mustKnow(scope, patch.alertChannelIds ?? [], alertChannelIds),
        ...guardCurrent(scope, monitors, before),
        ...(moves ? move(scope, before, group, at) : []),
        changeMonitor(scope, monitor),
        ...(storedBytes(monitor) > storedBytes(before)
          ? [mustFitMonitors(scope.organizationId)]
          : []),
        ...replaceMonitorChannels(scope, id, alertChannelIds),
        ...(moves || patch.alertChannelIds ? [mustHaveFewChannels(scope, [id])] : []),
        ...followPauses(scope.organizationId, at, [id]),
      ],
      { action: "monitor.updated", subjectId: id, fields: Object.keys(patch) },
      shown(scope, { ...stored, monitor, state, alertChannelIds }),
    );
  });
}

/** Returns a monitor after a patch, including secrets, without storing it. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function monitorAfter(scope: Scope, id: string, patch: MonitorPatch) {
  const { monitor } = await getStored(scope, id);
  return changedMonitor(scope, monitor, patch);
}

/** Reads the group to join; null for the ungrouped list. Throws NOT_FOUND. */
async function groupToJoin(scope: Scope, groupId: string | null): Promise<GroupRecord | null> {
  if (groupId === null) return null;
  const [group] = await listGroups(scope, groupId);
  if (group === undefined) throw unknownReference("groupId", "monitor group");
  return group;
}

/** Moves a monitor to the end of the group, or of the ungrouped list for null. */
function move(scope: Scope, { id }: MonitorRow, group: GroupRecord | null, at: string) {
  const joined =
    group === null
      ? []
      : [
          mustBeUnchanged(monitorGroups, scope.organizationId, group),
          touchGroup(scope, group.id, at),
        ];
  return [...joined, ...assignMonitors(scope, group?.id ?? null, [id], "end", at)];
}

/**
 * Requires all channels to exist. A missing `given` channel is the caller's error; a missing other one causes a retry.
 */
function mustKnow(scope: Scope, given: readonly string[], all: readonly string[]) {
  return [
    ...mustName(scope, "alertChannelIds", alertChannels, given),
    ...mustExist(alertChannels, scope.organizationId, all, () => new StaleRead()),
  ];
}

/**
 * Deletes a monitor with its results. Its incidents stay. Incidents that it opened automatically are resolved.
 * Throws NOT_FOUND, PRECONDITION_FAILED.
 */
export function deleteMonitor(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const { monitor } = await getStored(scope, id);
    const at = timestamp(scope.clock());
    return commit(
      scope,
      [
        ...guardCurrent(scope, monitors, monitor),
        ...(await resolvingStatements(scope, [id])),
        ...removeMonitors(scope.organizationId, [id], at),
      ],
      { action: "monitor.deleted", subjectId: id },
      deleted,
    );
  });
}

/**
 * Sets the order of a group's monitors, or of the ungrouped list. Monitors of other groups join. Throws NOT_FOUND for an
 * unknown ID, CONFLICT if the list omits a monitor, PRECONDITION_FAILED.
 */
export function orderMonitors(scope: Scope, { groupId, monitorIds }: MonitorOrder) {
  const { organizationId } = scope;
  return retrying(async () => {
    const group = await groupToJoin(scope, groupId);
    const at = timestamp(scope.clock());
    return commit(
      scope,
      [
        ...mustName(scope, "monitorIds", monitors, monitorIds),
        ...(group === null
          ? []
          : [...guardCurrent(scope, monitorGroups, group), touchGroup(scope, group.id, at)]),
        must(
          namesAllOf(organizationId, groupId, monitorIds),
          () => new AppError("CONFLICT", "The order leaves monitors out. Read them again."),
        ),
        ...assignMonitors(scope, groupId, monitorIds, 0, at),
        ...followPauses(organizationId, at, monitorIds),
      ],
      groupId === null
        ? { action: "group.reordered", subjectId: organizationId, fields: ["monitorIds"] }
        : { action: "group.updated", subjectId: groupId, fields: ["monitorIds"] },
      { groupId, monitorIds },
    );
  });
}

/**
 * Changes or deletes many monitors in one atomic write. Throws NOT_FOUND for an unknown ID, VALIDATION_ERROR for too many
 * tags.
 */
export function changeMany(scope: Scope, { monitorIds, change }: ManyMonitors) {
  const { organizationId } = scope;
  return retrying(async () => {
    const at = timestamp(scope.clock());
    return commitEach(
      scope,
      [
        ...mustName(scope, "monitorIds", monitors, monitorIds),
        ...(change === undefined
          ? [
              ...(await resolvingStatements(scope, monitorIds)),
              ...removeMonitors(organizationId, monitorIds, at),
            ]
          : changing(scope, monitorIds, change, at)),
      ],
      {
        action: change === undefined ? "monitor.deleted" : "monitor.updated",
        subjectIds: monitorIds,
        ...(change && { fields: Object.keys(change) }),
      },
      { changed: monitorIds.length },
    );
  });
}

/**
 * Returns the statements of a bulk change. The group is last, so that the change does not detach the channels of the new
 * group.
 */
function changing(scope: Scope, ids: readonly string[], change: ChangeOfMany, at: string) {
  const { organizationId } = scope;
  const { paused, muted, groupId, addTags, removeTags } = change;
  const { addAlertChannelIds, removeAlertChannelIds } = change;
  const tags =
    (addTags ?? removeTags) ? { remove: removeTags ?? [], add: addTags ?? [] } : undefined;
  const statements: Statement[] = [];
  const alike = (make: (some: readonly string[]) => Statement[]) =>
    void statements.push(...inPortions(ids, make));
  if (tags !== undefined)
    alike((some) => [
      must(fitsTags(organizationId, some, tags.remove, tags.add), () =>
        invalid("change.addTags", "would give a monitor more than 10 tags"),
      ),
    ]);
  alike((some) => [changeMonitors(organizationId, some, { paused, muted, tags }, at)]);
  if (removeAlertChannelIds !== undefined)
    alike((some) => [detachChannels(organizationId, some, removeAlertChannelIds)]);
  if (addAlertChannelIds !== undefined) {
    statements.push(
      ...mustName(scope, "change.addAlertChannelIds", alertChannels, addAlertChannelIds),
    );
    alike((some) => [
      attachChannels(organizationId, some, addAlertChannelIds),
      mustHaveFewChannels(scope, some),
    ]);
  }
  if (groupId !== undefined) {
    if (groupId !== null)
      statements.push(
        ...mustName(scope, "change.groupId", monitorGroups, [groupId]),
        touchGroup(scope, groupId, at),
      );
    statements.push(...assignMonitors(scope, groupId, ids, "end", at));
  }
  if (groupId !== undefined || paused !== undefined)
    statements.push(...followPauses(organizationId, at, ids));
  return statements;
}
