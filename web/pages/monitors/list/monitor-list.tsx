/** The list of monitors by group: virtual rows, keyboard, drag and drop. */
import { useMediaQuery } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { openDialog } from "../../../components/open-dialog.ts";
import { isLimitedToGroups } from "../../../data/session.ts";
import { waitUntilIdle } from "../../../data/chunks.ts";
import { createStore } from "../../../data/store.ts";
import { useRowKeys } from "../../../components/row-keys.ts";
import { isSecondKey, singleKeys, useShortcuts } from "../../../components/shortcuts.ts";
import { muteMonitor, switchPause, stepGroup, stepMonitor } from "../actions.ts";
import { handleDragOver, handleDrop } from "./drag-and-drop.ts";
import { GroupHead } from "./group-head.tsx";
import { foldedGroups, selection } from "./list-state.ts";
import { hasReason, MonitorRow } from "./monitor-row.tsx";
import type { Item } from "./rows.ts";
import { t, tCount } from "../../../language/text.ts";

/** Fixed heights in pixels, so that no row has to be measured. */
const heights = { head: 41, "empty-group": 44 };
const monitorHeight = 44;
/** On a phone, bars are below the name, and a reason has two lines. */
const phone = { query: "(max-width: 760px)", row: 76, reasoned: 91 };
const groupGap = 12;
/** Number of rows to load ahead of the visible ones. */
const rowsAhead = 100;
/** Number of rows to render outside the visible part, after the first paint. */
const overscan = 12;
const steps: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 };

type Props = {
  items: readonly Item[];
  mayWrite: boolean;
  mayMove: boolean;
  /** Requests the rows of a group up to an index. */
  onUnread: (groupId: string | null, until: number) => void;
};

