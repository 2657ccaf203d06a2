/** The search field of the command palette, its results and keyboard control. */
import { useEffect, useId, useRef, useState } from "react";
import { palette } from "../components/open-dialog.ts";
import { Icon } from "../components/display/icons.tsx";
import { KeyHint } from "../components/page.tsx";
import type { Command } from "./palette-rules.ts";
import { t } from "../language/text.ts";

export type SearchField = { text: string; onText: (text: string) => void };

/** The search field and its results. `found` is null while the commands are loading. */
export function Finder({
  text,
  onText,
  found,
}: SearchField & { found: readonly Command[] | null }) {
  const [at, setAt] = useState(0);
  const id = useId();
  const results = found ?? [];
  useEffect(() => setAt(0), [text]);

  function run(command: Command | undefined) {
    if (command === undefined) return;
    palette.set(false);
    // Runs after the closing dialog has returned the focus to the page.
    setTimeout(command.run);
  }

  function onKeyDown(event: React.KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && results.length > 0) {
      event.preventDefault();
      setAt((current) => (current + step + results.length) % results.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      run(results[at]);
    }
  }

  return (
    <div className="palette">
      <input
        data-autofocus
        autoFocus
        className="palette-input"
        role="combobox"
        aria-expanded={results.length > 0}
        {...(results.length > 0 && { "aria-controls": id })}
        aria-activedescendant={results[at] && `${id}-${at}`}
        aria-label={t("Search and commands")}
        placeholder={t("Search or jump to…")}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {results.length > 0 && (
        <Results id={id} commands={results} at={at} onPoint={setAt} onRun={run} />
      )}
      <p className="palette-none" role="status">
        {found?.length === 0 && t("No results. Search by name, address, tag, person or action.")}
      </p>
    </div>
  );
}

function Results({
  id,
  commands,
  at,
  onPoint,
  onRun,
}: {
  id: string;
  commands: readonly Command[];
  at: number;
  onPoint: (index: number) => void;
  onRun: (command: Command) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div className="palette-list" role="listbox" id={id} aria-label={t("Results")} ref={list}>
      {commands.map((command, index) => (
        <div
          key={command.key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          className="palette-item"
          onPointerMove={() => onPoint(index)}
          onClick={() => onRun(command)}
        >
          {typeof command.icon === "string" ? <Icon name={command.icon} /> : command.icon}
          <span className="ellipsis">{command.label}</span>
          {command.keys !== undefined && (
            <span className="ml-auto not-phone">
              <KeyHint keys={command.keys} />
            </span>
          )}
          {command.hint !== undefined && (
            <span className="ml-auto text-xs faint nowrap">{command.hint}</span>
          )}
        </div>
      ))}
    </div>
  );
}
