/** The field for the impact of an incident on each monitor. */
import { Input, Select } from "@mantine/core";
import { type ImpactLevel, incidentImpacts } from "../../../src/core/statuses.ts";
import type { Incident } from "../../../src/incidents/schema.ts";
import { FoldedSection } from "../../components/forms/form.tsx";
import { listKnownMonitors, useOverview } from "../../data/overview.ts";
import { t } from "../../language/text.ts";

type Impacts = Incident["impacts"];
type Values = { monitorIds: readonly string[]; impacts: Impacts };

export const impactLabels: Record<ImpactLevel, string> = {
  degraded: t("Degraded"),
  "partial-outage": t("Partial outage"),
  "major-outage": t("Major outage"),
};

/** Returns the values without impacts on monitors that are no longer affected. */
export const dropUnaffected = <T extends Values>(values: T): T => ({
  ...values,
  impacts: values.impacts.filter(({ monitorId }) => values.monitorIds.includes(monitorId)),
});

/** Field for the states that status pages show for the affected monitors. */
export function ImpactsField({
  monitorIds,
  value,
  onChange,
  error,
}: {
  monitorIds: readonly string[];
  value: Impacts;
  onChange: (impacts: Impacts) => void;
  error?: string | undefined;
}) {
  const { data: overview } = useOverview();
  if (monitorIds.length === 0 || overview === undefined) return null;
  const names = new Map(listKnownMonitors(overview).map(({ id, name }) => [id, name]));
  const set = (monitorId: string, impact: ImpactLevel | "") => {
    const others = value.filter((one) => one.monitorId !== monitorId);
    onChange(impact === "" ? others : [...others, { monitorId, impact }]);
  };
  const nameOf = (id: string) => names.get(id) ?? t("Deleted monitor");
  return (
    <FoldedSection
      title={t("Shown state")}
      summary={
        value
          .map(({ monitorId, impact }) => `${nameOf(monitorId)}: ${impactLabels[impact]}`)
          .join(", ") || t("As checks find it")
      }
      open={value.length > 0}
      invalid={error !== undefined}
    >
      <Input.Wrapper
        description={t(
          "On status pages while the incident is open, unless a check finds a worse one.",
        )}
        error={error}
        inputWrapperOrder={["description", "error", "input"]}
      >
        <div className="form-section mt-6">
          {monitorIds.map((id) => (
            <Select
              key={id}
              size="xs"
              label={nameOf(id)}
              data={[
                { value: "", label: t("Its own state") },
                ...incidentImpacts.map((one) => ({ value: one, label: impactLabels[one] })),
              ]}
              value={value.find(({ monitorId }) => monitorId === id)?.impact ?? ""}
              onChange={(next) => set(id, (next ?? "") as ImpactLevel | "")}
              allowDeselect={false}
            />
          ))}
        </div>
      </Input.Wrapper>
    </FoldedSection>
  );
}
