/** In the order in which records are made: what is named comes before what names it. */
export const nouns = [
  "alert-channel",
  "group",
  "monitor",
  "maintenance-window",
  "status-page",
  "incident",
] as const;
export type Noun = (typeof nouns)[number];

const titles: Record<Noun, string> = {
  "alert-channel": "Alert channels",
  group: "Monitor groups",
  monitor: "Monitors",
  "maintenance-window": "Maintenance windows",
  "status-page": "Status pages",
  incident: "Incidents",
};

/** What people call these records of an import; what has no such noun was not taken. */
export const titleOf = (noun: string): string => titles[noun as Noun] ?? "Not taken";
