import { type Entry, Turns } from "../../core/collections/turns.ts";
import type { Slots, WaitingReceiver } from "./queue.ts";

type DeliveryTurn = WaitingReceiver & Entry;
export type DeliveryTurns = Turns<DeliveryTurn>;

/**
 * Orders receivers for delivery. The organization with the fewest deliveries in flight is next;
 * equal ones alternate.
 */
export function createDeliveryTurns({ shared, reserved }: Slots): DeliveryTurns {
  return new Turns<DeliveryTurn>({
    rank: ({ running }) => running,
    admits: (running, all) => all.running < (running === 0 ? shared + reserved : shared),
    // Failing receivers of an organization share a lane.
    perLane: Math.ceil(shared / 2),
  });
}

let addedTurns = 0;

/** Puts a receiver behind all waiting receivers of its organization. */
export const createTurn = (waiting: WaitingReceiver): DeliveryTurn => ({
  ...waiting,
  client: waiting.organizationId,
  lane: waiting.failing ? "failing" : null,
  at: addedTurns++,
});
