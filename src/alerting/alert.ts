/** Defines alerts, and the data that each alert type carries. */
import type { Severity } from "../core/fields.ts";
import type { ProblemName, ProblemSeverity } from "../core/problems.ts";
import type { Priority } from "../core/statuses.ts";
import type { AlertType } from "./schema.ts";

export type { AlertType };

/** Facts about a monitor at the time of the alert. */
export type AlertedMonitor = {
  id: string;
  name: string;
  type: string;
  groupId: string | null;
  groupName: string | null;
  // Absent in alerts of older versions.
  /** The monitored target without secrets; null for a push monitor. */
  target?: string | null;
  tags?: string[];
  /** The beginning of the description. */
  description?: string;
};

type MonitorAlertData = {
  monitor: AlertedMonitor;
  /** RFC 3339. Start of the reported state; for a reminder, start of the outage. */
  since: string;
  /** One sentence with the reason. */
  message: string;
  latencyMs: number | null;
  /** Duration of the outage that is over, or that the reminder reports. */
  downSeconds?: number;
  /** Number of other monitors that depend on this one, whose alerts are held while it is down. */
  behind?: number;
  /** Other monitors with the same cause, which have no alert of their own. */
  joined?: JoinedMonitors;
};

export type JoinedMonitors = {
  /** Their common cause, such as “on db1.lan”. */
  place: string;
  count: number;
  /** The first of the joined monitors. */
  monitors: { id: string; name: string }[];
};

type IncidentAlertData = {
  incident: {
    id: string;
    title: string;
    status: string;
    severity: Severity;
    monitorId: string | null;
    // Absent in alerts of older versions.
    monitorIds?: string[];
  };
  /** Text of the timeline entry. */
  message: string;
  /** Whether a person wrote the message, in Markdown. Absent in alerts of older versions. */
  isMarkdown?: boolean;
};

// Absent in alerts of older versions.
type ProblemAlertData = { problem?: ProblemName; node?: string; message: string };

type DrillData = {
  /** The policy or person that the drill notifies. */
  drill: { type: "policy" | "person"; id: string; name: string };
  message: string;
};

type SourceAlertData = {
  source: { id: string; name: string; type: string };
  /** `id` is the same for all reports of the source with this key. */
  report: { id: string; key: string; title: string; link: string | null; priority: Priority };
  /** RFC 3339. */
  since: string;
  /** Text of the sender; can have several lines, or none. */
  message: string;
  /** Duration of the problem that is over. */
  openSeconds?: number;
};

type ShiftData = {
  shift: {
    scheduleId: string;
    scheduleName: string;
    personId: string;
    personName: string;
    /** RFC 3339. */
    startsAt: string;
    /** RFC 3339. When another person, or nobody, is on call; null if that is later than 62 days. */
    endsAt: string | null;
  };
  message: string;
};

type AlertedChannel = {
  id: string;
  name: string;
  type: string;
  /** Whether it is a contact method of a person. */
  contactMethod?: boolean;
};

/** Data of each alert type. It is fixed when the alert is created, so that every attempt sends the same. */
export type AlertData = {
  "monitor.down": MonitorAlertData;
  "monitor.up": MonitorAlertData;
  "monitor.degraded": MonitorAlertData;
  "monitor.reminder": MonitorAlertData;
  /** `changes` is the number of state changes within the last half hour. */
  "monitor.flapping": MonitorAlertData & { changes: number };
  "certificate.expiring": MonitorAlertData & {
    /** RFC 3339. */
    expiresAt: string;
    /** Whole days; 0 on the last day, negative after expiry. */
    daysLeft: number;
  };
  "incident.opened": IncidentAlertData;
  "incident.updated": IncidentAlertData;
  "incident.resolved": IncidentAlertData;
  /** `channel` is the failing channel. The other channels are notified. */
  "channel.failed": { channel: AlertedChannel; message: string };
  /** The appliance itself has a problem. */
  "appliance.troubled": ProblemAlertData & { severity?: ProblemSeverity };
  "appliance.recovered": ProblemAlertData;
  /** Another tool reported a problem. */
  "source.opened": SourceAlertData;
  /** The problem has become more urgent. */
  "source.changed": SourceAlertData;
  "source.resolved": SourceAlertData;
  /** A page to practice: nothing has failed. */
  drill: DrillData;
  /** The shift of a person starts soon. */
  "shift.starting": ShiftData;
  test: { channel: AlertedChannel; message: string };
};

type CommonAlertData = {
  /** Names of those who acknowledged the alert before this message. Absent if it was no one. */
  acknowledgedBy?: readonly string[];
  /** Present if an escalation policy sent the message. */
  escalation?: EscalationData;
};

/** The step of a policy. The last message, that nobody acknowledged, has none; `policy` is null if it was deleted. */
export type EscalationData = { policy: string | null; step: number | null; steps: number | null };

/** A message about an alert. `id` is the same for every channel and attempt. */
export type Alert = {
  [T in AlertType]: {
    id: string;
    type: T;
    /** RFC 3339: when it happened. */ at: string;
    data: AlertData[T] & CommonAlertData;
  };
}[AlertType];
