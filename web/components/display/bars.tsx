/** A row of bars, such as 24 hours of a monitor, with a popover for each. */
import {
  type ComponentProps,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";

export type BarTone = "up" | "degraded" | "down" | "maintenance" | "none";

const openMs = 120;
const closeMs = 160;
const popover = { width: 328, gap: 12, edge: 8, usualHeight: 280 };
const narrowWidth = 760;

type Props = {
  /** The tone of each bar, and additional classes. */
  tones: readonly (BarTone | `${BarTone} ${string}`)[];
  label: string;
  className?: string;
  tabbed?: boolean;
  /** Called on a click, and on Enter if the popover has no link. */
  onPick?: (index: number) => void;
  /** Renders the popover of a bar. */
  children: (index: number) => ReactNode;
};

/** A row of bars. Hover, tap, focus and arrow keys open the popover of a bar. */
export function Bars({ tones, label, className = "", tabbed = true, onPick, children }: Props) {
  const row = useRef<HTMLDivElement>(null);
  const pop = useRef<HTMLDivElement>(null);
  const { open, setOpen, openLater, cancel, close } = useOpenBar();
  useCloseOutside(open !== null, close, [row, pop]);
  const onKeyDown = useBarKeys({ open, count: tones.length, row, pop, setOpen, close, onPick });
  const content = useBarContent(tones, row, open);
  const last = tones.length - 1;
  function findBarIndex(x: number): number {
    const { left, width } = row.current?.getBoundingClientRect() ?? new DOMRect();
    return Math.max(0, Math.min(last, Math.floor(((x - left) / width) * tones.length)));
  }
  function onPointerMove({ clientX, pointerType }: PointerEvent) {
    if (pointerType !== "mouse") return;
    const index = findBarIndex(clientX);
    if (open === null) return openLater(openMs, index);
    cancel();
    setOpen(index);
  }
  function onClick({ clientX, nativeEvent }: MouseEvent) {
    const index = findBarIndex(clientX);
    const isTouch = "pointerType" in nativeEvent && nativeEvent.pointerType === "touch";
    if (isTouch || onPick === undefined) return setOpen(open === index ? null : index);
    close();
    onPick(index);
  }
  return (
    <>
      <div
        ref={row}
        className={`bars ${className}`}
        role="group"
        aria-label={label}
        tabIndex={tabbed ? 0 : -1}
        onPointerMove={onPointerMove}
        onPointerLeave={({ pointerType }) => pointerType === "mouse" && openLater(closeMs, null)}
        onClick={onClick}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => {
          if (target.matches(":focus-visible")) setOpen((before) => before ?? last);
        }}
        onBlur={({ relatedTarget }) => !pop.current?.contains(relatedTarget) && close()}
        dangerouslySetInnerHTML={content}
      />
      {open !== null && row.current !== null && (
        <BarPopover
          ref={pop}
          style={computePopoverPosition(row.current, open)}
          onPointerEnter={cancel}
          onPointerLeave={() => openLater(closeMs, null)}
        >
          {children(open)}
        </BarPopover>
      )}
    </>
  );
}

/** The bars as HTML: lists have hundreds of them, too many for an element of React each. */
function useBarContent(
  tones: Props["tones"],
  row: RefObject<HTMLElement | null>,
  open: number | null,
) {
  const html = tones.map((tone) => `<i class="bar-${tone}"></i>`).join("");
  useLayoutEffect(() => {
    const bar = open === null ? undefined : row.current?.children[open];
    bar?.setAttribute("data-open", "");
    return () => bar?.removeAttribute("data-open");
  }, [open, html]);
  return useMemo(() => ({ __html: html }), [html]);
}

const BarPopover = (props: ComponentProps<"div">) =>
  createPortal(
    <div
      className="pop"
      aria-live="polite"
      onPointerMove={(event) => event.stopPropagation()}
      onClick={(event) => event.stopPropagation()}
      {...props}
    />,
    document.body,
  );

