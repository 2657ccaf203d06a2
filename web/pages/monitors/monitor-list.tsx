import { useMediaQuery } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react";
import { openDialog } from "../../components/dialogs.ts";
import { whenIdle } from "../../data/chunks.ts";
import { isSecondKey, useShortcuts } from "../../components/shortcuts.ts";
import { muteMonitor, pauseMonitor, stepGroup, stepMonitor } from "./actions.ts";
import { dragOver, drop } from "./dragging.ts";
import { GroupHead } from "./group-head.tsx";
import { folds, selection } from "./list-state.ts";
import { hasReason, MonitorRow } from "./monitor-row.tsx";
import type { Item } from "./rows.ts";

/** Rows are as high as this says, so nothing has to be measured; a phone's have their bars below. */
const heights = { head: 41, "empty-group": 44 };
const height = 44;
/** A reason has two lines there. */
const phone = { query: "(max-width: 760px)", row: 76, reasoned: 91 };
const gap = 12;
/** Rows that are read before one scrolls to them. */
const rowsAhead = 100;
/** Rows that are drawn beyond what is in sight, once the first picture is painted. */
const overscan = 12;
const steps: Record<string, 1 | -1> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Folders and rows as one long list, of which only what is in sight is drawn. */
export function MonitorList({
  items,
  mayWrite,
  mayMove,
  onUnread,
}: {
  items: readonly Item[];
  mayWrite: boolean;
  mayMove: boolean;
  /** So many rows of a folder are in sight, or soon will be. */
  onUnread: (groupId: string | null, until: number) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [painted, setPainted] = useState(false);
  const [current, setCurrent] = useState<string | null>(null);
  const [, draw] = useReducer((times: number) => times + 1, 0);
  const navigate = useNavigate();
  const focusing = useRef<string | null>(null);
  const hovered = useRef<string | null>(null);
  const narrow = useMediaQuery(phone.query, undefined, { getInitialValueInEffect: false });
  useEffect(() => {
    // What stands above it comes and goes.
    const place = () => setTop(list.current?.offsetTop ?? 0);
    const observer = new ResizeObserver(place);
    const page = list.current?.closest("main");
    if (page) observer.observe(page);
    place();
    return () => observer.disconnect();
  }, []);
  useEffect(() => void whenIdle().then(() => setPainted(true)), []);
  const getItemKey = useCallback(
    (index: number) => items[index]?.key ?? index,
    // Also what has other heights from now on is asked for anew.
    [items, narrow],
  );
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: (index) => {
      const item = items[index];
      if (item === undefined) return 0;
      const isRow = item.kind === "row" || item.kind === "unread-row";
      const isReasoned = narrow && item.kind === "row" && hasReason(item.monitor);
      const rowHeight = isReasoned ? phone.reasoned : narrow ? phone.row : height;
      return (isRow ? rowHeight : heights[item.kind]) + (item.last ? gap : 0);
    },
    getItemKey,
    initialRect: { width: innerWidth, height: innerHeight },
    overscan: painted ? overscan : 0,
    scrollMargin: top,
  });
  const inSight = virtual.getVirtualItems();
  useEffect(() => {
    const last = inSight.at(-1)?.index ?? 0;
    const ahead = items.slice(inSight[0]?.index ?? 0, last + rowsAhead);
    const until = new Map<string | null, number>();
    for (const item of ahead)
      if (item.kind === "unread-row") until.set(item.groupId, item.index + 1);
    for (const [groupId, index] of until) onUnread(groupId, index);
  }, [items, inSight[0]?.index, inSight.at(-1)?.index]);
  const order = useMemo(
    () => items.flatMap((item) => (item.kind === "row" ? [item.monitor.id] : [])),
    [items],
  );
  const active = items.some(({ key }) => key === current) ? current : (items[0]?.key ?? null);
  const selected = selection.use();

  const focus = useCallback((key: string) => {
    focusing.current = key;
    setCurrent(key);
    // Also where it was the current one already: the focus is given by what is drawn next.
    draw();
  }, []);

  useEffect(() => {
    const key = focusing.current;
    const index = items.findIndex((item) => item.key === key);
    if (key === null || index === -1) return;
    const element = elementOf(list.current, key);
    if (element === null) return virtual.scrollToIndex(index, { align: "auto" });
    focusing.current = null;
    element.focus({ preventScroll: false });
  });

  function onKeyDown(event: React.KeyboardEvent) {
    const at = items.findIndex(({ key }) => key === active);
    const item = items[at];
    if (item === undefined || event.metaKey || event.ctrlKey || isSecondKey()) return;
    // Fields and buttons inside a row keep their own keys.
    if (!(event.target as HTMLElement).matches("[data-item-focus]")) return;
    const step = steps[event.key] ?? 0;
    const done = step === 0 ? command(event.key.toLowerCase(), item) : move(step, at, item);
    if (done) event.preventDefault();

    function move(step: 1 | -1, at: number, item: Item): boolean {
      if (!event.altKey) {
        const next = items[at + step];
        if (next?.kind === "unread-row") return true;
        if (next?.kind === "empty-group") focus(items[at + 2 * step]?.key ?? next.key);
        else if (next !== undefined) focus(next.key);
        return true;
      }
      if (mayMove && mayWrite) shift(item, step);
      return true;
    }
  }

  /** From anywhere on the page: to where one was, or below or above what the pointer is on. */
  const enter = (step: 1 | -1) => () => {
    const from = hovered.current ?? active;
    const at = items.findIndex(({ key }) => key === from);
    const next = items[hovered.current === null ? at : at + step] ?? items[at];
    if (next !== undefined && next.kind !== "unread-row") focus(next.key);
  };
  useShortcuts({
    ArrowDown: enter(1),
    j: enter(1),
    ArrowUp: enter(-1),
    k: enter(-1),
    x: () => {
      const item = items.find(({ key }) => key === hovered.current);
      if (item?.kind === "row" && mayWrite) selection.toggle(item.monitor.id);
    },
  });

  function shift(item: Item, step: 1 | -1) {
    if (item.kind === "row") stepMonitor(item.monitor.id, step);
    else if (item.kind === "head" && item.group !== null) stepGroup(item.group.id, step);
    focus(item.key);
  }

  function command(key: string, item: Item): boolean {
    if (item.kind === "head" && (key === "enter" || key === " ")) {
      folds.toggle(item.group?.id ?? "ungrouped");
      return true;
    }
    if (item.kind === "head" && key === "e" && mayWrite && item.group !== null) {
      openDialog({ kind: "edit-group", id: item.group.id });
      return true;
    }
    if (item.kind !== "row") return false;
    const { monitor } = item;
    if (key === "enter") void navigate({ to: "/monitors/$id", params: { id: monitor.id } });
    else if (!mayWrite) return false;
    else if (key === "x") selection.toggle(monitor.id);
    else if (key === "p") void pauseMonitor(monitor);
    else if (key === "m") void muteMonitor(monitor);
    else if (key === "e") openDialog({ kind: "edit-monitor", id: monitor.id });
    else return false;
    return true;
  }

  return (
    <div className={`monitors ${selected.size > 0 ? "selecting" : ""}`}>
      <div className="monitors-head" aria-hidden="true">
        <span>Monitor</span>
        <span>Last 24 hours</span>
        <span className="row-spark" />
        <span>Latency</span>
        <span>24 h</span>
        <span>30 d</span>
      </div>
      <div
        ref={list}
        className="monitors-list"
        role="list"
        aria-label="Monitors by group"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {inSight.map(({ index, start, size, key }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <div
              key={key}
              role="listitem"
              className={`item item-${item.kind} ${item.last ? "item-last" : ""}`}
              style={{ height: size, transform: `translateY(${start - top}px)` }}
              onPointerEnter={() => (hovered.current = item.key)}
              onPointerLeave={() => (hovered.current = null)}
              onDragOver={(event) => dragOver(event, item)}
              onDrop={(event) => drop(event, items, index)}
            >
              {item.kind === "head" && (
                <GroupHead
                  head={item}
                  active={item.key === active}
                  onFocus={setCurrent}
                  mayWrite={mayWrite}
                  mayMove={mayMove && mayWrite}
                />
              )}
              {item.kind === "row" && (
                <MonitorRow
                  monitor={item.monitor}
                  active={item.key === active}
                  selected={selected.has(item.monitor.id)}
                  onFocus={setCurrent}
                  order={order}
                  mayWrite={mayWrite}
                  mayMove={mayMove && mayWrite}
                />
              )}
              {item.kind === "unread-row" && <div className="row row-unread" aria-hidden="true" />}
              {item.kind === "empty-group" && (
                <p className="empty-group">
                  {mayWrite
                    ? "This group is empty. Drag monitors here, or select some and move them."
                    : "This group is empty."}
                </p>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const elementOf = (list: HTMLElement | null, key: string) =>
  list?.querySelector<HTMLElement>(`[data-item-focus="${CSS.escape(key)}"]`) ?? null;
