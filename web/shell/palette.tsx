/** The dialog of the command palette: search field, results and keyboard control. */
import { Modal } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { palette } from "../components/open-dialog.ts";
import { Icon } from "../components/display/icons.tsx";
import { KeyHint } from "../components/page.tsx";
import { useCommands } from "./commands.tsx";
import { type Command, rankCommands } from "./palette-rules.ts";
import { recentRecords } from "./recent-records.ts";

/** The command palette: finds pages, records and actions by typing. */
export function Palette({ onHelp }: { onHelp: () => void }) {
  const opened = palette.use();
  return (
    <Modal
      opened={opened}
      onClose={() => palette.set(false)}
      withCloseButton={false}
      padding={0}
      size={600}
      yOffset="12vh"
      transitionProps={{ duration: 0 }}
      attributes={{ content: { "aria-label": "Search and commands" } }}
    >
      {opened && <Finder onHelp={onHelp} />}
    </Modal>
  );
}

function Finder({ onHelp }: { onHelp: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const id = useId();
  const recent = recentRecords.use();
  const { id: openId } = useParams({ strict: false });
  const recentIds = useMemo(() => [...recent].filter((one) => one !== openId), [recent, openId]);
  // Also loads the recent records.
  const isSearching = text.trim().length > 1 || recentIds.length > 0;
  const goTo = (href: string) => void navigate({ href });
  const commands = useCommands({ text, isSearching, onHelp, goTo });
  const found = useMemo(() => rankCommands(commands, text, recentIds), [commands, text, recentIds]);
  useEffect(() => setAt(0), [text]);

  function run(command: Command | undefined) {
    if (command === undefined) return;
    palette.set(false);
    // Runs after the closing dialog has returned the focus to the page.
    setTimeout(command.run);
  }

  function onKeyDown(event: React.KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setAt((current) => (current + step + found.length) % found.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      run(found[at]);
    }
  }

  return (
    <div className="palette">
      <input
        data-autofocus
        autoFocus
        className="palette-input"
        role="combobox"
        aria-expanded={found.length > 0}
        {...(found.length > 0 && { "aria-controls": id })}
        aria-activedescendant={found[at] && `${id}-${at}`}
        aria-label="Search and commands"
        placeholder="Search or jump to…"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {found.length > 0 && <Results id={id} commands={found} at={at} onPoint={setAt} onRun={run} />}
      <p className="palette-none" role="status">
        {found.length === 0 && "No results. Search by name, address, tag, person or action."}
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
    <div className="palette-list" role="listbox" id={id} aria-label="Results" ref={list}>
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
