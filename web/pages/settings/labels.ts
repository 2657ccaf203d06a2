/** Names of roles, and of the states that templates of incidents set. */
import type { Role } from "../../../src/core/roles.ts";
import type { incidentStatuses, severities } from "../../../src/core/statuses.ts";
import { t } from "../../language/text.ts";

export const roleNames: Record<Role, string> = {
  viewer: t("viewer"),
  member: t("member"),
  admin: t("admin"),
  owner: t("owner"),
};

/** Names of roles as options of a field. */
export const roleLabels: Record<Role, string> = {
  viewer: t("Viewer"),
  member: t("Member"),
  admin: t("Admin"),
  owner: t("Owner"),
};

export const statusLabels: Record<(typeof incidentStatuses)[number], string> = {
  investigating: t("Investigating"),
  identified: t("Identified"),
  monitoring: t("Monitoring"),
  resolved: t("Resolved"),
};

export const severityLabels: Record<(typeof severities)[number], string> = {
  minor: t("Minor"),
  major: t("Major"),
  critical: t("Critical"),
};
