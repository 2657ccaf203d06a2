import { effectOn, type EventEffects, type LoggedEvent } from "../../events/catalogue.ts";

/** Scope of an event for monitoring: one monitor, a group, an organization, or the maintenance windows. */
const concerns: EventEffects<"monitor" | "group" | "organization" | "windows"> = {
  "group.*": "group",
  "maintenance.created": "windows",
  "maintenance.updated": "windows",
  "maintenance.deleted": "windows",
  "monitor.created": "monitor",
  "monitor.updated": "monitor",
  "monitor.deleted": "monitor",
  "organization.deleted": "organization",
};

export const concernOf = ({ type }: LoggedEvent) => effectOn(concerns, type) ?? null;
