import type {
  auditActors,
  AuditEntry,
  auditNouns,
} from "../../../../src/operations/audit-log/schema.ts";

/** Labels of the subjects that the audit log can be filtered by. */
export const nounLabels: Record<(typeof auditNouns)[number], string> = {
  monitor: "Monitors",
  group: "Groups",
  incident: "Incidents",
  "incident-template": "Incident templates",
  maintenance: "Maintenance",
  "alert-channel": "Alert channels",
  "status-page": "Status pages",
  subscriber: "Subscribers",
  person: "People and sign-in",
  invitation: "Invitations",
  "api-key": "API keys",
  settings: "Settings",
  organization: "Organization",
  backup: "Backups",
};

export const actorLabels: Record<(typeof auditActors)[number], string> = {
  person: "People",
  "api-key": "API keys",
  "command-line": "Command line",
  monitor: "Monitors",
  visitor: "Visitors",
};

/** Path of the changed record's page; null if it has none or was deleted. */
export function pathOfSubject({ action, subjectId, subjectName }: AuditEntry): string | null {
  const [noun = "", verb] = action.split(".");
  const list = { monitor: "monitors", incident: "incidents", "alert-channel": "alert-channels" }[
    noun
  ];
  if (list === undefined || subjectName === null || verb === "deleted") return null;
  return `/${list}/${subjectId}`;
}
