/** Tabs that show one of several panels, with arrow keys between them. */
import type { KeyboardEvent } from "react";
import { Icon, type IconName } from "./display/icons.tsx";

type Tab<T extends string> = { value: T; label: string; icon: IconName };

const buildPartId = (name: string, value: string, part: "tab" | "panel") =>
  `${name}-${value}-${part}`;

/** The row of tabs. `name` identifies it within the page. */
export function TabRow<T extends string>({
  name,
  label,
  tabs,
  value,
  onChange,
}: {
  name: string;
  label: string;
  tabs: readonly Tab<T>[];
  value: T;
  onChange: (value: T) => void;
}) {
  function move(event: KeyboardEvent) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex((one) => one.value === value);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.value);
    document.getElementById(buildPartId(name, next.value, "tab"))?.focus();
  }
  return (
    <div role="tablist" aria-label={label} className="tab-row" onKeyDown={move}>
      {tabs.map((one) => (
        <button
          key={one.value}
          type="button"
          role="tab"
          id={buildPartId(name, one.value, "tab")}
          aria-controls={buildPartId(name, one.value, "panel")}
          aria-selected={one.value === value}
          tabIndex={one.value === value ? 0 : -1}
          onClick={() => onChange(one.value)}
        >
          <Icon name={one.icon} size={15} />
          {one.label}
        </button>
      ))}
    </div>
  );
}

/** Props of the panel of a tab. */
export const tabPanelOf = (name: string, value: string, selected: string) => ({
  role: "tabpanel",
  id: buildPartId(name, value, "panel"),
  "aria-labelledby": buildPartId(name, value, "tab"),
  hidden: value !== selected,
});
