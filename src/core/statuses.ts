// Does not import zod, because the first load of the admin page includes this file.

/** Roles in an organization, ascending by rights: reads, writes, administers, owns. */
export const roles = ["viewer", "member", "admin", "owner"] as const;

export const severities = ["minor", "major", "critical"] as const;

/** Priorities of monitors, ascending. */
export const priorities = ["low", "normal", "critical"] as const;
export type Priority = (typeof priorities)[number];

/** Permissions of API keys. A key with `ping` can only report to push monitors, in an address that contains it. */
export const keyScopes = ["read", "write", "ping"] as const;

/** Kinds of a job's reports to a push monitor. `start` and `log` have no outcome. */
export const reportKinds = ["success", "failure", "start", "log"] as const;
export type ReportKind = (typeof reportKinds)[number];

export const incidentStatuses = ["investigating", "identified", "monitoring", "resolved"] as const;

/** States that an open incident can show for a monitor on public pages, ascending. */
export const incidentImpacts = ["degraded", "partial-outage", "major-outage"] as const;
export type ImpactLevel = (typeof incidentImpacts)[number];

/**
 * Types of actors of changes. A `link` is one in a message. Its actor is the channel that received it. The `system` is
 * this appliance, such as when a pause ends.
 */
export const actorTypes = [
  "person",
  "api-key",
  "command-line",
  "monitor",
  "visitor",
  "link",
  "system",
] as const;
export type ActorType = (typeof actorTypes)[number];

/** Results of a check. */
export const checkStatuses = ["up", "degraded", "down", "unknown"] as const;

export const heartbeatStatuses = [...checkStatuses, "maintenance"] as const;

export const monitorStatuses = [
  "up",
  "degraded",
  "down",
  "pending",
  "paused",
  "maintenance",
] as const;
export type MonitorStatus = (typeof monitorStatuses)[number];

/** Stored states of a monitor. Pausing is a separate field. */
export type StoredStatus = Exclude<MonitorStatus, "paused">;