/** The bar whose popover is open. The pointer opens and closes it after a delay. */
function useOpenBar() {
  const [open, setOpen] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const cancel = () => clearTimeout(timer.current);
  useEffect(() => cancel, []);
  return {
    open,
    setOpen,
    cancel,
    openLater: (ms: number, index: number | null) => {
      cancel();
      timer.current = setTimeout(() => setOpen(index), ms);
    },
    close: () => {
      cancel();
      setOpen(null);
    },
  };
}

/**
 * Closes on a click outside these elements, and when the page is scrolled or resized. For the keyboard it moves along
 * instead, because the focus itself scrolls.
 */
function useCloseOutside(
  isOpen: boolean,
  close: () => void,
  elements: readonly RefObject<HTMLElement | null>[],
) {
  const [, move] = useReducer((times: number) => times + 1, 0);
  useEffect(() => {
    if (!isOpen) return;
    const isInside = (target: EventTarget | null) =>
      target instanceof Node && elements.some(({ current }) => current?.contains(target));
    const onDown = (event: Event) => !isInside(event.target) && close();
    const onScroll = () => (elements[0]?.current?.matches(":focus-visible") ? move() : close());
    document.addEventListener("pointerdown", onDown);
    window.addEventListener("scroll", onScroll, { passive: true });
    window.addEventListener("resize", close);
    return () => {
      document.removeEventListener("pointerdown", onDown);
      window.removeEventListener("scroll", onScroll);
      window.removeEventListener("resize", close);
    };
  }, [isOpen]);
}

function useBarKeys({
  open,
  count,
  row,
  pop,
  setOpen,
  close,
  onPick,
}: {
  open: number | null;
  count: number;
  row: RefObject<HTMLElement | null>;
  pop: RefObject<HTMLElement | null>;
  setOpen: (index: number) => void;
  close: () => void;
  onPick: Props["onPick"];
}) {
  const last = count - 1;
  const current = open ?? last;
  return (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== row.current) return;
    const next = {
      ArrowLeft: Math.max(0, open === null ? last : current - 1),
      ArrowRight: Math.min(last, open === null ? last : current + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (next !== undefined) setOpen(next);
    else if (event.key === "Escape" && open !== null) close();
    else if (event.key === "Enter") {
      const link = pop.current?.querySelector("a");
      if (link) link.click();
      else onPick?.(current);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/**
 * Position of the popover: below the bar, or above it near the bottom of the window. On phones it
 * is as wide as the row.
 */
function computePopoverPosition(row: HTMLElement, index: number): CSSProperties {
  const bar = row.children[index]?.getBoundingClientRect() ?? new DOMRect();
  const rowBox = row.getBoundingClientRect();
  const { gap, edge, usualHeight } = popover;
  const isNarrow = innerWidth <= narrowWidth;
  const width = isNarrow ? Math.max(rowBox.width, 280) : popover.width;
  const center = bar.left + bar.width / 2;
  const wantedLeft = isNarrow ? rowBox.left : center - width / 2;
  const left = Math.max(edge, Math.min(innerWidth - width - edge, wantedLeft));
  const isBelow = innerHeight - bar.bottom > usualHeight || bar.top < usualHeight;
  const position: Record<string, string | number> = {
    left,
    width,
    "--tip": `${Math.max(14, Math.min(width - 14, center - left))}px`,
  };
  return isBelow
    ? { ...position, top: rowBox.bottom + gap }
    : { ...position, bottom: innerHeight - rowBox.top + gap };
}

/** The content of a popover. Omits lines without a value. */
export function BarDetails({
  title,
  lines,
  keys,
  children,
}: {
  title: string;
  lines: readonly (readonly [label: ReactNode, value: ReactNode])[];
  /** Keys and their action: `[["←", "→"], "hour"]`. */
  keys: readonly (readonly [keys: readonly string[], does: string])[];
  children?: ReactNode;
}) {
  return (
    <>
      <h3>{title}</h3>
      <dl>
        {lines.map(
          ([label, value], index) =>
            value !== null && (
              <div key={index}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {children}
      <p className="pop-keys" aria-hidden="true">
        {keys.map(([all, does]) => (
          <span key={does}>
            {all.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
            {does}
          </span>
        ))}
      </p>
    </>
  );
}
