import { effectOn, type EventEffects, type LoggedEvent } from "../../events/catalogue.ts";

/** What an event can change for monitoring: its monitor, those of its group or organization, or maintenance windows. */
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
