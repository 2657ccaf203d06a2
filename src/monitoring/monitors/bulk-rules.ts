/** Plans bulk changes of monitors: the new values of each monitor, refusals with their reason, and the undo. */
import type { Severity } from "../../core/fields.ts";
import { type ChangedField, listChangedFields } from "../../core/field-changes.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { MonitorGroup } from "../groups/schema.ts";
import { computePause } from "./pause-rules.ts";
import { mergeChannels } from "./rules.ts";
import {
  type BulkPreview,
  type ChangeOfMany,
  type ChangeOfSome,
  maxListedChanges,
  maxNamed,
} from "./bulk-schema.ts";

/** Fields of push monitors that a bulk change can change; null for other types. */
export type BulkJobFields = {
  schedule: string | null;
  timeZone: string | null;
  grace: number | null;
  maximumRunTime: number | null;
};

export const bulkJobFields = [
  "schedule",
  "timeZone",
  "grace",
  "maximumRunTime",
] as const satisfies readonly (keyof BulkJobFields)[];

/** The fields of a monitor that a bulk change can change. */
type BulkFields = BulkJobFields & {
  interval: number;
  timeout: number;
  retries: number;
  degradedAfterMs: number | null;
  autoIncidentSeverity: Severity | null;
  groupId: string | null;
  tags: string[];
  alertChannelIds: string[];
  escalationPolicyId: string | null;
  paused: boolean;
  pausedUntil: string | null;
  muted: boolean;
};

const bulkFields = [
  "paused",
  "pausedUntil",
  "muted",
  "interval",
  "timeout",
  "retries",
  "degradedAfterMs",
  "autoIncidentSeverity",
  ...bulkJobFields,
  "groupId",
  "tags",
  "alertChannelIds",
  "escalationPolicyId",
] as const satisfies readonly (keyof BulkFields)[];

/** Fields that people can change although a configuration manages the monitor. */
const operatingFields: ReadonlySet<string> = new Set(["paused", "pausedUntil", "muted"]);

const jobFieldNames: ReadonlySet<string> = new Set(bulkJobFields);

/** A monitor as a bulk change finds it. */
export type BulkMonitor = BulkFields & {
  id: string;
  name: string;
  type: string;
  version: number;
  updatedAt: string;
  position: number;
  /** The configuration that manages it; null if none does. */
  managedBy: string | null;
};

/** The reason why a monitor can't be changed. */
export type Refusal = {
  reason: "managed" | "invalid";
  code: ErrorCode;
  /** Path in the change. */
  path: string;
  /** The issue, in words that follow the name of the monitor. */
  message: string;
};

export type PlannedChange = {
  before: BulkMonitor;
  after: BulkFields;
  /** Position to restore in the group; null for the end of a new group. */
  position: number | null;
  fields: ChangedField[];
};

export type BulkPlan = {
  changed: PlannedChange[];
  refused: (Refusal & { monitor: BulkMonitor })[];
  /** Monitors that have these values already. */
  unchanged: BulkMonitor[];
};

type Limits = { channels: number; channelsMessage: string };

/** Maximum tags per monitor. */
const maxTags = 10;

type JoinedGroup = Pick<MonitorGroup, "alertChannelIds" | "escalationPolicyId">;

/**
 * Computes the fields of a monitor after a change. Joining a group adds its channels, and its policy to a monitor
 * without one.
 */
function computeBulkFields(
  before: BulkFields,
  change: ChangeOfMany,
  group: JoinedGroup | undefined,
): BulkFields {
  const { addTags = [], removeTags = [] } = change;
  const { addAlertChannelIds = [], removeAlertChannelIds = [] } = change;
  const removeAll = (list: readonly string[], removed: readonly string[]) =>
    list.filter((one) => !removed.includes(one));
  const pickGiven = (field: keyof BulkFields) =>
    (change[field] === undefined ? before : change)[field];
  const givenFields = Object.fromEntries(
    bulkFields.map((field) => [field, pickGiven(field)]),
  ) as BulkFields;
  const isJoining = givenFields.groupId !== before.groupId && change.positions === undefined;
  const joined = isJoining ? group : undefined;
  return {
    ...givenFields,
    ...computePause(before, change),
    tags: [...new Set([...removeAll(givenFields.tags, removeTags), ...addTags])],
    alertChannelIds: mergeChannels(
      removeAll(givenFields.alertChannelIds, removeAlertChannelIds),
      addAlertChannelIds,
      joined?.alertChannelIds ?? [],
    ),
    escalationPolicyId: givenFields.escalationPolicyId ?? joined?.escalationPolicyId ?? null,
  };
}

/** Plans the change of one monitor. */
export function planChange(
  plan: BulkPlan,
  before: BulkMonitor,
  { change, path, position }: { change: ChangeOfMany; path: string; position: number | null },
  group: JoinedGroup | undefined,
  limits: Limits,
) {
  const after = computeBulkFields(before, change, group);
  const fields = listChangedFields(before, after, bulkFields);
  if (fields.length === 0) {
    plan.unchanged.push(before);
    return;
  }
  const refusal = findRefusal(before, after, fields, limits, change);
  if (refusal === null) plan.changed.push({ before, after, position, fields });
  else plan.refused.push({ ...refusal, path: `${path}.${refusal.path}`, monitor: before });
}

