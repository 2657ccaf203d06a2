import { MultiSelect } from "@mantine/core";
import { useOverview } from "../../data/overview.ts";
import type { Form } from "../../components/forms/form.tsx";

/** Field for the affected monitors. Their order is the order of their names in messages. */
export function MonitorsField<T extends { monitorIds: string[] }>({ form }: { form: Form<T> }) {
  const { data: overview } = useOverview();
  return (
    <MultiSelect
      label="Affected monitors"
      searchable
      clearable
      limit={100}
      maxValues={100}
      nothingFoundMessage="No monitors found"
      data={(overview?.monitors ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      {...form.field("monitorIds")}
    />
  );
}
