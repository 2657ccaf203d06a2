// Without zod, so that the first load of the admin page may have them.

/** What a person may in an organization, lowest first: reads, writes, administers, owns. */
export const roles = ["viewer", "member", "admin", "owner"] as const;

export const severities = ["minor", "major", "critical"] as const;

export const incidentStatuses = ["investigating", "identified", "monitoring", "resolved"] as const;

/** What a check finds. */
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

/** What is stored of a monitor: whether it is paused stands beside it. */
export type StoredStatus = Exclude<MonitorStatus, "paused">;
