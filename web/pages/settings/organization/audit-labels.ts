import type { AuditAction, auditVerbs } from "../../../../src/events/catalogue.ts";
import type { ActorType } from "../../../../src/core/statuses.ts";
import type { AuditEntry } from "../../../../src/operations/audit-log/schema.ts";
import { describeAction } from "../../../../src/operations/audit-log/sentence-rules.ts";

/** Labels of the subjects that the audit log can be filtered by. */
export const nounLabels: Record<keyof typeof auditVerbs, string> = {
  monitor: "Monitors",
  group: "Groups",
  incident: "Incidents",
  "incident-template": "Incident templates",
  maintenance: "Maintenance",
  schedule: "On-call schedules",
  alert: "Alerts",
  "alert-channel": "Alert channels",
  "alert-source": "Alert sources",
  "escalation-policy": "Escalation policies",
  "contact-method": "Contact methods",
  "status-page": "Status pages",
  subscriber: "Subscribers",
  person: "People and sign-in",
  "identity-provider": "Sign-in providers",
  invitation: "Invitations",
  "api-key": "API keys",
  settings: "Settings",
  organization: "Organization",
  backup: "Backups",
};

export const actorLabels: Record<ActorType, string> = {
  person: "People",
  "api-key": "API keys",
  "command-line": "Command line",
  monitor: "Monitors",
  visitor: "Visitors",
  link: "Links in messages",
  system: "Signalbox itself",
};

const pageOf: Record<string, string> = {
  monitor: "/monitors",
  incident: "/incidents",
  maintenance: "/maintenance",
  alert: "/alerts",
  "alert-channel": "/alert-channels",
  "alert-source": "/on-call/alert-sources",
  "status-page": "/status-pages",
  schedule: "/on-call",
};

const listOf: Record<string, string> = {
  "escalation-policy": "/on-call",
  "contact-method": "/settings/contact-methods",
  group: "/monitors",
  "incident-template": "/settings/incident-templates",
  person: "/settings/people",
  invitation: "/settings/people",
  "api-key": "/settings/api-keys",
  organization: "/settings/organization",
};

/** Path of the changed record's page, or of the list that contains it; null if it was deleted. */
export function pathOfSubject({
  action,
  subjectId,
  subjectExists,
}: Pick<AuditEntry, "action" | "subjectId" | "subjectExists">): string | null {
  const noun = action.split(".")[0] ?? "";
  if (!subjectExists) return null;
  const page = pageOf[noun];
  return page === undefined ? (listOf[noun] ?? null) : `${page}/${subjectId}`;
}

/** Label of an action in the filter, such as “Created the monitor …”. */
export function labelOfAction(action: AuditAction): string {
  const actor = { type: action.startsWith("subscriber.asked") ? "visitor" : "person", id: null };
  const phrase = describeAction({
    action,
    actor: { ...actor, name: "" },
    fields: [],
    subjectName: "…",
  }).join("");
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}`;
}
