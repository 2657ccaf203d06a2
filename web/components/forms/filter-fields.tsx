/** Controls of filter bars: search field, toggles, choices, and the indicator of live updates. */
import { searchBounds } from "../../../src/core/limits.ts";
import { Menu } from "@mantine/core";
import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { liveState } from "../../data/live.ts";
import { Icon } from "../display/icons.tsx";

/** A search field that reports its text 120 ms after the last key, for the URL. */
export function SearchField({
  label,
  value,
  onChange,
  box,
}: {
  label: string;
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
        aria-label={label}
        placeholder="Filter"
        value={text}
        maxLength={searchBounds.text.value}
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

/** A filter that toggles. */
export function Chip({
  on,
  onToggle,
  children,
}: {
  on: boolean;
  onToggle: (on: boolean) => void;
  children: ReactNode;
}) {
  return (
    <button type="button" className="chip" aria-pressed={on} onClick={() => onToggle(!on)}>
      {children}
    </button>
  );
}

export function Choice({
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
      <Chip on onToggle={() => onChange(undefined)}>
        {label}: <b>{chosen}</b>
        <Icon name="close" size={12} />
      </Chip>
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

export function LiveDot() {
  const state = liveState.use();
  return (
    <span className={`live-dot ${state === "live" ? "" : "live-off"}`}>
      <i />
      {state === "live" ? "Live" : state === "lost" ? "Not live" : "Connecting"}
    </span>
  );
}
