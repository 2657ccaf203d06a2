import type { StateType } from "../events/catalog.ts";
import type { IncidentTraces, Receiver } from "./incident-schema.ts";

/** Start of a monitor's state. */
export type StateStart = { type: StateType; at: string; message: string | null };
type State = Omit<IncidentTraces["states"][number], "monitorId" | "name">;

/** Selects the monitor states for the timeline of an incident: all since its start, and trouble at its start. */
export function listStatesInIncident(startedStates: readonly StateStart[], from: string): State[] {
  return startedStates.flatMap(({ type, at, message }, index): State[] => {
    const before = startedStates[index - 1];
    const ended = before !== undefined && isTrouble(before) && type === "monitor.up";
    const troubleSeconds = ended ? (Date.parse(at) - Date.parse(before.at)) / 1000 : null;
    switch (type) {
      case "monitor.up":
      case "monitor.maintenance":
      case "monitor.degraded":
      case "monitor.down": {
        const status = type.slice("monitor.".length) as State["status"];
        if (at < from && !isTrouble({ type })) return [];
        return [{ at, status, message, troubleSeconds }];
      }
      default:
        return [];
    }
  });
}

const isTrouble = ({ type }: Pick<StateStart, "type">) =>
  type === "monitor.down" || type === "monitor.degraded";

/** Assigns receivers to the update that they were notified of: the latest one at the time of the event. */
export function buildReceipts(
  updates: readonly { id: string; createdAt: string }[],
  receivers: readonly (Receiver & { at: string })[],
): IncidentTraces["receipts"] {
  const findUpdate = (at: string) =>
    updates.findLast(({ createdAt }) => createdAt <= at) ?? updates[0];
  const byUpdate = Map.groupBy(receivers, ({ at }) => findUpdate(at)?.id);
  return updates.flatMap(({ id }) => {
    const ownDeliveries = byUpdate.get(id);
    return ownDeliveries === undefined ? [] : [{ updateId: id, receivers: ownDeliveries }];
  });
}
