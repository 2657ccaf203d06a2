/** The filter bar of the Monitors page: search, states, types and tags. */
import type { RefObject } from "react";
import { countAllStates, isPartial, type Overview } from "../../../data/overview.ts";
import { formatCount } from "../../../components/display/format.ts";
import {
  Chip,
  Choice,
  type ChoiceOption,
  LiveDot,
  SearchField,
} from "../../../components/forms/filter-fields.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { type State, StateIcon, stateWords } from "../../../components/display/state-icon.tsx";
import type { Filters } from "./filters.ts";
import { familyOf, orderedTypes } from "../type-families.ts";
import { getTypeName } from "../type-names.ts";
import { t } from "../../../language/text.ts";

const chipStates: State[] = ["down", "degraded", "maintenance", "pending", "paused", "up"];

export function FilterBar({
  overview,
  filters,
  isStale,
  onChange,
  onPast,
  search,
}: {
  overview: Overview;
  filters: Filters;
  /** Whether the list does not match the filters yet. */
  isStale: boolean;
  onChange: (filters: Filters) => void;
  /** Shows a past time. Undefined while the page shows one. */
  onPast: (() => void) | undefined;
  search: RefObject<HTMLInputElement | null>;
}) {
  const types = listTypes(overview);
  const tags = listTags(overview);
  const put = (name: keyof Filters, value: string | undefined) => {
    const { [name]: _, ...rest } = filters;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <div className="filters">
      <SearchField
        label={t("Filter monitors")}
        value={filters.q ?? ""}
        isStale={isStale}
        onChange={(q) => put("q", q || undefined)}
        box={search}
      />
      <StateChips
        counts={countAllStates(overview)}
        chosen={filters.status}
        onChange={(state) => put("status", state)}
      />
      <span className="chip-gap" />
      <Choice
        label={t("Type")}
        value={filters.type}
        options={types}
        onChange={(type) => put("type", type)}
      />
      {tags.length > 0 && (
        <Choice
          label={t("Tag")}
          value={filters.tag}
          options={tags.map((tag) => [tag, tag])}
          onChange={(tag) => put("tag", tag)}
        />
      )}
      {onPast !== undefined && <PresentControls onPast={onPast} />}
    </div>
  );
}

/** Whether the page is live, and the way to a past time. */
const PresentControls = ({ onPast }: { onPast: () => void }) => (
  <>
    <button
      type="button"
      className="chip past-chip"
      aria-label={t("Show a past time")}
      onClick={onPast}
    >
      <Icon name="clock" size={14} />
    </button>
    <LiveDot />
  </>
);

/** Types that occur, by family, with their numbers of monitors if all monitors are loaded. */
function listTypes(overview: Overview): ChoiceOption[] {
  const { monitors, totals } = overview;
  const counts = new Map<string, number>();
  for (const { type } of monitors) counts.set(type, (counts.get(type) ?? 0) + 1);
  const types = new Set([...counts.keys(), ...(totals?.types ?? [])]);
  const known = orderedTypes.filter((type) => types.has(type));
  return known.map((type) => {
    const count = isPartial(overview) ? undefined : counts.get(type);
    return [type, getTypeName(type), { group: familyOf(type), ...(count && { count }) }];
  });
}

const listTags = ({ monitors, groups, totals }: Overview) =>
  [
    ...new Set([...monitors, ...groups, { tags: totals?.tags ?? [] }].flatMap(({ tags }) => tags)),
  ].sort();

/** One chip per state that occurs, with its number of monitors. */
const StateChips = ({
  counts,
  chosen,
  onChange,
}: {
  counts: ReturnType<typeof countAllStates>;
  chosen: string | undefined;
  onChange: (state: State | undefined) => void;
}) =>
  chipStates.map((state) => {
    const count = counts[state] ?? 0;
    const isChosen = chosen === state;
    if (count === 0 && !isChosen) return null;
    return (
      <Chip key={state} on={isChosen} onToggle={(on) => onChange(on ? state : undefined)}>
        <StateIcon state={state} size={14} />
        <span>
          <b className="num">{formatCount(count)}</b> {stateWords[state]}
        </span>
      </Chip>
    );
  });
