import { commit, commitEach, mustBeCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { timestamp } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { invalid } from "../../core/validation.ts";
import { resolvingStatements } from "../../incidents/by-monitor.ts";
import { mustExist, unknownReference } from "../../database/references.ts";
import { must, retrying, type Statement } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { followPauses } from "../groups/pauses.ts";
import { mustHaveFewChannels, assignMonitors, touchGroup } from "../groups/store.ts";
import type { ChangeOfMany, ManyMonitors, MonitorOrder } from "./many-schema.ts";
import {
  attachChannels,
  changeMonitors,
  detachChannels,
  fitsTags,
  namesAllOf,
} from "./many-store.ts";
import { groupToJoin } from "./service.ts";
import { removeMonitors } from "./store.ts";

/**
 * Sets the order of a group's monitors, or of the ungrouped list; those that were elsewhere join.
 * Throws NOT_FOUND for an unknown id, CONFLICT where the list leaves a monitor out, PRECONDITION_FAILED.
 */
export function orderMonitors(scope: Scope, { groupId, monitorIds }: MonitorOrder) {
  const { organizationId } = scope;
  return retrying(async () => {
    const group = await groupToJoin(scope, groupId);
    const at = timestamp(scope.clock());
    return commit(
      scope,
      [
        ...mustKnowMonitors(scope, monitorIds),
        ...(group === null
          ? []
          : [...mustBeCurrent(scope, monitorGroups, group), touchGroup(scope, group.id, at)]),
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

/** Changes or deletes many monitors in one write, all or none. Throws NOT_FOUND for an unknown id, VALIDATION_ERROR for too many tags. */
export function changeMany(scope: Scope, { monitorIds, change }: ManyMonitors) {
  const { organizationId } = scope;
  return retrying(async () => {
    const at = timestamp(scope.clock());
    return commitEach(
      scope,
      [
        ...mustKnowMonitors(scope, monitorIds),
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

function mustKnowMonitors({ organizationId }: Scope, ids: readonly string[]): Statement[] {
  return mustExist(monitors, organizationId, ids, () => unknownReference("monitorIds", "monitor"));
}

/** A group's channels come last, so that whoever joins has them. */
function changing(scope: Scope, ids: readonly string[], change: ChangeOfMany, at: string) {
  const { organizationId } = scope;
  const { paused, muted, groupId, addTags, removeTags } = change;
  const { addAlertChannelIds, removeAlertChannelIds } = change;
  const tags =
    (addTags ?? removeTags) ? { remove: removeTags ?? [], add: addTags ?? [] } : undefined;
  const statements: Statement[] = [];
  if (tags !== undefined)
    statements.push(
      must(fitsTags(organizationId, ids, tags.remove, tags.add), () =>
        invalid("change.addTags", "would give a monitor more than 10 tags"),
      ),
    );
  statements.push(changeMonitors(organizationId, ids, { paused, muted, tags }, at));
  if (removeAlertChannelIds !== undefined)
    statements.push(detachChannels(organizationId, ids, removeAlertChannelIds));
  if (addAlertChannelIds !== undefined)
    statements.push(
      ...mustExist(alertChannels, organizationId, addAlertChannelIds, () =>
        unknownReference("change.addAlertChannelIds", "alert channel"),
      ),
      attachChannels(organizationId, ids, addAlertChannelIds),
      mustHaveFewChannels(scope, ids),
    );
  if (groupId !== undefined) {
    if (groupId !== null)
      statements.push(
        ...mustExist(monitorGroups, organizationId, [groupId], () =>
          unknownReference("change.groupId", "monitor group"),
        ),
        touchGroup(scope, groupId, at),
      );
    statements.push(...assignMonitors(scope, groupId, ids, "end", at));
  }
  if (groupId !== undefined || paused !== undefined)
    statements.push(...followPauses(organizationId, at, ids));
  return statements;
}
