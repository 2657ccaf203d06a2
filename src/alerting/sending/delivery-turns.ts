import { type Entry, Turns } from "../../core/collections/turns.ts";
import type { Slots, Waiting } from "./queue.ts";

type DeliveryTurn = Waiting & Entry;
export type DeliveryTurns = Turns<DeliveryTurn>;

/** Receivers in the order of their turns: the next slot is for the organization with the fewest, in turn among equals. */
export function deliveryTurns({ shared, kept }: Slots): DeliveryTurns {
  return new Turns<DeliveryTurn>({
    rank: ({ running }) => running,
    admits: (running, all) => all.running < (running === 0 ? shared + kept : shared),
    // Failing receivers of an organization share a lane.
    perLane: Math.ceil(shared / 2),
  });
}

let added = 0;

/** The receiver's next turn comes after those of all receivers of its organization that wait already. */
export const turnOf = (waiting: Waiting): DeliveryTurn => ({
  ...waiting,
  client: waiting.organizationId,
  lane: waiting.failing ? "failing" : null,
  at: added++,
});
