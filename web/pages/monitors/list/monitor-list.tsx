import { useMediaQuery } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { openDialog } from "../../../components/open-dialog.ts";
import { whenIdle } from "../../../data/chunks.ts";
import { plural } from "../../../components/display/format.ts";
import { usePrinting } from "../../../components/printing.ts";
import { useRowKeys } from "../../../components/row-keys.ts";
import { isSecondKey, useShortcuts } from "../../../components/shortcuts.ts";
import { muteMonitor, pauseMonitor, stepGroup, stepMonitor } from "../actions.ts";
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
const steps: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 };

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
  const navigate = useNavigate();
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
  const isPrinted = usePrinting();
  const drawn = isPrinted
    ? items.flatMap(({ kind, key }, index) => (kind === "unread-row" ? [] : [{ index, key }]))
    : inSight;
  const unread = isPrinted ? items.length - drawn.length : 0;
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
  const keys = useMemo(
    () =>
      items
        .filter(({ kind }) => kind !== "empty-group")
        .map(({ kind, key }) => (kind === "unread-row" ? null : key)),
    [items],
  );
  const { current, focus } = useRowKeys(keys, (key) =>
    virtual.scrollToIndex(
      items.findIndex((item) => item.key === key),
      { align: "auto" },
    ),
  );
  const active = items.some(({ key }) => key === current) ? current : (items[0]?.key ?? null);
  const selected = selection.use();

  function onKeyDown(event: React.KeyboardEvent) {
    const item = items.find(({ key }) => key === active);
    if (item === undefined || event.metaKey || event.ctrlKey || isSecondKey()) return;
    // Fields and buttons inside a row keep their own keys.
    if (!(event.target as HTMLElement).matches("[data-item-focus]")) return;
    const step = event.altKey ? steps[event.key] : undefined;
    if (step !== undefined && mayMove && mayWrite) shift(item, step);
    if (step !== undefined || command(event.key.toLowerCase(), item)) event.preventDefault();
  }

  useShortcuts({
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
        className="monitors-list relative"
        role="list"
        aria-label="Monitors by group"
        style={isPrinted ? undefined : { height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {drawn.map(({ index, key, ...place }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <div
              key={key}
              role="listitem"
              className={`item item-${item.kind} ${item.last ? "item-last" : ""}`}
              style={
                "start" in place
                  ? { height: place.size, transform: `translateY(${place.start - top}px)` }
                  : undefined
              }
              onPointerEnter={() => (hovered.current = item.key)}
              onPointerLeave={() => (hovered.current = null)}
              onDragOver={(event) => dragOver(event, item)}
              onDrop={(event) => drop(event, items, index)}
            >
              {item.kind === "head" && (
                <GroupHead
                  head={item}
                  active={item.key === active}
                  mayWrite={mayWrite}
                  mayMove={mayMove && mayWrite}
                />
              )}
              {item.kind === "row" && (
                <MonitorRow
                  monitor={item.monitor}
                  active={item.key === active}
                  selected={selected.has(item.monitor.id)}
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
      {unread > 0 && (
        <p className="monitors-unread">{plural(unread, "further monitor")} not printed.</p>
      )}
    </div>
  );
}
