/** Fields for the escalation policy and the dependencies of a monitor or group. */
import { Select } from "@mantine/core";
import { monitorBounds } from "../../../../src/core/limits.ts";
import { useEscalationPolicies } from "../../../data/escalation-policies.ts";
import { RecordsField } from "../../../components/forms/records-field.tsx";
import { t } from "../../../language/text.ts";

type PolicyProps = {
  value: string | null;
  onChange: (id: string | null) => void;
  error: string | undefined;
  description?: string;
  /** Label of no policy. By default, it names the default policy. */
  none?: string;
};

/** The escalation policy. Hidden while the organization has none. */
export function PolicyField({ value, onChange, none, ...field }: PolicyProps) {
  const { data: policies = [] } = useEscalationPolicies();
  if (policies.length === 0) return null;
  const defaultPolicy = policies.find((policy) => policy.default);
  const usualLabel =
    defaultPolicy === undefined ? t("None") : t("Default ({name})", { name: defaultPolicy.name });
  return (
    <Select
      label={t("Escalation policy")}
      searchable
      allowDeselect={false}
      data={[
        { value: "", label: none ?? usualLabel },
        ...policies.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={value ?? ""}
      onChange={(next) => onChange(next || null)}
      {...field}
    />
  );
}

type DependsOnProps = Pick<
  Parameters<typeof RecordsField>[0],
  "label" | "description" | "records" | "value" | "onChange" | "error"
>;

/** The monitors on which a monitor or group depends. */
export const DependsOnField = (props: DependsOnProps) => (
  <RecordsField
    nothingFound={t("No monitors found")}
    maxValues={monitorBounds.dependencies.value}
    {...props}
  />
);
