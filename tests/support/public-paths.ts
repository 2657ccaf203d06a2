import type { Part } from "../../src/status-pages/parts.ts";

/** What a status page has behind its address: a new part is approved here, or it is not public. */
export const approvedParts = {
  page: ["", "/"],
  json: [".json"],
  rss: ["/feed.rss"],
  atom: ["/feed.atom"],
  ics: ["/maintenance.ics"],
  subscribe: ["/subscribe"],
  logo: ["/logo"],
  history: ["/history"],
  incident: ["/incidents/:id"],
  v2: [
    "/api/v2/summary.json",
    "/api/v2/status.json",
    "/api/v2/components.json",
    "/api/v2/incidents.json",
    "/api/v2/incidents/unresolved.json",
    "/api/v2/scheduled-maintenances.json",
    "/api/v2/scheduled-maintenances/upcoming.json",
    "/api/v2/scheduled-maintenances/active.json",
  ],
} satisfies Record<Part["name"], string[]>;

export const partPaths = Object.values(approvedParts).flat();
