/** Labels of the audit log's subjects, actors and actions, and links to the changed records. */
import type { AuditAction, auditVerbs } from "../../../../src/events/catalog.ts";
import type { ActorType } from "../../../../src/core/statuses.ts";
import type { AuditEntry } from "../../../../src/operations/audit-log/schema.ts";
import { describeAction } from "../../../../src/operations/audit-log/sentence-rules.ts";
import { t } from "../../../language/text.ts";

/** Labels of the subjects that the audit log can be filtered by. */
export const nounLabels: Record<keyof typeof auditVerbs, string> = {
  monitor: t("Monitors"),
  group: t("Groups"),
  incident: t("Incidents"),
  "incident-template": t("Incident templates"),
  maintenance: t("Maintenance"),
  schedule: t("On-call schedules"),
  alert: t("Alerts"),
  "alert-channel": t("Alert channels"),
  "alert-source": t("Alert sources"),
  "escalation-policy": t("Escalation policies"),
  "contact-method": t("Contact methods"),
  "status-page": t("Status pages"),
  subscriber: t("Subscribers"),
  person: t("People and sign-in"),
  "identity-provider": t("Sign-in providers"),
  invitation: t("Invitations"),
  "api-key": t("API keys"),
  settings: t("Settings"),
  organization: t("Organization"),
  backup: t("Backups"),
};

export const actorLabels: Record<ActorType, string> = {
  person: t("People"),
  "api-key": t("API keys"),
  "command-line": t("Command line"),
  monitor: t("Monitors"),
  visitor: t("Visitors"),
  link: t("Links in messages"),
  system: t("Signalbox itself"),
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
export function findSubjectPath({
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
export function getActionLabel(action: AuditAction): string {
  const actor = { type: action.startsWith("subscriber.asked") ? "visitor" : "person", id: null };
  const phrase = describeAction({
    action,
    actor: { ...actor, name: "" },
    fields: [],
    subjectName: "…",
  }).join("");
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}`;
}
