/** Declares the tools of the MCP server: the operation of the REST API behind each, its fields, and its short response. */

/** Fields of a record in a short response. */
type Fields = readonly string[];

/** Recipients of notices about a change. */
export type AudienceKind = "incident" | "postmortem" | "maintenance";

export type Tool = {
  name: string;
  title: string;
  description: string;
  /** Operation ID in the OpenAPI document; null for a summary of several operations. */
  operation: string | null;
  /** Accepted fields of the operation. */
  fields: Fields;
  /** Fields that the tool requires, in addition to those that the operation requires. */
  required?: Fields;
  /** Values that the tool always sends. */
  fixed?: Readonly<Record<string, unknown>>;
  /** Fields of short responses; by default all. */
  brief?: Fields;
  /** Whom the change notifies, for its preview; by default no one. */
  audience?: AudienceKind;
  /** Whether the change removes or withdraws something. */
  isDestructive?: boolean;
  /** Whether a repeated call has no further effect. */
  isIdempotent?: boolean;
};

const monitorFields = [
  "id",
  "name",
  "type",
  "status",
  "statusSince",
  "lastMessage",
  "latencyMs",
  "uptime24h",
  "groupId",
  "priority",
];
const incidentFields = [
  "id",
  "title",
  "status",
  "severity",
  "public",
  "monitorIds",
  "createdAt",
  "updatedAt",
  "resolvedAt",
];
const alertFields = [
  "id",
  "type",
  "title",
  "status",
  "priority",
  "since",
  "resolvedAt",
  "acknowledgments",
  "snoozedUntil",
];
const windowFields = [
  "id",
  "title",
  "state",
  "startsAt",
  "endsAt",
  "timeZone",
  "rrule",
  "monitorIds",
  "groupIds",
  "public",
  "current",
  "next",
];
const reportFields = [
  "month",
  "from",
  "to",
  "isRunning",
  "slaTarget",
  "monitorCount",
  "summary",
  "outages",
  "incidents",
];
const heldFields = [
  "id",
  "operation",
  "title",
  "change",
  "author",
  "state",
  "secondsLeft",
  "dueAt",
  "error",
];

const readTools: Tool[] = [
  {
    name: "get_status",
    title: "What is down now",
    description:
      "Lists monitors that are down or degraded, open incidents, running maintenance and open alerts. Start here.",
    operation: null,
    fields: [],
  },
  {
    name: "list_monitors",
    title: "List monitors",
    description: "Monitors with their current status.",
    operation: "listMonitors",
    fields: ["status", "type", "groupId", "tag", "q", "paused", "page"],
    brief: monitorFields,
  },
  {
    name: "get_monitor",
    title: "Get a monitor",
    description: "The settings and the status of a monitor.",
    operation: "getMonitor",
    fields: ["id"],
    brief: monitorFields,
  },
  {
    name: "list_heartbeats",
    title: "List results of checks",
    description: "The last results of a monitor, newest first, with the reasons of failures.",
    operation: "listHeartbeats",
    fields: ["id", "from", "to"],
  },
  {
    name: "list_incidents",
    title: "List incidents",
    description: "Incidents, newest first, without their timelines.",
    operation: "listIncidents",
    fields: ["status", "severity", "monitorId", "open", "q", "page"],
    brief: incidentFields,
  },
  {
    name: "get_incident",
    title: "Get an incident",
    description: "An incident with its latest updates and internal notes, and its postmortem.",
    operation: "getIncident",
    fields: ["id"],
    brief: [...incidentFields, "updates", "notes", "postmortem"],
  },
  {
    name: "list_maintenance",
    title: "List maintenance",
    description: "Maintenance windows, newest first.",
    operation: "listMaintenanceWindows",
    fields: ["state", "monitorId", "page"],
    brief: windowFields,
  },
  {
    name: "list_alerts",
    title: "List alerts",
    description: "Problems that people are notified of, newest first.",
    operation: "listAlerts",
    fields: ["status", "monitorId", "incidentId", "type", "priority", "page"],
    brief: alertFields,
  },
  {
    name: "get_alert",
    title: "Get an alert",
    description: "An alert with its timeline: who was notified, and who acknowledged it.",
    operation: "getAlert",
    fields: ["id"],
    brief: [...alertFields, "timeline"],
  },
  {
    name: "who_is_on_call",
    title: "Who is on call",
    description: "The person on call in every schedule, now or at a time, and the next shift.",
    operation: "listOnCall",
    fields: ["at"],
  },
  {
    name: "get_report",
    title: "Get a monthly report",
    description:
      "Uptime, outages and incidents of a month, of the organization or of one monitor, group or status page.",
    operation: "getReport",
    fields: ["month", "monitorId", "groupId", "statusPageId", "timeZone", "slaTarget"],
    brief: reportFields,
  },
  {
    name: "list_held_changes",
    title: "List held changes",
    description:
      "Changes that wait to be sent and can be undone, and the outcomes of earlier ones.",
    operation: "listHeldChanges",
    fields: ["state", "page"],
    brief: heldFields,
  },
];

