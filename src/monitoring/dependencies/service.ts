/** Sets on which monitors a monitor or a group depends. */
import type { Scope } from "../../events/scope.ts";
import { monitorBounds } from "../../core/limits.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { limitToGroups, selectVisibleMonitors } from "../../database/group-limit.ts";
import { unknownReferenceError } from "../../database/references.ts";
import { guardFieldExists } from "../../database/rows.ts";
import type { Statement } from "../../database/store.ts";
import { monitors } from "../../database/tables/monitoring.ts";
import { exceedsLevels, findCycle, groupByDependent } from "./rules.ts";
import {
  countLevelsBelow,
  guardDependencyLimit,
  guardNoCycle,
  listDependencies,
  listHiddenParentIds,
  replaceGroupDependencies,
  replaceMonitorDependencies,
} from "./store.ts";

/** A monitor or a group, and the monitors that get the dependencies: itself, or its members. */
type Dependent = { table: "monitors" | "groups"; id: string; monitorIds: readonly string[] };

const replaceByNoun = { monitors: replaceMonitorDependencies, groups: replaceGroupDependencies };

/**
 * Returns the statements that link a monitor or group to the monitors on which it depends. Throws
 * VALIDATION_ERROR with the path of a cycle, and NOT_FOUND for a monitor that a limited caller can't see.
 */
export async function replaceDependencies(
  scope: Scope,
  { table, id, monitorIds }: Dependent,
  parentIds: readonly string[] | undefined,
): Promise<Statement[]> {
  if (parentIds === undefined) return [];
  // First, so that no other error shows a limited caller that a monitor outside their groups exists.
  if ((await selectVisibleMonitors(scope, parentIds)).length < parentIds.length)
    throw unknownReferenceError("dependsOn", "monitor");
  const parents = groupByDependent(await listDependencies(scope, parentIds));
  const cycle = findCycle(monitorIds, parentIds, parents);
  if (cycle !== null) throw await createCycleError(scope, cycle, parentIds);
  const levels = monitorBounds.dependencyLevels.value;
  const below = parentIds.length === 0 ? 0 : await countLevelsBelow(scope, monitorIds);
  if (exceedsLevels(parentIds, parents, levels - below))
    throw invalidFieldError("dependsOn", `must have at most ${levels} levels of dependencies`);
  const hiddenIds = await listHiddenParentIds(scope, table, id);
  return [
    ...guardFieldExists(scope, "dependsOn", monitors, parentIds),
    ...replaceByNoun[table](scope, id, [...parentIds, ...hiddenIds]),
    guardDependencyLimit(scope.organizationId),
    guardNoCycle(
      scope.organizationId,
      parentIds.length === 0 || table === "groups" ? parentIds : [id],
      () => invalidFieldError("dependsOn", `makes a cycle, or more than ${levels} levels`),
    ),
  ];
}

async function createCycleError(
  { store, organizationId, groupIds }: Scope,
  cycle: readonly string[],
  parentIds: readonly string[],
) {
  const limit = limitToGroups({ groupIds }, "group_id");
  const rows = await store.query<{ id: string; name: string }>(
    `select id, name from monitors
      where organization_id = ? and id in (select value from json_each(?))${limit.text}`,
    [organizationId, JSON.stringify([...cycle, ...parentIds]), ...limit.parameters],
  );
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  if (parentIds.some((id) => !nameOf.has(id))) return unknownReferenceError("dependsOn", "monitor");
  const names = cycle.map(
    (id) => nameOf.get(id) ?? (groupIds === null ? "this monitor" : "another monitor"),
  );
  return invalidFieldError("dependsOn", `makes a cycle: ${names.join(" → ")}`);
}
