import { commit, mustBeCurrent } from "../audit/commit.ts";
import type { Scope } from "../audit/scope.ts";
import { timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { mustExist, unknownReference } from "../database/references.ts";
import { retrying, type Statement } from "../database/store.ts";
import { alertChannels, monitorGroups, monitors } from "../database/tables.ts";
import type { MonitorGroupPatch, NewMonitorGroup } from "./schema.ts";
import {
  changeGroup,
  findGroups,
  type GroupRecord,
  insertGroup,
  joinGroup,
  leaveGroup,
  removeGroup,
  replaceChannels,
} from "./store.ts";

/** Every group in dashboard order. */
export function listGroups(scope: Scope): Promise<GroupRecord[]> {
  return findGroups(scope.store, scope.organizationId);
}

/** Throws NOT_FOUND. */
export async function getGroup(scope: Scope, id: string): Promise<GroupRecord> {
  const [group] = await findGroups(scope.store, scope.organizationId, id);
  if (group === undefined) throw new AppError("NOT_FOUND", "There is no such monitor group.");
  return group;
}

/** Makes a group at the end of the dashboard order. Throws NOT_FOUND, and makes none, for an unknown monitor or channel. */
export function createGroup(scope: Scope, input: NewMonitorGroup): Promise<GroupRecord> {
  const { store, organizationId } = scope;
  const now = scope.clock();
  const at = timestamp(now);
  const group: GroupRecord = {
    ...input,
    id: newId(now),
    paused: false,
    muted: false,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  return commit(
    scope,
    [
      ...mustKnow(scope, input),
      insertGroup(store, organizationId, group),
      ...replaceChannels(store, organizationId, group.id, group.alertChannelIds),
      ...joinGroup(organizationId, group.id, group.monitorIds, 0, at),
    ],
    { action: "group.created", subjectId: group.id },
    group,
  );
}

/** Throws NOT_FOUND, also for an unknown monitor or channel, and PRECONDITION_FAILED; nothing is changed then. */
export function updateGroup(
  scope: Scope,
  id: string,
  patch: MonitorGroupPatch,
): Promise<GroupRecord> {
  const { store, organizationId } = scope;
  return retrying(async () => {
    const before = await getGroup(scope, id);
    const at = timestamp(scope.clock());
    const after = {
      ...before,
      ...(patch as Partial<GroupRecord>),
      version: before.version + 1,
      updatedAt: at,
    };
    const { alertChannelIds, monitorIds } = patch;
    return commit(
      scope,
      [
        ...mustKnow(scope, patch),
        ...mustBeCurrent(scope, monitorGroups, before),
        changeGroup(store, organizationId, after),
        ...(alertChannelIds ? replaceChannels(store, organizationId, id, alertChannelIds) : []),
        ...(monitorIds
          ? [
              leaveGroup(organizationId, id, monitorIds, at),
              ...joinGroup(organizationId, id, monitorIds, 0, at),
            ]
          : []),
      ],
      { action: "group.updated", subjectId: id, fields: Object.keys(patch) },
      after,
    );
  });
}

function mustKnow(
  { organizationId }: Scope,
  { alertChannelIds, monitorIds }: MonitorGroupPatch,
): Statement[] {
  const monitor = () => unknownReference("monitorIds", "monitor");
  const channel = () => unknownReference("alertChannelIds", "alert channel");
  return [
    ...mustExist(monitors, organizationId, monitorIds ?? [], monitor),
    ...mustExist(alertChannels, organizationId, alertChannelIds ?? [], channel),
  ];
}

/** Removes the group alone; its monitors return to the ungrouped list. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteGroup(scope: Scope, id: string): Promise<object> {
  const { store, organizationId } = scope;
  return retrying(async () => {
    const group = await getGroup(scope, id);
    return commit(
      scope,
      [
        ...mustBeCurrent(scope, monitorGroups, group),
        leaveGroup(organizationId, id, [], timestamp(scope.clock())),
        removeGroup(store, organizationId, id),
      ],
      { action: "group.deleted", subjectId: id },
      {},
    );
  });
}
