import { t } from "../../language/text.ts";

/** Label of each type of message, and of each change to an open case. */
export const alertTypeLabels: Record<string, string> = {
  "monitor.down": t("Down"),
  "monitor.up": t("Up"),
  "monitor.degraded": t("Degraded"),
  "monitor.reminder": t("Reminder"),
  "monitor.flapping": t("Flapping"),
  "certificate.expiring": t("Certificate"),
  "incident.opened": t("Incident opened"),
  "incident.updated": t("Incident updated"),
  "incident.resolved": t("Incident resolved"),
  "channel.failed": t("Alert channel failing"),
  "appliance.troubled": t("Appliance problem"),
  "appliance.recovered": t("Appliance problem resolved"),
  "source.opened": t("Reported by a source"),
  "source.changed": t("Source: more urgent"),
  "source.resolved": t("Source: resolved"),
  drill: t("Drill"),
  "shift.starting": t("Shift starting"),
  test: t("Test"),
  digest: t("Digest"),
  acknowledge: t("Acknowledgment"),
  unacknowledge: t("Opened again"),
};
