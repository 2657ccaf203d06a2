/** Changes, deletes or previews many monitors. All monitors of a request change in one atomic write, or none. */
import { commitEach, commitUnchanged } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { forEachYielding } from "../../core/time/event-loop.ts";
import { AppError } from "../../core/errors.ts";
import { requestBounds } from "../../core/limits.ts";
import { validationError } from "../../core/validation.ts";
import { ungroupedError } from "../../database/group-limit.ts";
import {
  guardExists,
  guardVersion,
  overLimitError,
  unknownReferenceError,
} from "../../database/references.ts";
import { guardFieldExists } from "../../database/rows.ts";
import { retryOnStaleRead, StaleRead, type Statement } from "../../database/store.ts";
import { alertChannels, escalationPolicies } from "../../database/tables/alerting.ts";
import { monitorGroups } from "../../database/tables/monitoring.ts";
import { buildResolvingStatements } from "../../incidents/by-monitor.ts";
import {
  applyPauses,
  assignMonitors,
  type GroupRecord,
  listGroups,
  touchGroup,
} from "../groups/store.ts";
import {
  type BulkMonitor,
  type BulkPlan,
  buildUndo,
  findChangedSince,
  formatBulkETag,
  matchesBulkTag,
  getFieldName,
  planChange,
  planResumption,
  type PlannedChange,
  refuseManaged,
  summarizePlan,
} from "./bulk-rules.ts";
import type { BulkPreview, BulkResult, ChangeOfSome, ManyMonitors } from "./bulk-schema.ts";
import {
  findBulkMonitors,
  guardVersions,
  replaceChannels,
  restorePositions,
  updateMonitors,
} from "./bulk-store.ts";
import { assertPauseEnd, assertScheduleValid } from "./input-service.ts";
import { removeMonitors } from "./store.ts";

type PreparedChange = {
  monitors: BulkMonitor[];
  parts: Part[];
  /** Groups that monitors can join, by ID. */
  groups: ReadonlyMap<string, GroupRecord>;
  plan: BulkPlan;
};

/** A change of some monitors, with its path in the request. */
type Part = ChangeOfSome & { path: string };

/**
 * Changes or deletes many monitors in one atomic write. Throws NOT_FOUND for an unknown ID, VALIDATION_ERROR or
 * CONFLICT that names the monitors that can't be changed, and PRECONDITION_FAILED.
 */
export function changeMonitorsInBulk(scope: Scope, many: ManyMonitors): Promise<BulkResult> {
  return retryOnStaleRead(async () => {
    const prepared = await prepareChange(scope, many);
    assertUnchanged(many.etag, prepared.monitors);
    if (many.skip !== true) assertNoneRefused(prepared);
    return many.delete === true ? deleteInBulk(scope, prepared) : changeInBulk(scope, prepared);
  });
}

/** Returns the effects of a bulk change without making it. Throws NOT_FOUND for an unknown ID. */
export async function previewBulkChange(scope: Scope, many: ManyMonitors): Promise<BulkPreview> {
  const { monitors, plan } = await prepareChange(scope, many);
  return { ...summarizePlan(plan), etag: formatBulkETag(monitors, scope.clock()) };
}

async function prepareChange(scope: Scope, input: ManyMonitors): Promise<PreparedChange> {
  const { monitorIds = [], change } = input;
  const parts: Part[] =
    input.changes?.map((part, index) => ({ ...part, path: `changes[${index}].change` })) ??
    (change === undefined ? [] : [{ monitorIds, change, path: "change" }]);
  const ids = input.changes?.flatMap((part) => part.monitorIds) ?? monitorIds;
  const found = await findBulkMonitors(scope, ids);
  if (found.size < ids.length) throw unknownReferenceError("monitorIds", "monitor");
  for (const { change, path } of parts) {
    assertPauseEnd(scope, change, `${path}.pausedUntil`);
    assertScheduleValid(change, `${path}.schedule`);
  }
  const groups = await findGroups(scope, parts);
  const plan: BulkPlan = { changed: [], refused: [], unchanged: [] };
  const prepared = { monitors: [...found.values()], parts, groups, plan };
  if (input.delete === true) planDeletion(prepared);
  else await planParts(scope, prepared, found);
  return prepared;
}

