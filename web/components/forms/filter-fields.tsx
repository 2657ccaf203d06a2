/** Controls of filter bars: search field, toggles, choices, and the indicator of live updates. */
import { maxSearchLength } from "../../data/search-limit.ts";
import { Menu } from "@mantine/core";
import {
  Fragment,
  type ReactNode,
  type RefObject,
  useEffect,
  useReducer,
  useRef,
  useState,
} from "react";
import { liveState, staleSince } from "../../data/live.ts";
import { formatCount } from "../display/format.ts";
import { Icon } from "../display/icons.tsx";
import { Time } from "../display/time.tsx";
import { LazyMenu } from "../menus.tsx";
import { findFirstRowBelow } from "../row-keys.ts";
import { t, tNode } from "../../language/text.ts";

/**
 * A search field that reports its text 120 ms after the last key, for the URL. ↓ focuses the first
 * row below the field, and Enter opens it. Escape clears the field, or leaves an empty one.
 */
export function SearchField({
  label,
  value,
  isStale = false,
  onChange,
  box,
}: {
  label: string;
  value: string;
  /** Whether the rows below do not match `value` yet. */
  isStale?: boolean;
  onChange: (text: string) => void;
  box: RefObject<HTMLInputElement | null>;
}) {
  const { text, setText, report } = useReportedText(value, onChange);
  const goToFirst = useFirstRow(box, text === value && !isStale);
  return (
    <label className="filter-search">
      <Icon name="search" size={14} />
      <input
        ref={box}
        type="search"
        aria-label={label}
        placeholder={t("Filter")}
        value={text}
        maxLength={maxSearchLength}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && text === "") event.currentTarget.blur();
          if (event.key === "Escape") setText("");
          const opens = event.key === "Enter" && text.trim() !== "";
          if (!opens && event.key !== "ArrowDown") return;
          event.preventDefault();
          if (text !== value) report(text);
          goToFirst(opens ? "open" : "focus");
        }}
      />
    </label>
  );
}

/** The text of a field, reported after a pause in typing. `value` follows later, when the URL has changed. */
function useReportedText(value: string, onChange: (text: string) => void) {
  const [text, setText] = useState(value);
  /** Texts that `value` has not reached yet. They must not replace what was typed since. */
  const reported = useRef<string[]>([]);
  const latest = useRef(onChange);
  latest.current = onChange;
  function report(wanted: string) {
    if (reported.current.at(-1) !== wanted) reported.current.push(wanted);
    latest.current(wanted);
  }
  useEffect(() => {
    const at = reported.current.lastIndexOf(value);
    reported.current = at === -1 ? [] : reported.current.slice(at + 1);
    if (at === -1) setText(value);
  }, [value]);
  // A timer that outlives its report would take the person back from a row that Enter opened.
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => report(text), 120);
    return () => clearTimeout(timer);
  }, [text, value]);
  return { text, setText, report };
}

/** Opens or focuses the first row below the field, as soon as the rows match the text. */
function useFirstRow(box: RefObject<HTMLInputElement | null>, isSettled: boolean) {
  const nextMove = useRef<"open" | "focus" | null>(null);
  const [, draw] = useReducer((times: number) => times + 1, 0);
  useEffect(() => {
    if (nextMove.current === null || !isSettled || box.current === null) return;
    const row = findFirstRowBelow(box.current);
    if (nextMove.current === "open") row?.click();
    else row?.focus();
    nextMove.current = null;
  });
  return (action: "open" | "focus") => {
    nextMove.current = action;
    draw();
  };
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

/** An option, with the heading of its group and a number. */
export type ChoiceOption = [
  value: string,
  label: string,
  more?: { group?: string; count?: number },
];

export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string | undefined;
  options: ChoiceOption[];
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
    <LazyMenu
      position="bottom-start"
      classNames={{ dropdown: "menu-scroll" }}
      button={
        <button type="button" className="chip">
          {label}
        </button>
      }
    >
      {() => <ChoiceItems options={options} onChange={onChange} />}
    </LazyMenu>
  );
}

/** The options by group. Typing the start of a label focuses it. */
function ChoiceItems({
  options,
  onChange,
}: {
  options: ChoiceOption[];
  onChange: (value: string) => void;
}) {
  const groups = Map.groupBy(options, ([, , more]) => more?.group);
  return [...groups].map(([group, members]) => (
    <Fragment key={group ?? ""}>
      {group !== undefined && <Menu.Label>{group}</Menu.Label>}
      {members.map(([option, words, more]) => (
        <Menu.Item
          key={option}
          onClick={() => onChange(option)}
          rightSection={
            more?.count !== undefined && (
              <span className="faint num">{formatCount(more.count)}</span>
            )
          }
        >
          {words}
        </Menu.Item>
      ))}
    </Fragment>
  ));
}

export function LiveDot() {
  const state = liveState.use();
  const stale = staleSince.use();
  const isLive = state === "live" && stale === null;
  return (
    <span className={`live-dot ${isLive ? "" : "live-off"}`}>
      <i />
      {stale !== null ? (
        <>
          {tNode("Stale since {time}", {
            time: <Time at={new Date(stale).toISOString()} as="clock" />,
          })}
        </>
      ) : isLive ? (
        t("Live")
      ) : (
        t("Connecting")
      )}
    </span>
  );
}