/** Plans the end of a pause. A monitor resumes although other fields would be rejected today. */
export function planResumption(plan: BulkPlan, before: BulkMonitor) {
  const after = computeBulkFields(before, { paused: false }, undefined);
  const fields = listChangedFields(before, after, bulkFields);
  plan.changed.push({ before, after, position: null, fields });
}

export const getFieldName = (field: ChangedField) =>
  typeof field === "string" ? field : field.field;

function findRefusal(
  before: BulkMonitor,
  after: BulkFields,
  fields: readonly ChangedField[],
  limits: Limits,
  change: ChangeOfMany,
): Refusal | null {
  const managed = fields.map(getFieldName).find((name) => !operatingFields.has(name));
  if (before.managedBy !== null && managed !== undefined)
    return { ...refuseManaged(before.managedBy), path: managed };
  const invalid = { reason: "invalid", code: "VALIDATION_ERROR" } as const;
  const jobField = fields.map(getFieldName).find((name) => jobFieldNames.has(name));
  if (before.type !== "push" && jobField !== undefined)
    return { ...invalid, path: jobField, message: "is not a push monitor" };
  if (after.timeout > after.interval)
    return {
      ...invalid,
      path: change.interval === undefined ? "timeout" : "interval",
      message: `would have a timeout of ${after.timeout} s, longer than its interval of ${after.interval} s`,
    };
  if (after.tags.length > maxTags)
    return { ...invalid, path: "addTags", message: `would have more than ${maxTags} tags` };
  const channels = after.alertChannelIds.length;
  if (channels > limits.channels && channels > before.alertChannelIds.length)
    return {
      ...invalid,
      code: "CONFLICT",
      path: "addAlertChannelIds",
      message: `would have ${channels} alert channels. ${limits.channelsMessage}`,
    };
  return null;
}

/** Refuses a monitor of a configuration. Its next apply would revert the change. */
export const refuseManaged = (source: string) => ({
  reason: "managed" as const,
  code: "CONFLICT" as const,
  message: `is managed by the configuration ${source}`,
});

type Counted = { count: number; monitors: { id: string; name: string }[] };

const addTo = (counted: Counted, { id, name }: BulkMonitor) => {
  counted.count++;
  if (counted.monitors.length < maxNamed) counted.monitors.push({ id, name });
};

/** Summarizes a plan: which value changes to which, for how many monitors, and which monitors do not change. */
export function summarizePlan({
  changed,
  refused,
  unchanged,
}: BulkPlan): Omit<BulkPreview, "etag"> {
  const changes = new Map<string, BulkPreview["changes"][number]>();
  for (const { before, after } of changed)
    for (const field of bulkFields) {
      const values = { before: before[field], after: after[field] };
      if (Bun.deepEquals(values.before, values.after)) continue;
      const key = JSON.stringify([field, values]);
      const entry = changes.get(key) ?? { field, ...values, count: 0, monitors: [] };
      changes.set(key, entry);
      addTo(entry, before);
    }
  const groups = new Map<string, BulkPreview["unchanged"][number]>();
  const addUnchanged = (
    monitor: BulkMonitor,
    reason: "same" | Refusal["reason"],
    message: string,
  ) => {
    const key = `${reason} ${message}`;
    const entry = groups.get(key) ?? { reason, message, count: 0, monitors: [] };
    groups.set(key, entry);
    addTo(entry, monitor);
  };
  for (const { monitor, reason, message } of refused) addUnchanged(monitor, reason, message);
  for (const monitor of unchanged) addUnchanged(monitor, "same", "has these values already");
  return {
    changed: changed.length,
    changes: [...changes.values()]
      .sort((one, other) => other.count - one.count)
      .slice(0, maxListedChanges),
    unchanged: [...groups.values()].sort((one, other) => other.count - one.count),
  };
}

/** Builds the changes that restore the values before, with one entry per set of values. */
export function buildUndo(changed: readonly PlannedChange[]): ChangeOfSome[] {
  const undo = new Map<string, ChangeOfSome>();
  for (const { before, fields } of changed) {
    const names = fields.map(getFieldName) as (keyof BulkFields)[];
    const change: ChangeOfMany = Object.fromEntries(names.map((name) => [name, before[name]]));
    const key = JSON.stringify(change);
    const entry = undo.get(key) ?? { monitorIds: [], change };
    undo.set(key, entry);
    entry.monitorIds.push(before.id);
    if (names.includes("groupId")) (entry.change.positions ??= []).push(before.position);
  }
  return [...undo.values()];
}

type VersionedMonitor = { id: string; version: number };

const hashVersions = (monitors: readonly VersionedMonitor[]) =>
  Bun.hash(
    monitors
      .map(({ id, version }) => `${id} ${version}`)
      .sort()
      .join(),
  ).toString(36);

/** Returns a tag of the versions of monitors. It contains its time, to find the monitors that changed later. */
export const formatBulkETag = (monitors: readonly VersionedMonitor[], now: number) =>
  `${hashVersions(monitors)}-${now.toString(36)}`;

/** Whether an ETag belongs to these versions of the monitors. */
export const matchesBulkTag = (tag: string, monitors: readonly VersionedMonitor[]) =>
  tag.split("-")[0] === hashVersions(monitors);

/** Returns the monitors that changed since a tag was returned, if it is one. */
export function findChangedSince(tag: string, monitors: readonly BulkMonitor[]): BulkMonitor[] {
  const since = parseInt(tag.split("-")[1] ?? "", 36);
  return monitors.filter(({ updatedAt }) => Date.parse(updatedAt) > since);
}
