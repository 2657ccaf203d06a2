import { type ChangedField, listChangedFields } from "../../core/field-changes.ts";
import type { MonitorGroup } from "../groups/schema.ts";
import { mergeChannels } from "./rules.ts";
import type { ChangeOfMany } from "./schema.ts";

/** The fields of a monitor that a bulk change can change. */
export type BulkFields = {
  paused: boolean;
  muted: boolean;
  groupId: string | null;
  tags: string[];
  alertChannelIds: string[];
  escalationPolicyId: string | null;
};

const bulkFields = [
  "paused",
  "muted",
  "groupId",
  "tags",
  "alertChannelIds",
  "escalationPolicyId",
] as const;

type JoinedGroup = Pick<MonitorGroup, "alertChannelIds" | "escalationPolicyId">;

/**
 * Returns the fields of one monitor that a bulk change changes. Joining a group adds its channels, and its policy to a
 * monitor without one.
 */
export function listBulkChanges(
  before: BulkFields,
  change: ChangeOfMany,
  group: JoinedGroup | undefined,
): ChangedField[] {
  const { paused, muted, groupId, addTags = [], removeTags = [] } = change;
  const { addAlertChannelIds = [], removeAlertChannelIds = [] } = change;
  const without = (list: readonly string[], removed: readonly string[]) =>
    list.filter((one) => !removed.includes(one));
  const after: BulkFields = {
    paused: paused ?? before.paused,
    muted: muted ?? before.muted,
    groupId: groupId === undefined ? before.groupId : groupId,
    tags: [...new Set([...without(before.tags, removeTags), ...addTags])],
    alertChannelIds: mergeChannels(
      without(before.alertChannelIds, removeAlertChannelIds),
      addAlertChannelIds,
      group?.alertChannelIds ?? [],
    ),
    escalationPolicyId:
      before.escalationPolicyId ??
      (groupId === before.groupId ? null : (group?.escalationPolicyId ?? null)),
  };
  return listChangedFields(before, after, bulkFields);
}