async function findGroups(scope: Scope, parts: readonly Part[]) {
  const leaving = parts.find(({ change }) => change.groupId === null);
  if (leaving !== undefined && scope.groupIds !== null)
    throw ungroupedError(`${leaving.path}.groupId`);
  const targetGroups = parts.flatMap(({ change: { groupId }, path }) =>
    typeof groupId === "string" ? [{ groupId, path }] : [],
  );
  const [first] = targetGroups;
  const isOne = targetGroups.every(({ groupId }) => groupId === first?.groupId);
  const found =
    first === undefined ? [] : await listGroups(scope, isOne ? first.groupId : undefined);
  const groups = new Map(found.map((group) => [group.id, group]));
  for (const { groupId, path } of targetGroups)
    if (!groups.has(groupId)) throw unknownReferenceError(`${path}.groupId`, "monitor group");
  return groups;
}

/** Plans the deletion of all monitors that no configuration manages. */
function planDeletion({ monitors, plan }: PreparedChange) {
  for (const monitor of monitors)
    if (monitor.managedBy === null)
      plan.changed.push({ before: monitor, after: monitor, position: null, fields: [] });
    else plan.refused.push({ ...refuseManaged(monitor.managedBy), path: "monitorIds", monitor });
}

async function planParts(
  scope: Scope,
  { parts, groups, plan }: PreparedChange,
  found: ReadonlyMap<string, BulkMonitor>,
) {
  const limit = "alert-channels-of-a-monitor";
  const limits = {
    channels: scope.limits[limit],
    channelsMessage: overLimitError(scope.limits, limit).message,
  };
  for (const { monitorIds, change, path } of parts) {
    const group = groups.get(change.groupId ?? "");
    await forEachYielding(monitorIds.entries(), ([index, id]) => {
      const before = found.get(id);
      const position = change.positions?.[index] ?? null;
      if (before !== undefined) planChange(plan, before, { change, path, position }, group, limits);
    });
  }
}

/** Maximum names in the message of an error. */
const maxNamesInError = 3;

