/** Selects the events that a page limited to monitor groups can receive. */
import {
  canSeeGroup,
  isVisible,
  type LimitedNoun,
  selectVisibleMonitors,
} from "../database/group-limit.ts";
import type { Tenant } from "../database/rows.ts";
import { type EventNoun, nounOf } from "../events/catalog.ts";
import type { LiveEvent } from "./store.ts";

/**
 * How a limited page receives the events of a noun: about visible records, always, without the ID of the record, or
 * never.
 */
const effects: Record<EventNoun, LimitedNoun | "sent" | "anonymous" | "dropped"> = {
  monitor: "monitor",
  group: "group",
  incident: "incident",
  maintenance: "maintenance-window",
  alert: "alert",
  "incident-template": "sent",
  "alert-channel": "sent",
  channel: "sent",
  schedule: "sent",
  "escalation-policy": "sent",
  "contact-method": "sent",
  person: "sent",
  organization: "sent",
  // Limited callers see only their own held changes, and no ID of others.
  "held-change": "anonymous",
  // An alert of a source concerns no monitor.
  "alert-source": "dropped",
  "source-alert": "dropped",
  "status-page": "dropped",
  subscriber: "dropped",
  invitation: "dropped",
  "api-key": "dropped",
  "identity-provider": "dropped",
  settings: "dropped",
  backup: "dropped",
  appliance: "dropped",
};

/**
 * Returns the events for a limited page. `findEarlierGroup` returns the group of a monitor before its last change, so
 * that the page also learns of deleted and moved monitors. Deletions of other records are sent without their ID.
 */
export async function selectVisibleEvents(
  tenant: Tenant,
  events: readonly LiveEvent[],
  findEarlierGroup: (monitorId: string) => string | null,
): Promise<LiveEvent[]> {
  const monitorIds = events.flatMap(({ type, subjectId }) =>
    nounOf(type) === "monitor" ? [subjectId] : [],
  );
  const monitors = new Set(await selectVisibleMonitors(tenant, [...new Set(monitorIds)]));
  const visibleEvents: LiveEvent[] = [];
  for (const event of events) {
    const { type, subjectId } = event;
    const effect = effects[nounOf(type)];
    if (effect === "dropped") continue;
    if (effect === "sent") visibleEvents.push(event);
    else if (effect === "anonymous") visibleEvents.push({ ...event, subjectId: "" });
    else if (effect === "monitor") {
      if (monitors.has(subjectId) || canSeeGroup(tenant, findEarlierGroup(subjectId)))
        visibleEvents.push(event);
    } else if (effect === "group") {
      // The order of groups has the organization as its subject.
      if (type === "group.reordered") visibleEvents.push({ ...event, subjectId: "" });
      else if (canSeeGroup(tenant, subjectId)) visibleEvents.push(event);
    } else if (await isVisible(tenant, effect, subjectId)) visibleEvents.push(event);
    else if (type.endsWith(".deleted")) visibleEvents.push({ ...event, subjectId: "" });
  }
  return visibleEvents;
}
