import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";

export type BarTone = "up" | "degraded" | "down" | "maintenance" | "none";

const openMs = 120;
const closeMs = 160;
const popover = { width: 328, gap: 12, edge: 8, usualHeight: 280 };
const narrow = 760;

/** A row of bars, each of which says in a popover what it stands for: on hover, tap, focus and arrow keys. */
export function Bars({
  tones,
  label,
  className = "",
  tabbed = true,
  onPick,
  children,
}: {
  tones: readonly BarTone[];
  label: string;
  className?: string;
  tabbed?: boolean;
  /** What a click does, and Enter where the popover has no link. */
  onPick?: (index: number) => void;
  /** What the popover says of a bar. */
  children: (index: number) => ReactNode;
}) {
  const row = useRef<HTMLDivElement>(null);
  const pop = useRef<HTMLDivElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [open, setOpen] = useState<number | null>(null);
  const close = () => {
    clearTimeout(timer.current);
    setOpen(null);
  };
  const later = (ms: number, index: number | null) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOpen(index), ms);
  };

  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (open === null) return;
    const isInside = (target: EventTarget | null) =>
      target instanceof Node && (row.current?.contains(target) || pop.current?.contains(target));
    const onDown = (event: Event) => !isInside(event.target) && close();
    document.addEventListener("pointerdown", onDown);
    window.addEventListener("scroll", close, { passive: true });
    window.addEventListener("resize", close);
    return () => {
      document.removeEventListener("pointerdown", onDown);
      window.removeEventListener("scroll", close);
      window.removeEventListener("resize", close);
    };
  }, [open === null]);

  function indexAt(x: number): number {
    const { left, width } = row.current?.getBoundingClientRect() ?? new DOMRect();
    return Math.max(0, Math.min(tones.length - 1, Math.floor(((x - left) / width) * tones.length)));
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== row.current) return;
    const at = open ?? tones.length - 1;
    const last = tones.length - 1;
    const next = {
      ArrowLeft: Math.max(0, open === null ? last : at - 1),
      ArrowRight: Math.min(last, open === null ? last : at + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (next !== undefined) setOpen(next);
    else if (event.key === "Escape" && open !== null) close();
    else if (event.key === "Enter") {
      const link = pop.current?.querySelector("a");
      if (link) link.click();
      else onPick?.(at);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const keepOpen = {
    onPointerEnter: () => clearTimeout(timer.current),
    onPointerLeave: () => later(closeMs, null),
  };
  return (
    <>
      <div
        ref={row}
        className={`bars ${className}`}
        role="group"
        aria-label={label}
        tabIndex={tabbed ? 0 : -1}
        onPointerMove={({ clientX, pointerType }) => {
          if (pointerType !== "mouse") return;
          const index = indexAt(clientX);
          if (open === null) later(openMs, index);
          else {
            clearTimeout(timer.current);
            setOpen(index);
          }
        }}
        onPointerLeave={({ pointerType }) => pointerType === "mouse" && later(closeMs, null)}
        onClick={({ clientX, nativeEvent }) => {
          const index = indexAt(clientX);
          const isTouch =
            nativeEvent instanceof PointerEvent && nativeEvent.pointerType === "touch";
          if (!isTouch && onPick !== undefined) {
            close();
            onPick(index);
          } else setOpen(open === index ? null : index);
        }}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => {
          if (target.matches(":focus-visible")) setOpen((before) => before ?? tones.length - 1);
        }}
        onBlur={({ relatedTarget }) => !pop.current?.contains(relatedTarget) && close()}
      >
        {tones.map((tone, index) => (
          <i key={index} className={`bar-${tone}`} {...(index === open && { "data-open": "" })} />
        ))}
      </div>
      {open !== null &&
        row.current !== null &&
        createPortal(
          <div
            ref={pop}
            className="pop"
            aria-live="polite"
            style={placeOf(row.current, open)}
            onPointerMove={(event) => event.stopPropagation()}
            onClick={(event) => event.stopPropagation()}
            {...keepOpen}
          >
            {children(open)}
          </div>,
          document.body,
        )}
    </>
  );
}

/** Below the bar, or above where the window ends; as wide as the row on a phone. */
function placeOf(row: HTMLElement, index: number): CSSProperties {
  const bar = row.children[index]?.getBoundingClientRect() ?? new DOMRect();
  const whole = row.getBoundingClientRect();
  const { gap, edge, usualHeight } = popover;
  const isNarrow = innerWidth <= narrow;
  const width = isNarrow ? Math.max(whole.width, 280) : popover.width;
  const center = bar.left + bar.width / 2;
  const wanted = isNarrow ? whole.left : center - width / 2;
  const left = Math.max(edge, Math.min(innerWidth - width - edge, wanted));
  const isBelow = innerHeight - bar.bottom > usualHeight || bar.top < usualHeight;
  const place: Record<string, string | number> = {
    left,
    width,
    "--tip": `${Math.max(14, Math.min(width - 14, center - left))}px`,
  };
  return isBelow
    ? { ...place, top: whole.bottom + gap }
    : { ...place, bottom: innerHeight - whole.top + gap };
}

/** What a popover says: lines without a value are left out. */
export function BarDetails({
  title,
  lines,
  keys,
  children,
}: {
  title: string;
  lines: readonly (readonly [label: ReactNode, value: ReactNode])[];
  /** `[["←", "→"], "hour"]`: what keys do. */
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