function formatNames(monitors: readonly BulkMonitor[]): string {
  const names = monitors.slice(0, maxNamesInError).map(({ name }) => name);
  const others = monitors.length - names.length;
  return `${names.join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** Throws PRECONDITION_FAILED, with the names of the changed monitors, if one changed since the client read them. */
function assertUnchanged(etag: string | undefined, monitors: readonly BulkMonitor[]) {
  if (etag === undefined || matchesBulkTag(etag, monitors)) return;
  const changed = findChangedSince(etag, monitors);
  const subject = changed.length === 0 ? "one of the monitors" : formatNames(changed);
  throw new AppError(
    "PRECONDITION_FAILED",
    `Nothing was changed, because someone else has changed ${subject} meanwhile. Preview the change again.`,
  );
}

/** Maximum details of an error. */
const maxDetails = 20;

/** Throws an error that names the monitors that can't be changed. */
function assertNoneRefused({ plan: { refused } }: PreparedChange) {
  const [first] = refused;
  if (first === undefined) return;
  const details = refused.slice(0, maxDetails).map(({ path, message, monitor }) => ({
    path,
    message: `${monitor.name} ${message}`,
  }));
  if (first.code === "VALIDATION_ERROR") throw validationError(details);
  const alike = refused.filter(({ message }) => message === first.message);
  throw new AppError(
    first.code,
    alike.length === 1
      ? `Nothing was changed: ${first.monitor.name} ${first.message}.`
      : `Nothing was changed. For ${formatNames(alike.map(({ monitor }) => monitor))}: ${first.message}.`,
    { details },
  );
}

async function deleteInBulk(
  scope: Scope,
  { plan: { changed } }: PreparedChange,
): Promise<BulkResult> {
  const at = formatTimestamp(scope.clock());
  const monitors = changed.map(({ before }) => before);
  const ids = monitors.map(({ id }) => id);
  const response = { changed: ids.length, undo: null };
  return commitEach(
    scope,
    [
      ...guardVersions(scope.organizationId, monitors),
      ...(await buildResolvingStatements(scope, ids)),
      ...removeMonitors(scope, ids, at),
    ],
    { action: "monitor.deleted", subjectIds: ids },
    response,
  );
}

function changeInBulk(scope: Scope, prepared: PreparedChange): Promise<BulkResult> {
  const { monitors, plan } = prepared;
  const now = scope.clock();
  const { changed } = plan;
  const fields = new Map(changed.map((one) => [one.before.id, one.fields]));
  const etag = formatBulkETag(
    changed.map((one) => ({ id: one.before.id, version: computeVersion(one) })),
    now,
  );
  const undo = changed.length === 0 ? null : { changes: buildUndo(changed), etag };
  const isSendable = JSON.stringify(undo).length <= requestBounds.body.value;
  const response = { changed: changed.length, undo: isSendable ? undo : null };
  const guards = [
    ...guardVersions(scope.organizationId, monitors),
    ...buildReferenceGuards(scope, prepared),
  ];
  if (changed.length === 0) return commitUnchanged(scope, guards, response);
  return commitEach(
    scope,
    [...guards, ...buildStatements(scope, prepared, formatTimestamp(now))],
    {
      action: "monitor.updated",
      subjectIds: [...fields.keys()],
      fields: (id) => fields.get(id) ?? [],
    },
    response,
  );
}

/**
 * Resumes the monitors whose pause is over, in one atomic write. Monitors that a person resumed or paused for longer
 * meanwhile stay unchanged.
 */
export const resumeMonitors = (scope: Scope, monitorIds: readonly string[]) =>
  resumeSome(scope, monitorIds, ({ pausedUntil }) => {
    const at = formatTimestamp(scope.clock());
    return pausedUntil !== null && pausedUntil <= at;
  });

/** Resumes a paused monitor. It stays paused while its group is. */
export const resumeMonitor = (scope: Scope, id: string) =>
  resumeSome(scope, [id], ({ paused }) => paused);

function resumeSome(
  scope: Scope,
  monitorIds: readonly string[],
  isResumed: (monitor: BulkMonitor) => boolean,
) {
  return retryOnStaleRead(async () => {
    const found = await findBulkMonitors(scope, monitorIds);
    const monitors = [...found.values()].filter(isResumed);
    const plan: BulkPlan = { changed: [], refused: [], unchanged: [] };
    for (const before of monitors) planResumption(plan, before);
    return changeInBulk(scope, { monitors, parts: [], groups: new Map(), plan });
  });
}

const changesGroup = ({ before, after }: PlannedChange) => before.groupId !== after.groupId;
const isJoining = (one: PlannedChange) => changesGroup(one) && one.position === null;

/** Joining a group increments the version once more. */
const computeVersion = (one: PlannedChange) => one.before.version + (isJoining(one) ? 2 : 1);

/** Requires the given channels to exist. Other missing channels, and changed groups, cause a retry. */
function buildReferenceGuards(scope: Scope, { parts, groups, plan }: PreparedChange): Statement[] {
  const { organizationId } = scope;
  const lists = ["alertChannelIds", "addAlertChannelIds"] as const;
  const channelGuards = parts.flatMap(({ change, path }) =>
    lists.flatMap((list) =>
      guardFieldExists(scope, `${path}.${list}`, alertChannels, change[list]),
    ),
  );
  const policies = parts.flatMap(({ change: { escalationPolicyId: id }, path }) =>
    id == null
      ? []
      : guardFieldExists(scope, `${path}.escalationPolicyId`, escalationPolicies, [id]),
  );
  const used = plan.changed.flatMap(({ after }) => after.alertChannelIds);
  const joined = new Set(plan.changed.filter(changesGroup).map(({ after }) => after.groupId));
  return [
    ...channelGuards,
    ...policies,
    ...guardExists(alertChannels, organizationId, [...new Set(used)], () => new StaleRead()),
    ...[...groups.values()].flatMap((group) =>
      joined.has(group.id) ? [guardVersion(monitorGroups, organizationId, group)] : [],
    ),
  ];
}

/**
 * Returns the statements of a change. Channels precede the groups, so that the channels of a group do not exceed the
 * limit temporarily.
 */
function buildStatements(
  scope: Scope,
  { plan: { changed } }: PreparedChange,
  at: string,
): Statement[] {
  const { organizationId } = scope;
  const createFieldTest = (name: string) => (one: PlannedChange) =>
    one.fields.some((field) => getFieldName(field) === name);
  const joining = Map.groupBy(changed.filter(isJoining), ({ after }) => after.groupId);
  const returning = changed.filter((one) => changesGroup(one) && one.position !== null);
  const pausing = changed.filter((one) => changesGroup(one) || createFieldTest("paused")(one));
  const idsOf = (portion: readonly PlannedChange[]) => portion.map(({ before }) => before.id);
  return [
    ...updateMonitors(organizationId, changed, at),
    ...replaceChannels(organizationId, changed.filter(createFieldTest("alertChannelIds"))),
    ...[...joining].flatMap(([groupId, some]) => [
      ...(groupId === null ? [] : [touchGroup(scope, groupId, at)]),
      ...assignMonitors(scope, groupId, idsOf(some), "end", at),
    ]),
    ...(returning.length === 0 ? [] : restorePositions(organizationId, returning, at)),
    ...applyPauses(organizationId, at, idsOf(pausing)),
  ];
}
