// Does not import zod, because the first load of the admin page includes this file.

/** Roles in an organization, ascending by rights: reads, writes, administers, owns. */
export const roles = ["viewer", "member", "admin", "owner"] as const;

export const severities = ["minor", "major", "critical"] as const;

/** Priorities of monitors, ascending. */
export const priorities = ["low", "normal", "critical"] as const;
export type Priority = (typeof priorities)[number];

export const incidentStatuses = ["investigating", "identified", "monitoring", "resolved"] as const;

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
