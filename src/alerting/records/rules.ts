/** Pure rules of alerts: their family, priority, status, and the reasons for which they end. */
import type { Priority } from "../../core/statuses.ts";
import type { AlertType } from "../schema.ts";

/** Kinds of problems. At most one alert per subject and family is open. */
export const families = [
  "state",
  "certificate",
  "incident",
  "channel",
  "problem",
  "drill",
  "source",
] as const;
export type Family = (typeof families)[number];

/** Why an alert ended. Only `recovered` means that the problem is over. The last three apply to drills. */
export const endings = [
  "recovered",
  "muted",
  "paused",
  "maintenance",
  "disabled",
  "deleted",
  "acknowledged",
  "unacknowledged",
  "unreached",
] as const;
export type Ending = (typeof endings)[number];

export const alertStatuses = ["open", "acknowledged", "snoozed", "resolved"] as const;
export type AlertStatus = (typeof alertStatuses)[number];

/** An open alert, as decisions see it. */
export type OpenRecord = {
  /** ID of the first message. */
  id: string;
  family: Family;
  /** A monitor, incident, channel, policy, person or source alert, or the key of a problem of the appliance. */
  subjectId: string;
  /** Type of the last message about the problem. */
  type: AlertType;
  /** RFC 3339. Start of the problem. */
  since: string;
  priority: Priority;
  /** RFC 3339. */
  acknowledgedAt: string | null;
  /** Names of the people and keys that acknowledged it, in order. */
  acknowledgedBy: readonly string[];
  /** Unix milliseconds. */
  snoozedUntil: number | null;
  /** The escalation policy, the step that runs next, and the number of finished repetitions. */
  policyId: string | null;
  step: number;
  round: number;
  /** Unix milliseconds. Time of the next timer; null for none. */
  dueAt: number | null;
  /** Unix milliseconds. Start of the escalation; null before it. */
  escalatedFrom: number | null;
  /** Unix milliseconds. When the steps of the last repetition ran, by step. */
  runs: readonly (number | null)[];
  /** JSON of the last message's data. */
  data: string;
  /** Whether a message of a drill arrived; false for other alerts. */
  isReached: boolean;
  version: number;
};

/** A notification of a step that ran at `ranAt` and that is due now or later. Times are in Unix milliseconds. */
export type DueNotification = {
  channelId: string;
  /** The person whose contact method the channel is; null for other channels. */
  personId: string | null;
  step: number;
  round: number;
  ranAt: number;
  dueAt: number;
};

const familyOfType: Record<AlertType, Family | null> = {
  "monitor.down": "state",
  "monitor.up": "state",
  "monitor.degraded": "state",
  "monitor.reminder": "state",
  "monitor.flapping": "state",
  "certificate.expiring": "certificate",
  "incident.opened": "incident",
  "incident.updated": "incident",
  "incident.resolved": "incident",
  "channel.failed": "channel",
  "appliance.troubled": "problem",
  "appliance.recovered": "problem",
  drill: "drill",
  "source.opened": "source",
  "source.changed": "source",
  "source.resolved": "source",
  "shift.starting": null,
  test: null,
};

/** Returns the family of the alert to which a message belongs; null for a test, and for the notice of a shift. */
export const familyOf = (type: AlertType): Family | null => familyOfType[type];

/** Whether reminders and escalation wait: someone acknowledged the alert, or it is snoozed. */
export const isQuiet = ({
  acknowledgedAt,
  snoozedUntil,
}: Pick<OpenRecord, "acknowledgedAt" | "snoozedUntil">): boolean =>
  acknowledgedAt !== null || snoozedUntil !== null;

/** Returns the status of an alert. A snooze hides an acknowledgment until it ends. */
export function statusOf(record: {
  resolvedAt: string | null;
  snoozedUntil: number | null;
  acknowledgedAt: string | null;
}): AlertStatus {
  if (record.resolvedAt !== null) return "resolved";
  if (record.snoozedUntil !== null) return "snoozed";
  return record.acknowledgedAt === null ? "open" : "acknowledged";
}

/** The alert and the channel of a link in a message. */
export type LinkTarget = { organizationId: string; recordId: string; channelId: string };
