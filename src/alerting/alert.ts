import type { Severity } from "../core/fields.ts";
import type { ProblemName, ProblemSeverity } from "../core/problems.ts";
import type { AlertType } from "./schema.ts";

export type { AlertType };

/** What a monitor alert says of its monitor, as it was when it happened. */
export type AlertedMonitor = {
  id: string;
  name: string;
  type: string;
  groupId: string | null;
  groupName: string | null;
  // The rest is absent in alerts that an older version made.
  /** What it watches, without what may be a secret in it; null for a push monitor. */
  target?: string | null;
  tags?: string[];
  /** The beginning of it. */
  description?: string;
};

type OfMonitor = {
  monitor: AlertedMonitor;
  /** RFC 3339: since when the monitor is what the alert says; for a reminder, since when it is down. */
  since: string;
  /** One sentence: why. */
  message: string;
  latencyMs: number | null;
  /** Length of the outage that ended, or that the reminder is about. */
  downSeconds?: number;
};

type OfIncident = {
  incident: {
    id: string;
    title: string;
    status: string;
    severity: Severity;
    monitorId: string | null;
    // Absent in alerts that an older version made.
    monitorIds?: string[];
  };
  /** The timeline entry. */
  message: string;
  /** Whether people typed it; absent in alerts that an older version made. */
  isMarkdown?: boolean;
};

// Absent in alerts that an older version made.
type OfProblem = { problem?: ProblemName; node?: string; message: string };

/** What each type of alert tells; frozen when the alert is made, so that every attempt says the same. */
export type AlertData = {
  "monitor.down": OfMonitor;
  "monitor.up": OfMonitor;
  "monitor.degraded": OfMonitor;
  "monitor.reminder": OfMonitor;
  /** `changes` of state within the last half hour. */
  "monitor.flapping": OfMonitor & { changes: number };
  "certificate.expiring": OfMonitor & {
    /** RFC 3339. */
    expiresAt: string;
    /** Whole days; 0 on the last day, negative once it has expired. */
    daysLeft: number;
  };
  "incident.opened": OfIncident;
  "incident.updated": OfIncident;
  "incident.resolved": OfIncident;
  /** Alerts to another channel were given up. */
  "channel.failed": { channel: { id: string; name: string; type: string }; message: string };
  /** Something is wrong with the appliance itself. */
  "appliance.troubled": OfProblem & { severity?: ProblemSeverity };
  "appliance.recovered": OfProblem;
  test: { channel: { id: string; name: string; type: string }; message: string };
};

/** One thing to tell. `id` is the same for every channel and every attempt. */
export type Alert = {
  [T in AlertType]: {
    id: string;
    type: T;
    /** RFC 3339: when it happened. */ at: string;
    data: AlertData[T];
  };
}[AlertType];
