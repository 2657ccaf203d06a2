import { listKnownMonitors, useOverview } from "../../data/overview.ts";
import type { Form } from "../../components/forms/form.tsx";
import { RecordsField } from "../../components/forms/records-field.tsx";
import { t } from "../../language/text.ts";

/** Field for the affected monitors. Their order is the order of their names in messages. */
export function MonitorsField<T extends { monitorIds: string[] }>({ form }: { form: Form<T> }) {
  const { data: overview } = useOverview();
  return (
    <RecordsField
      label={t("Affected monitors")}
      maxValues={100}
      nothingFound={t("No monitors found")}
      records={overview && listKnownMonitors(overview)}
      {...form.field("monitorIds")}
    />
  );
}
