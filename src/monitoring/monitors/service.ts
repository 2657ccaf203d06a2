import { commit, mustBeCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { timestamp } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { merged, mustNotFollow } from "../../core/kind-secrets.ts";
import { deleted, page } from "../../core/paging.ts";
import { pingCommand } from "../../core/ping-command.ts";
import { mustBeAllowed } from "../../core/target-guard.ts";
import { invalid, parse } from "../../core/validation.ts";
import {
  mustBeUnchanged,
  mustBeWithin,
  mustExist,
  unknownReference,
} from "../../database/references.ts";
import { resolvingStatements } from "../../incidents/by-monitor.ts";
import { retrying, StaleRead } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { followPauses } from "../groups/pauses.ts";
import {
  findGroups,
  type GroupRecord,
  mustHaveFewChannels,
  assignMonitors,
  touchGroup,
} from "../groups/store.ts";
import { columnsOf, editable, shown, type MonitorRecord } from "./record.ts";
import { channelsOfNew, channelsTogether, targetsOf } from "./rules.ts";
import { monitorKinds, type MonitorPatch, type MonitorQuery, NewMonitor } from "./schema.ts";
import {
  changeMonitor,
  findMonitor,
  insertMonitor,
  type MonitorRow,
  pageOfMonitors,
  removeMonitors,
  defaultChannelIds,
  replaceMonitorChannels,
  type StoredMonitor,
  unchecked,
} from "./store.ts";

export async function listMonitors(scope: Scope, query: MonitorQuery) {
  const { monitors, total } = await pageOfMonitors(scope, query);
  return page(
    query,
    monitors.map((monitor) => shown(scope, monitor)),
    total,
  );
}

/** Throws NOT_FOUND. */
export async function getMonitor(scope: Scope, id: string): Promise<MonitorRecord> {
  return shown(scope, await getStored(scope, id));
}

async function getStored(scope: Scope, id: string): Promise<StoredMonitor> {
  const stored = await findMonitor(scope, id);
  if (stored === null) throw new AppError("NOT_FOUND", "There is no such monitor.");
  return stored;
}

/** Makes a monitor with the default channels and its group's. Throws NOT_FOUND for an unknown group or channel. */
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
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    const paused = monitor.paused || (group?.paused ?? false);
    const state = { ...unchecked, since: at, paused };
    return commit(
      scope,
      [
        ...mustKnow(scope, input.alertChannelIds, alertChannelIds),
        ...insertMonitor(scope, monitor, at),
        mustBeWithin(scope, "monitors", monitors),
        ...(group === null ? [] : move(scope, monitor, group, at)),
        ...replaceMonitorChannels(scope, id, alertChannelIds),
        mustHaveFewChannels(scope, [id]),
        ...followPauses(organizationId, at, [id]),
      ],
      { action: "monitor.created", subjectId: id },
      shown(scope, { monitor, state, alertChannelIds, uptime24h: null }),
    );
  });
}

/** Throws NOT_FOUND, PRECONDITION_FAILED, and VALIDATION_ERROR for what the monitor's type does not take. */
export function updateMonitor(scope: Scope, id: string, patch: MonitorPatch) {
  return retrying(async () => {
    const stored = await getStored(scope, id);
    const before = stored.monitor;
    const input = await changed(scope, before, patch);
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
      version: before.version + 1,
      updatedAt: at,
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
        ...mustBeCurrent(scope, monitors, before),
        ...(moves ? move(scope, before, group, at) : []),
        changeMonitor(scope, monitor),
        ...replaceMonitorChannels(scope, id, alertChannelIds),
        ...(moves || patch.alertChannelIds ? [mustHaveFewChannels(scope, [id])] : []),
        ...followPauses(scope.organizationId, at, [id]),
      ],
      { action: "monitor.updated", subjectId: id, fields: Object.keys(patch) },
      shown(scope, { ...stored, monitor, state, alertChannelIds }),
    );
  });
}

/** The whole of a monitor as a patch would leave it, secrets included. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function monitorAfter(scope: Scope, id: string, patch: MonitorPatch) {
  const { monitor } = await getStored(scope, id);
  return changed(scope, monitor, patch);
}

async function changed(scope: Scope, before: MonitorRow, patch: MonitorPatch): Promise<NewMonitor> {
  if (patch.type !== undefined && patch.type !== before.type)
    throw invalid("type", "is fixed when the monitor is created");
  const current = editable(scope, before);
  const input = parse(NewMonitor, merged(monitorKinds, before.type, current, patch));
  mustNotFollow(monitorKinds, before.type, current, patch);
  await mustBeAllowed(
    scope.targets,
    targetsOf(input),
    targetsOf({ ...current, type: before.type }),
  );
  return input;
}

/** Throws VALIDATION_ERROR for what must not or can't be checked from here. */
export async function mustBeCheckable({ targets }: Scope, input: NewMonitor) {
  await mustBeAllowed(targets, targetsOf(input));
  if (input.type === "ping" && pingCommand() === null)
    throw invalid(
      "type",
      "needs the ping command of this machine, which is missing (Debian, Ubuntu: apt-get install iputils-ping)",
    );
}

/** Throws NOT_FOUND. */
export async function groupToJoin(
  scope: Scope,
  groupId: string | null,
): Promise<GroupRecord | null> {
  if (groupId === null) return null;
  const [group] = await findGroups(scope, groupId);
  if (group === undefined) throw unknownReference("groupId", "monitor group");
  return group;
}

/** To the end of the group, or of the ungrouped list for null. */
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

/** All these channels must exist; of them, the caller named `given`. */
function mustKnow({ organizationId }: Scope, given: readonly string[], all: readonly string[]) {
  const unknown = () => unknownReference("alertChannelIds", "alert channel");
  return [
    ...mustExist(alertChannels, organizationId, given, unknown),
    ...mustExist(alertChannels, organizationId, all, () => new StaleRead()),
  ];
}

/** Removes a monitor with its results; its incidents stay, and what it opened is resolved. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteMonitor(scope: Scope, id: string): Promise<typeof deleted> {
  return retrying(async () => {
    const { monitor } = await getStored(scope, id);
    const at = timestamp(scope.clock());
    return commit(
      scope,
      [
        ...mustBeCurrent(scope, monitors, monitor),
        ...(await resolvingStatements(scope, [id])),
        ...removeMonitors(scope.organizationId, [id], at),
      ],
      { action: "monitor.deleted", subjectId: id },
      deleted,
    );
  });
}
