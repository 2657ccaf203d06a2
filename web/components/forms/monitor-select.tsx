import { Select } from "@mantine/core";
import { useOverview } from "../../data/overview.ts";
import { t } from "../../language/text.ts";

/** A filter by monitor. It is hidden if there is no monitor. */
export function MonitorSelect({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}) {
  const { data: overview } = useOverview();
  const monitors = overview?.monitors ?? [];
  if (monitors.length === 0) return null;
  return (
    <Select
      className="chip-select"
      aria-label={t("Monitor")}
      placeholder={t("Monitor")}
      size="xs"
      radius="xl"
      searchable
      clearable
      limit={100}
      nothingFoundMessage={t("No monitors found")}
      data={monitors.map(({ id, name }) => ({ value: id, label: name }))}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
    />
  );
}