/** Groups and monitors as one long list. Only the visible part is rendered, except on paper. */
export function MonitorList({ items, mayWrite, mayMove, onUnread }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const hovered = useRef<string | null>(null);
  const { virtual, top } = useVirtualRows(items, list);
  const inSight = virtual.getVirtualItems();
  useReadAhead(items, inSight[0]?.index ?? 0, inSight.at(-1)?.index ?? 0, onUnread);
  const isPrinted = printing.use();
  const rendered = isPrinted ? listPrintedItems(items) : inSight;
  const { active, focus } = useActiveItem(items, (index) =>
    virtual.scrollToIndex(index, { align: "auto" }),
  );
  const onKeyDown = useItemKeys({ items, active, mayWrite, mayMove, focus });
  useSelectionKey(items, hovered, mayWrite);
  const order = useMemo(
    () => items.flatMap((item) => (item.kind === "row" ? [item.monitor.id] : [])),
    [items],
  );
  const selected = selection.use();
  return (
    <div className={`monitors ${selected.size > 0 ? "selecting" : ""}`}>
      <ColumnHeads />
      <div
        ref={list}
        className="monitors-list relative"
        role="list"
        aria-label={t("Monitors by group")}
        style={isPrinted ? undefined : { height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {rendered.map(({ index, key, ...position }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <div
              key={key}
              role="listitem"
              className={`item item-${item.kind} ${item.last ? "item-last" : ""}`}
              style={
                "start" in position
                  ? { height: position.size, transform: `translateY(${position.start - top}px)` }
                  : undefined
              }
              onPointerEnter={() => (hovered.current = item.key)}
              onPointerLeave={() => (hovered.current = null)}
              onDragOver={(event) => handleDragOver(event, item)}
              onDrop={(event) => handleDrop(event, items, index)}
            >
              <ItemContent
                {...{ item, order, selected, mayWrite, mayMove }}
                isActive={item.key === active}
              />
            </div>
          );
        })}
      </div>
      <NotPrinted count={isPrinted ? items.length - rendered.length : 0} />
    </div>
  );
}

const printQuery = matchMedia("print");
/** Whether the page is being printed. The list then shows all rows. */
const printing = createStore(printQuery.matches);

// Synchronous: the browser takes its snapshot as soon as the listener returns.
const setPrinting = (isPrinting: boolean) => flushSync(() => printing.set(isPrinting));
addEventListener("beforeprint", () => setPrinting(true));
addEventListener("afterprint", () => setPrinting(false));
printQuery.addEventListener("change", ({ matches }) => setPrinting(matches));

const wideQuery = matchMedia("(min-width: 1600px)");
const wideWindow = createStore(wideQuery.matches);
wideQuery.addEventListener("change", ({ matches }) => wideWindow.set(matches));

/** All items except rows that are not loaded yet. */
const listPrintedItems = (items: readonly Item[]) =>
  items.flatMap(({ kind, key }, index) => (kind === "unread-row" ? [] : [{ index, key }]));

const NotPrinted = ({ count }: { count: number }) =>
  count > 0 && (
    <p className="monitors-unread">
      {tCount(
        count,
        "{count} further monitor not printed.",
        "{count} further monitors not printed.",
      )}
    </p>
  );

const ColumnHeads = () => (
  <div className="monitors-head" aria-hidden="true">
    <span>{t("Monitor")}</span>
    <span>{t("Last 24 hours")}</span>
    <span className="row-spark" />
    <span>{t("Latency")}</span>
    <span>24 h</span>
    <span className="row-month-bar">{t("Last 30 days")}</span>
    <span>30 d</span>
  </div>
);

function ItemContent({
  item,
  isActive,
  order,
  selected,
  mayWrite,
  mayMove,
}: {
  item: Item;
  isActive: boolean;
  order: readonly string[];
  selected: ReadonlySet<string>;
  mayWrite: boolean;
  mayMove: boolean;
}) {
  const rights = { mayWrite, mayMove: mayMove && mayWrite };
  const hasMonthBars = wideWindow.use();
  if (item.kind === "head")
    return (
      <GroupHead
        head={item}
        isActive={isActive}
        mayWrite={mayWrite}
        mayMove={rights.mayMove && !isLimitedToGroups()}
      />
    );
  if (item.kind === "unread-row") return <div className="row row-unread" aria-hidden="true" />;
  if (item.kind === "empty-group")
    return (
      <p className="empty-group">
        {mayWrite
          ? t("This group is empty. Drag monitors here, or select some and move them.")
          : t("This group is empty.")}
      </p>
    );
  return (
    <MonitorRow
      monitor={item.monitor}
      isActive={isActive}
      selected={selected.has(item.monitor.id)}
      order={order}
      hasMonthBars={hasMonthBars}
      {...rights}
    />
  );
}

/** The list's distance from the top of the page as last measured, at first the least one. */
let lastTop = 150;

/** Positions of the visible rows; `top` is the list's distance from the top of the page. */
function useVirtualRows(items: readonly Item[], list: RefObject<HTMLDivElement | null>) {
  const [top, setTop] = useState(lastTop);
  const [isPainted, setIsPainted] = useState(false);
  const isPhone = useMediaQuery(phone.query, undefined, { getInitialValueInEffect: false });
  useEffect(() => {
    // Panels above the list appear and disappear.
    const measure = () => setTop((lastTop = list.current?.offsetTop ?? lastTop));
    const observer = new ResizeObserver(measure);
    const page = list.current?.closest("main");
    if (page) observer.observe(page);
    measure();
    return () => observer.disconnect();
  }, []);
  useEffect(() => void waitUntilIdle().then(() => setIsPainted(true)), []);
  const getItemKey = useCallback(
    (index: number) => items[index]?.key ?? index,
    // A new function makes the library estimate all sizes again.
    [items, isPhone],
  );
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: (index) => heightOf(items[index], isPhone),
    getItemKey,
    initialRect: { width: innerWidth, height: innerHeight },
    overscan: isPainted ? overscan : 0,
    scrollMargin: top,
  });
  return { virtual, top };
}

