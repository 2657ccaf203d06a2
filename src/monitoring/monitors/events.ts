import { type EventTable, type LoggedEvent, valueIn } from "../../events/catalogue.ts";

/** What of monitoring an event may change: the monitor it names, those of a group or of an organization, or windows of maintenance. */
const concerns: EventTable<"monitor" | "group" | "organization" | "windows" | null> = {
  "alert-channel": null,
  "api-key": null,
  appliance: null,
  backup: null,
  channel: null,
  group: "group",
  incident: null,
  "incident-template": null,
  invitation: null,
  maintenance: {
    created: "windows",
    updated: "windows",
    deleted: "windows",
    started: null,
    ended: null,
  },
  monitor: {
    created: "monitor",
    updated: "monitor",
    deleted: "monitor",
    pending: null,
    up: null,
    degraded: null,
    down: null,
    maintenance: null,
    paused: null,
    resumed: null,
  },
  organization: { created: null, updated: null, deleted: "organization" },
  person: null,
  settings: null,
  "status-page": null,
  subscriber: null,
};

export const concernOf = ({ type }: LoggedEvent) => valueIn(concerns, type) ?? null;
