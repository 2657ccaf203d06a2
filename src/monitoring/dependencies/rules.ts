/** Rules of the graph of dependencies between monitors: no cycles, and a limited depth. */
import type { StoredStatus } from "../../core/statuses.ts";

/** A monitor on which a composite one depends. */
export type Member = {
  /** Null if a viewer of the composite monitor can be limited to groups without this member. */
  name: string | null;
  status: StoredStatus | "paused";
};

/** One monitor depends on another, directly or through its group. */
export type Dependency = { id: string; parentId: string };

/** The monitors on which a monitor depends directly, by its ID. */
export type Parents = ReadonlyMap<string, readonly Dependency[]>;

export const groupByDependent = (dependencies: readonly Dependency[]): Parents =>
  Map.groupBy(dependencies, ({ id }) => id);

/**
 * Returns the shortest way from a new parent of these monitors over one of them back to it, as IDs; null if there is
 * none.
 */
export function findCycle(
  monitorIds: readonly string[],
  parentIds: readonly string[],
  parents: Parents,
): string[] | null {
  const ownIds = new Set(monitorIds);
  const before = new Map<string, string>();
  const queue = [...new Set(parentIds)];
  const seen = new Set(queue);
  for (const id of queue) {
    if (ownIds.has(id)) {
      const way = tracePath(id, before).toReversed();
      return [...way, way[0] as string];
    }
    for (const { parentId } of parents.get(id) ?? []) {
      if (seen.has(parentId)) continue;
      seen.add(parentId);
      before.set(parentId, id);
      queue.push(parentId);
    }
  }
  return null;
}

/** Whether monitors depend on others over this many levels, without a cycle. */
export function exceedsLevels(ids: readonly string[], parents: Parents, levels: number): boolean {
  let layer = new Set(ids);
  for (let level = 0; level < levels && layer.size > 0; level++)
    layer = new Set(
      [...layer].flatMap((id) => (parents.get(id) ?? []).map(({ parentId }) => parentId)),
    );
  return layer.size > 0;
}

function tracePath(last: string, before: ReadonlyMap<string, string>): string[] {
  const ids: string[] = [];
  for (let id: string | undefined = last; id !== undefined; id = before.get(id)) ids.push(id);
  return ids;
}