const writeTools: Tool[] = [
  {
    name: "open_incident",
    title: "Open an incident",
    description: "Opens an incident with its first update.",
    operation: "openIncident",
    fields: ["title", "severity", "message", "monitorIds", "public", "notify"],
    required: ["notify"],
    audience: "incident",
  },
  {
    name: "post_incident_update",
    title: "Post a status update",
    description: "Adds an update to the timeline of an incident, optionally with a new status.",
    operation: "updateIncident",
    fields: ["id", "status", "message", "severity", "public", "notify"],
    required: ["notify"],
    audience: "incident",
  },
  {
    name: "resolve_incident",
    title: "Resolve an incident",
    description: "Resolves an incident with a last update.",
    operation: "updateIncident",
    fields: ["id", "message", "notify"],
    required: ["notify"],
    fixed: { status: "resolved" },
    audience: "incident",
  },
  {
    name: "write_postmortem",
    title: "Write a postmortem",
    description:
      "Writes the postmortem of an incident as a draft, or publishes it with `published`. Only a resolved incident's can be published.",
    operation: "updateIncidentPostmortem",
    fields: ["id", "message", "published", "notify"],
    required: ["notify"],
    audience: "postmortem",
    isIdempotent: true,
  },
  {
    name: "add_incident_note",
    title: "Add an internal note",
    description: "Adds a note to an incident that only the team sees. No one is notified.",
    operation: "addIncidentNote",
    fields: ["id", "message"],
  },
  {
    name: "schedule_maintenance",
    title: "Schedule maintenance",
    description: "Plans a maintenance window. Its monitors send no alerts meanwhile.",
    operation: "createMaintenanceWindow",
    fields: [
      "title",
      "description",
      "startsAt",
      "endsAt",
      "timeZone",
      "rrule",
      "monitorIds",
      "groupIds",
      "countsUptime",
      "public",
      "notify",
    ],
    required: ["notify"],
    audience: "maintenance",
  },
  {
    name: "cancel_maintenance",
    title: "Cancel maintenance",
    description:
      "Deletes a maintenance window; one in progress ends at once. Subscribers who were notified of it hear that it is cancelled.",
    operation: "deleteMaintenanceWindow",
    fields: ["id"],
    audience: "maintenance",
    isDestructive: true,
    isIdempotent: true,
  },
  {
    name: "undo_change",
    title: "Undo a held change",
    description: "Removes a held change before it is sent. Nothing of it was visible to anyone.",
    operation: "undoHeldChange",
    fields: ["id"],
    isDestructive: true,
    isIdempotent: true,
  },
  {
    name: "send_change_now",
    title: "Send a held change now",
    description:
      "Ends the hold of a change. It is stored and published, and people are notified. Ask a person first.",
    operation: "sendHeldChange",
    fields: ["id"],
    isIdempotent: true,
  },
  {
    name: "acknowledge_alert",
    title: "Acknowledge an alert",
    description: "Stops reminders and escalation of an alert. The problem stays open.",
    operation: "acknowledgeAlert",
    fields: ["id"],
    brief: alertFields,
    isIdempotent: true,
  },
  {
    name: "snooze_alert",
    title: "Snooze an alert",
    description: "Stops reminders and escalation of an alert until a time.",
    operation: "snoozeAlert",
    fields: ["id", "until"],
    brief: alertFields,
    isIdempotent: true,
  },
  {
    name: "check_monitor",
    title: "Check a monitor now",
    description: "Runs the check of a monitor, and returns its result once it is stored.",
    operation: "checkNow",
    fields: ["id"],
  },
];

/** All tools; read-only tools first. */
export const tools: readonly Tool[] = [...readTools, ...writeTools];
