import { type ChangedField, listChangedFields } from "../../core/field-changes.ts";
import { mergeChannels } from "./rules.ts";
import type { ChangeOfMany } from "./schema.ts";

/** The fields of a monitor that a bulk change can change. */
export type BulkFields = {
  paused: boolean;
  muted: boolean;
  groupId: string | null;
  tags: string[];
  alertChannelIds: string[];
};

const bulkFields = ["paused", "muted", "groupId", "tags", "alertChannelIds"] as const;

/** Returns the fields of one monitor that a bulk change changes. Joining a group adds the channels of the group. */
export function listBulkChanges(
  before: BulkFields,
  change: ChangeOfMany,
  groupChannelIds: readonly string[],
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
      groupChannelIds,
    ),
  };
  return listChangedFields(before, after, bulkFields);
}
