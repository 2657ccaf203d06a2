import { findEffect, type EventEffects, type LoggedEvent } from "../../events/catalog.ts";

/** Part of monitoring that an event affects: a monitor, a group, an organization or maintenance windows. */
const concerns: EventEffects<"monitor" | "group" | "organization" | "windows"> = {
  "group.*": "group",
  "maintenance.created": "windows",
  "maintenance.updated": "windows",
  "maintenance.deleted": "windows",
  "maintenance.restored": "windows",
  "monitor.created": "monitor",
  "monitor.updated": "monitor",
  "monitor.deleted": "monitor",
  "monitor.restored": "monitor",
  "organization.deleted": "organization",
};

export const concernOf = ({ type }: LoggedEvent) => findEffect(concerns, type) ?? null;
