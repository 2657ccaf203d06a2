import type { Slots } from "./queue.ts";

/** Whoever waits for a slot; `failing` while what waits for it has failed. */
type Waiting = { organizationId: string; receiverId: string; failing: boolean };

export type Rotation<T extends Waiting> = ReturnType<typeof rotation<T>>;

/**
 * Slots of all organizations: the next goes to the organization that has fewest, in turn among equals,
 * and within it to the receiver that has waited longest.
 */
export function rotation<T extends Waiting>({ shared, kept }: Slots) {
  /** By organization, whose turn is next first. */
  let queues = new Map<string, T[]>();
  const taken = new Map<string, { all: number; failing: number }>();
  let free = shared + kept;

  const takenBy = (organizationId: string) => taken.get(organizationId) ?? { all: 0, failing: 0 };

  /** Where in its organization's queue somebody is who may have a slot; -1 for nobody. */
  function startable(organizationId: string, queue: readonly T[]): number {
    const own = takenBy(organizationId);
    if (free === 0 || (own.all > 0 && free <= kept)) return -1;
    const mayFail = own.failing < Math.ceil(shared / 2);
    return queue.findIndex(({ failing }) => mayFail || !failing);
  }

  return {
    /** These wait from now on, and nobody else. */
    replace(waiting: readonly T[]) {
      const found = Map.groupBy(waiting, ({ organizationId }) => organizationId);
      const known = [...queues.keys()].filter((id) => found.has(id));
      queues = new Map(
        [...new Set([...known, ...found.keys()])].map((id) => [id, [...(found.get(id) ?? [])]]),
      );
    },
    /** Waits for another turn, behind the others of its organization. */
    rejoin(waiting: T) {
      const { organizationId, receiverId } = waiting;
      const queue = queues.get(organizationId) ?? [];
      queues.set(organizationId, queue);
      if (!queue.some((one) => one.receiverId === receiverId)) queue.push(waiting);
    },
    /** Whose turn it is, which takes a slot; null while there is none for whoever waits. */
    next(): T | null {
      let best: { organizationId: string; queue: T[]; index: number } | null = null;
      for (const [organizationId, queue] of queues) {
        if (best !== null && takenBy(organizationId).all >= takenBy(best.organizationId).all)
          continue;
        const index = startable(organizationId, queue);
        if (index !== -1) best = { organizationId, queue, index };
      }
      if (best === null) return null;
      const { organizationId, queue, index } = best;
      const [chosen] = queue.splice(index, 1) as [T];
      queues.delete(organizationId);
      if (queue.length > 0) queues.set(organizationId, queue);
      const { all, failing } = takenBy(organizationId);
      taken.set(organizationId, { all: all + 1, failing: failing + Number(chosen.failing) });
      free -= 1;
      return chosen;
    },
    /** Gives the slot back. */
    release({ organizationId, failing: failed }: T) {
      const { all, failing } = takenBy(organizationId);
      if (all === 1) taken.delete(organizationId);
      else taken.set(organizationId, { all: all - 1, failing: failing - Number(failed) });
      free += 1;
    },
  };
}
