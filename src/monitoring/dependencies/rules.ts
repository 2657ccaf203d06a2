import type { StoredStatus } from "../../core/statuses.ts";

/** A monitor on which a composite one depends. */
export type Member = { name: string; status: StoredStatus | "paused" };

/** One monitor depends on another, directly or through its group. */
export type Dependency = { id: string; parentId: string };

/** Returns the shortest way from a monitor back to itself, as IDs; null if there is none. */
export function findCycle(start: string, dependencies: readonly Dependency[]): string[] | null {
  const parentsOf = Map.groupBy(dependencies, ({ id }) => id);
  const before = new Map<string, string>();
  const queue = [start];
  for (const id of queue)
    for (const { parentId } of parentsOf.get(id) ?? []) {
      if (parentId === start) return [...trace(id, before).toReversed(), start];
      if (before.has(parentId)) continue;
      before.set(parentId, id);
      queue.push(parentId);
    }
  return null;
}

function trace(last: string, before: ReadonlyMap<string, string>): string[] {
  const ids: string[] = [];
  for (let id: string | undefined = last; id !== undefined; id = before.get(id)) ids.push(id);
  return ids;
}
