/** Creates, changes, deletes and reorders monitor groups. */
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { deletedBody } from "../../core/paging.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createId } from "../../core/ids.ts";
import { guardLimit } from "../../database/references.ts";
import {
  assertFound,
  guardFieldExists,
  buildFirstVersion,
  buildNextVersion,
} from "../../database/rows.ts";
import { guard, retryOnStaleRead } from "../../database/store.ts";
import { alertChannels, escalationPolicies } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { replaceDependencies } from "../dependencies/service.ts";
import {
  assignMonitors,
  changeGroup,
  replaceGroupChannels,
  listGroups,
  applyPauses,
  type GroupRecord,
  insertGroup,
  leaveGroup,
  removeGroup,
  containsEveryGroup,
  replaceOrder,
} from "./store.ts";
import { invalidFieldError } from "../../core/validation.ts";
import {
  type GroupOrder,
  type MonitorGroupPatch,
  type NewMonitorGroup,
  setInAdminPage,
} from "./schema.ts";

export { listGroups };

/** Throws NOT_FOUND. */
export async function getGroup(scope: Scope, id: string): Promise<GroupRecord> {
  const [group] = await listGroups(scope, id);
  return assertFound(group, "monitor group");
}

/**
 * Creates a group at the end of the dashboard order. Throws NOT_FOUND for an unknown monitor or channel, without
 * creating the group.
 */
export async function createGroup(scope: Scope, input: NewMonitorGroup): Promise<GroupRecord> {
  const { organizationId } = scope;
  const now = scope.clock();
  const at = formatTimestamp(now);
  const group: GroupRecord = {
    ...input,
    id: createId(now),
    paused: false,
    muted: false,
    ...buildFirstVersion(at),
  };
  const dependencies = await replaceDependencies(
    scope,
    { table: "groups", id: group.id, monitorIds: input.monitorIds },
    input.dependsOn,
  );
  return commit(
    scope,
    [
      ...guardReferences(scope, input),
      insertGroup(scope, group),
      guardLimit(scope, "monitor-groups", monitorGroups),
      ...replaceGroupChannels(scope, group.id, group.alertChannelIds),
      ...dependencies,
      ...assignMonitors(scope, group.id, group.monitorIds, 0, at),
      ...applyPauses(organizationId, at, group.monitorIds),
    ],
    { action: "group.created", subjectId: group.id },
    group,
  );
}

/**
 * Updates a group. Throws NOT_FOUND, also for an unknown monitor or channel, PRECONDITION_FAILED, and
 * VALIDATION_ERROR for a change of `paused` or `muted`.
 */
export function updateGroup(scope: Scope, id: string, input: MonitorGroupPatch) {
  const { organizationId } = scope;
  const { paused, muted, ...patch } = input;
  return retryOnStaleRead(async () => {
    const before = await getGroup(scope, id);
    assertStored(before, { paused, muted });
    const at = formatTimestamp(scope.clock());
    const after = {
      ...before,
      ...(patch as Partial<GroupRecord>),
      ...buildNextVersion(before, at),
    };
    const { alertChannelIds, dependsOn, monitorIds } = patch;
    const dependent = { table: "groups", id, monitorIds: after.monitorIds } as const;
    return commit(
      scope,
      [
        ...guardReferences(scope, patch),
        ...guardCurrent(scope, monitorGroups, before),
        changeGroup(scope, after),
        ...(alertChannelIds ? replaceGroupChannels(scope, id, alertChannelIds) : []),
        ...(await replaceDependencies(scope, dependent, dependsOn)),
        ...(monitorIds
          ? [
              leaveGroup(organizationId, id, monitorIds, at),
              ...assignMonitors(scope, id, monitorIds, 0, at),
              ...applyPauses(organizationId, at, [
                ...new Set([...before.monitorIds, ...monitorIds]),
              ]),
            ]
          : []),
      ],
      {
        action: "group.updated",
        subjectId: id,
        fields: listChangedFields(before, after, Object.keys(patch)),
      },
      after,
    );
  });
}

function assertStored(group: GroupRecord, given: Pick<MonitorGroupPatch, "paused" | "muted">) {
  for (const name of ["paused", "muted"] as const)
    if (given[name] !== undefined && given[name] !== group[name])
      throw invalidFieldError(name, setInAdminPage);
}

function guardReferences(scope: Scope, patch: MonitorGroupPatch) {
  const { alertChannelIds, escalationPolicyId, monitorIds } = patch;
  return [
    ...guardFieldExists(
      scope,
      "escalationPolicyId",
      escalationPolicies,
      escalationPolicyId ? [escalationPolicyId] : [],
    ),
    ...guardFieldExists(scope, "monitorIds", monitors, monitorIds),
    ...guardFieldExists(scope, "alertChannelIds", alertChannels, alertChannelIds),
  ];
}

/** Deletes a group and returns its monitors to the ungrouped list. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteGroup(scope: Scope, id: string): Promise<typeof deletedBody> {
  const { organizationId } = scope;
  return retryOnStaleRead(async () => {
    const group = await getGroup(scope, id);
    const at = formatTimestamp(scope.clock());
    return commit(
      scope,
      [
        ...guardCurrent(scope, monitorGroups, group),
        ...removeGroup(scope, id, at),
        ...applyPauses(organizationId, at, group.monitorIds),
      ],
      { action: "group.deleted", subjectId: id },
      deletedBody,
    );
  });
}

const stateByAction = {
  "group.paused": { paused: true },
  "group.resumed": { paused: false },
  "group.muted": { muted: true },
  "group.unmuted": { muted: false },
};

/**
 * Pauses, resumes, mutes or unmutes a whole group, independent of the same settings of its monitors. Monitors
 * of a paused group are not checked, and monitors of a muted group send no alerts. Throws NOT_FOUND.
 */
export function switchGroup(scope: Scope, id: string, action: keyof typeof stateByAction) {
  const { organizationId } = scope;
  return retryOnStaleRead(async () => {
    const before = await getGroup(scope, id);
    const at = formatTimestamp(scope.clock());
    const after = { ...before, ...stateByAction[action], ...buildNextVersion(before, at) };
    return commit(
      scope,
      [
        ...guardCurrent(scope, monitorGroups, before),
        changeGroup(scope, after),
        ...applyPauses(organizationId, at, before.monitorIds),
      ],
      { action, subjectId: id },
      after,
    );
  });
}

/** Sets the dashboard order. Throws NOT_FOUND for an unknown group, CONFLICT if a group is missing. */
export async function reorderGroups(scope: Scope, { groupIds }: GroupOrder): Promise<GroupOrder> {
  const { organizationId } = scope;
  return commit(
    scope,
    [
      ...guardFieldExists(scope, "groupIds", monitorGroups, groupIds),
      guard(
        containsEveryGroup(organizationId, groupIds),
        () => new AppError("CONFLICT", "The order leaves groups out. Read them again."),
      ),
      replaceOrder(organizationId, groupIds),
    ],
    { action: "group.reordered", subjectId: organizationId, fields: ["groupIds"] },
    { groupIds },
  );
}
