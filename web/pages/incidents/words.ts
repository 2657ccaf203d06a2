import type { IncidentStatus, IncidentSummary } from "../../../src/incidents/schema.ts";
import { t } from "../../language/text.ts";

export const severityLabels: Record<IncidentSummary["severity"], string> = {
  minor: t("Minor"),
  major: t("Major"),
  critical: t("Critical"),
};

export const incidentStatusLabels: Record<IncidentStatus, string> = {
  investigating: t("Investigating"),
  identified: t("Identified"),
  monitoring: t("Monitoring"),
  resolved: t("Resolved"),
};
