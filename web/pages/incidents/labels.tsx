/** Labels, pills and icons of incidents. */
import type { IncidentStatus, IncidentSummary } from "../../../src/incidents/schema.ts";
import { ChoiceField } from "../../components/forms/form.tsx";
import { type State, StateIcon } from "../../components/display/state-icon.tsx";
import { incidentStatusLabels, severityLabels } from "./words.ts";
import { t } from "../../language/text.ts";

type Severity = IncidentSummary["severity"];

/** Help texts for the choice of a severity. */
const severityHints: Record<Severity, string> = {
  minor: t("Something is slow or partly broken."),
  major: t("Something important does not work."),
  critical: t("Most things do not work for most people."),
};

export function SeverityField({
  value,
  onChange,
}: {
  value: Severity;
  onChange: (severity: Severity) => void;
}) {
  return (
    <ChoiceField
      label={t("Severity")}
      options={severityLabels}
      value={value}
      onChange={onChange}
      hint={severityHints[value]}
    />
  );
}

/** The choice whether status pages show an incident. */
export const VisibilityField = ({
  value,
  onChange,
}: {
  value: boolean;
  onChange: (isPublic: boolean) => void;
}) => (
  <ChoiceField
    label={t("Visibility")}
    options={{ public: t("Public"), internal: t("Internal") }}
    value={value ? "public" : "internal"}
    onChange={(next) => onChange(next === "public")}
    hint={value ? t("Status pages show it.") : t("Only people in your organization see it.")}
  />
);

const stateOf = ({ status, severity }: Pick<IncidentSummary, "status" | "severity">): State =>
  status === "resolved" ? "up" : severity === "minor" ? "degraded" : "down";

/** Icon of an incident: a check mark if resolved, a triangle if minor, otherwise an octagon. */
export function IncidentIcon({
  incident,
}: {
  incident: Pick<IncidentSummary, "status" | "severity">;
}) {
  return <StateIcon state={stateOf(incident)} size={16} />;
}

/** The severity as a label. It is colored only while the incident is open. */
export function SeverityPill({
  severity,
  isOver = false,
}: {
  severity: Severity;
  isOver?: boolean;
}) {
  const tone = isOver ? "" : severity === "minor" ? "pill-degraded" : "pill-down";
  return <span className={`pill ${tone}`}>{severityLabels[severity]}</span>;
}

export function StatusPill({ status }: { status: IncidentStatus }) {
  return (
    <span className={`pill ${status === "resolved" ? "pill-up" : "pill-accent"}`}>
      {incidentStatusLabels[status]}
    </span>
  );
}
