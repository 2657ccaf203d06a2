import { Menu } from "@mantine/core";
import { type RefObject, useEffect, useState } from "react";
import { liveState } from "../../data/live.ts";
import type { Overview } from "../../data/overview.ts";
import { Icon } from "../../parts/icons.tsx";
import { type State, StateIcon, stateWords } from "../../parts/state-icon.tsx";
import type { Filters } from "./filters.ts";
import { typeWords } from "./type-words.ts";

const shown: State[] = ["up", "degraded", "down", "maintenance", "pending", "paused"];

export function FilterBar({
  overview,
  filters,
  onChange,
  search,
}: {
  overview: Overview;
  filters: Filters;
  onChange: (filters: Filters) => void;
  search: RefObject<HTMLInputElement | null>;
}) {
  const counts = new Map<State, number>();
  for (const { status } of overview.monitors) counts.set(status, (counts.get(status) ?? 0) + 1);
  const types = [...new Set(overview.monitors.map(({ type }) => type))].sort();
  const tags = [
    ...new Set([...overview.monitors, ...overview.groups].flatMap(({ tags }) => tags)),
  ].sort();
  const put = (name: keyof Filters, value: string | undefined) => {
    const { [name]: _, ...rest } = filters;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <div className="filters">
      <SearchField
        value={filters.q ?? ""}
        onChange={(q) => put("q", q || undefined)}
        box={search}
      />
      {shown.map((state) => {
        const count = counts.get(state) ?? 0;
        const on = filters.status === state;
        if (count === 0 && !on) return null;
        return (
          <button
            key={state}
            type="button"
            className="chip"
            aria-pressed={on}
            onClick={() => put("status", on ? undefined : state)}
          >
            <StateIcon state={state} size={14} />
            <span>
              <b className="num">{count}</b> {stateWords[state].toLowerCase()}
            </span>
          </button>
        );
      })}
      <span className="chip-gap" />
      <Choice
        label="Type"
        value={filters.type}
        options={types.map((type) => [type, typeWords[type] ?? type])}
        onChange={(type) => put("type", type)}
      />
      {tags.length > 0 && (
        <Choice
          label="Tag"
          value={filters.tag}
          options={tags.map((tag) => [tag, tag])}
          onChange={(tag) => put("tag", tag)}
        />
      )}
      <LiveDot />
    </div>
  );
}

/** The address follows a moment after the typing, the field at once. */
function SearchField({
  value,
  onChange,
  box,
}: {
  value: string;
  onChange: (text: string) => void;
  box: RefObject<HTMLInputElement | null>;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), 120);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label className="filter-search">
      <Icon name="search" size={14} />
      <input
        ref={box}
        type="search"
        aria-label="Filter monitors"
        placeholder="Filter"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          setText("");
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string | undefined;
  options: [value: string, label: string][];
  onChange: (value: string | undefined) => void;
}) {
  const chosen = options.find(([option]) => option === value)?.[1] ?? value;
  if (value !== undefined)
    return (
      <button type="button" className="chip" aria-pressed onClick={() => onChange(undefined)}>
        {label}: <b>{chosen}</b>
        <Icon name="close" size={12} />
      </button>
    );
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <button type="button" className="chip">
          {label}
        </button>
      </Menu.Target>
      <Menu.Dropdown className="menu-scroll">
        {options.map(([option, words]) => (
          <Menu.Item key={option} onClick={() => onChange(option)}>
            {words}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function LiveDot() {
  const state = liveState.use();
  return (
    <span className={`live-dot ${state === "live" ? "" : "live-off"}`}>
      <i />
      {state === "live" ? "Live" : state === "lost" ? "Not live" : "Connecting"}
    </span>
  );
}