function heightOf(item: Item | undefined, isPhone: boolean): number {
  if (item === undefined) return 0;
  const isRow = item.kind === "row" || item.kind === "unread-row";
  const isReasoned = isPhone && item.kind === "row" && hasReason(item.monitor);
  const rowHeight = isReasoned ? phone.reasoned : isPhone ? phone.row : monitorHeight;
  return (isRow ? rowHeight : heights[item.kind]) + (item.last ? groupGap : 0);
}

/** Requests rows before they become visible. */
function useReadAhead(
  items: readonly Item[],
  first: number,
  last: number,
  onUnread: Props["onUnread"],
) {
  useEffect(() => {
    const until = new Map<string | null, number>();
    for (const item of items.slice(first, last + rowsAhead))
      if (item.kind === "unread-row") until.set(item.groupId, item.index + 1);
    for (const [groupId, index] of until) onUnread(groupId, index);
  }, [items, first, last]);
}

/** The item that has the keyboard focus. */
function useActiveItem(items: readonly Item[], scrollTo: (index: number) => void) {
  const keys = useMemo(
    () =>
      items
        .filter(({ kind }) => kind !== "empty-group")
        .map(({ kind, key }) => (kind === "unread-row" ? null : key)),
    [items],
  );
  const { current, focus } = useRowKeys(keys, (key) =>
    scrollTo(items.findIndex((item) => item.key === key)),
  );
  const active = items.some(({ key }) => key === current) ? current : (items[0]?.key ?? null);
  return { active, focus };
}

/** The key X selects the monitor under the pointer. */
function useSelectionKey(
  items: readonly Item[],
  hovered: RefObject<string | null>,
  mayWrite: boolean,
) {
  useShortcuts({
    x: () => {
      const item = items.find(({ key }) => key === hovered.current);
      if (item?.kind === "row" && mayWrite) selection.toggle(item.monitor.id);
    },
  });
}

/** Keys that act on the active item. */
function useItemKeys({
  items,
  active,
  mayWrite,
  mayMove,
  focus,
}: Omit<Props, "onUnread"> & { active: string | null; focus: (key: string) => void }) {
  const navigate = useNavigate();
  const openMonitor = (id: string) => void navigate({ to: "/monitors/$id", params: { id } });
  return (event: KeyboardEvent) => {
    const item = items.find(({ key }) => key === active);
    if (item === undefined || event.metaKey || event.ctrlKey || isSecondKey()) return;
    if (singleKeys.isOff(event)) return;
    // Fields and buttons inside a row handle their own keys.
    if (!(event.target as HTMLElement).matches("[data-item-focus]")) return;
    const step = event.altKey ? steps[event.key] : undefined;
    if (step !== undefined && mayMove && mayWrite) {
      moveItem(item, step);
      focus(item.key);
    }
    const isHandled = actOnItem(event.key.toLowerCase(), item, mayWrite, openMonitor);
    if (step !== undefined || isHandled) event.preventDefault();
  };
}

function moveItem(item: Item, step: 1 | -1) {
  if (item.kind === "row") stepMonitor(item.monitor.id, step);
  else if (item.kind === "head" && item.group !== null && !isLimitedToGroups())
    stepGroup(item.group.id, step);
}

/** Performs the action of a key; false if the key has none for this item. */
function actOnItem(
  key: string,
  item: Item,
  mayWrite: boolean,
  openMonitor: (id: string) => void,
): boolean {
  if (item.kind === "head" && (key === "enter" || key === " ")) {
    foldedGroups.toggle(item.group?.id ?? "ungrouped");
    return true;
  }
  if (item.kind === "head" && key === "e" && mayWrite && item.group !== null) {
    if (isLimitedToGroups()) return false;
    openDialog({ kind: "edit-group", id: item.group.id });
    return true;
  }
  if (item.kind !== "row") return false;
  const { monitor } = item;
  if (key === "enter") openMonitor(monitor.id);
  else if (!mayWrite) return false;
  else if (key === "x") selection.toggle(monitor.id);
  else if (key === "p") void switchPause(monitor);
  else if (key === "m") void muteMonitor(monitor);
  else if (key === "e") openDialog({ kind: "edit-monitor", id: monitor.id });
  else return false;
  return true;
}
