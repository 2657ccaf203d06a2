/** Label of each type of message, and of each change of an open case. */
export const alertTypeLabels: Record<string, string> = {
  "monitor.down": "Down",
  "monitor.up": "Up",
  "monitor.degraded": "Degraded",
  "monitor.reminder": "Reminder",
  "monitor.flapping": "Flapping",
  "certificate.expiring": "Certificate",
  "incident.opened": "Incident opened",
  "incident.updated": "Incident updated",
  "incident.resolved": "Incident resolved",
  "channel.failed": "Alert channel failing",
  "appliance.troubled": "Appliance problem",
  "appliance.recovered": "Appliance problem resolved",
  "source.opened": "Reported by a source",
  "source.changed": "Source: more urgent",
  "source.resolved": "Source: resolved",
  drill: "Drill",
  "shift.starting": "Shift starting",
  test: "Test",
  digest: "Digest",
  acknowledge: "Acknowledgment",
  unacknowledge: "Opened again",
};

/** Types of the last message about a problem. */
export const problemTypes = [
  "monitor.down",
  "monitor.degraded",
  "monitor.flapping",
  "certificate.expiring",
  "incident.opened",
  "incident.updated",
  "channel.failed",
  "appliance.troubled",
  "source.opened",
  "drill",
] as const;
