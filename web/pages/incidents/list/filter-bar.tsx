import { Select } from "@mantine/core";
import type { RefObject } from "react";
import { incidentStatuses, severities } from "../../../../src/core/statuses.ts";
import { useOverview } from "../../../data/overview.ts";
import { Chip, Choice, LiveDot, SearchField } from "../../../components/forms/filter-fields.tsx";
import type { IncidentFilters } from "./filters.ts";
import { capitalized } from "../../../../src/core/text/words.ts";

export function IncidentFilterBar({
  filters,
  onChange,
  search,
}: {
  filters: IncidentFilters;
  onChange: (filters: IncidentFilters) => void;
  search: RefObject<HTMLInputElement | null>;
}) {
  const { data: overview } = useOverview();
  /** Another list begins at its first page. */
  const put = (name: keyof IncidentFilters, value: string | undefined) => {
    const { [name]: _, page: __, ...rest } = filters;
    onChange((value === undefined ? rest : { ...rest, [name]: value }) as IncidentFilters);
  };
  const chip = (open: "true" | "false", label: string) => (
    <Chip on={filters.open === open} onToggle={(on) => put("open", on ? open : undefined)}>
      {label}
    </Chip>
  );
  const monitors = overview?.monitors ?? [];
  return (
    <div className="filters">
      <SearchField
        label="Filter by title"
        value={filters.q ?? ""}
        onChange={(q) => put("q", q || undefined)}
        box={search}
      />
      {chip("true", "Open")}
      {chip("false", "Resolved")}
      <span className="chip-gap" />
      <Choice
        label="Status"
        value={filters.status}
        options={incidentStatuses.map((status) => [status, capitalized(status)])}
        onChange={(status) => put("status", status)}
      />
      <Choice
        label="Severity"
        value={filters.severity}
        options={severities.map((severity) => [severity, capitalized(severity)])}
        onChange={(severity) => put("severity", severity)}
      />
      {monitors.length > 0 && (
        <Select
          className="chip-select"
          aria-label="Monitor"
          placeholder="Monitor"
          size="xs"
          radius="xl"
          searchable
          clearable
          limit={100}
          nothingFoundMessage="No monitors found"
          data={monitors.map(({ id, name }) => ({ value: id, label: name }))}
          value={filters.monitor ?? null}
          onChange={(id) => put("monitor", id ?? undefined)}
        />
      )}
      <LiveDot />
    </div>
  );
}
