/** The filter bar of the incident list: search, status, severity and monitor. */
import type { RefObject } from "react";
import { incidentStatuses, severities } from "../../../../src/core/statuses.ts";
import { Chip, Choice, LiveDot, SearchField } from "../../../components/forms/filter-fields.tsx";
import { MonitorSelect } from "../../../components/forms/monitor-select.tsx";
import type { IncidentFilters } from "./filters.ts";
import { incidentStatusLabels, severityLabels } from "../words.ts";
import { t } from "../../../language/text.ts";

export function IncidentFilterBar({
  filters,
  isStale,
  onChange,
  search,
}: {
  filters: IncidentFilters;
  /** Whether the list does not match the filters yet. */
  isStale: boolean;
  onChange: (filters: IncidentFilters) => void;
  search: RefObject<HTMLInputElement | null>;
}) {
  /** A new filter starts at the first page. */
  const put = (name: keyof IncidentFilters, value: string | undefined) => {
    const { [name]: _, page: __, ...rest } = filters;
    onChange((value === undefined ? rest : { ...rest, [name]: value }) as IncidentFilters);
  };
  const renderChip = (open: "true" | "false", label: string) => (
    <Chip on={filters.open === open} onToggle={(on) => put("open", on ? open : undefined)}>
      {label}
    </Chip>
  );
  return (
    <div className="filters">
      <SearchField
        label={t("Filter by title")}
        value={filters.q ?? ""}
        isStale={isStale}
        onChange={(q) => put("q", q || undefined)}
        box={search}
      />
      {renderChip("true", t("Open"))}
      {renderChip("false", t("Resolved"))}
      <span className="chip-gap" />
      <Choice
        label={t("Status")}
        value={filters.status}
        options={incidentStatuses.map((status) => [status, incidentStatusLabels[status]])}
        onChange={(status) => put("status", status)}
      />
      <Choice
        label={t("Severity")}
        value={filters.severity}
        options={severities.map((severity) => [severity, severityLabels[severity]])}
        onChange={(severity) => put("severity", severity)}
      />
      <MonitorSelect value={filters.monitor} onChange={(id) => put("monitor", id)} />
      <LiveDot />
    </div>
  );
}
