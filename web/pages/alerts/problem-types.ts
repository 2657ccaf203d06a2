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
