/** The calendar of shifts: one row per day. Hours can be selected by dragging and by keyboard. */
import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Shift } from "../../../src/alerting/schedules/schema.ts";
import { dayMs } from "../../../src/core/time/clock.ts";
import { getFormatter, minuteFormat } from "../../../src/core/time/times.ts";
import { toLocal } from "../../../src/core/time/time-zones.ts";
import { useNow, useZone } from "../../components/display/time.tsx";
import {
  assignColors,
  findShift,
  hoursPerDay,
  listSegments,
  type Segment,
  getHourStart,
} from "./days.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t } from "../../language/text.ts";

const dayFormat = new Intl.DateTimeFormat(getLocale(), {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});
/** Formats a local day, in days since 1970, such as `Mon 30 Nov`. */
export const formatDay = (day: number) => dayFormat.format(day * dayMs);

export type SelectedTimes = { startsAt: number; endsAt: number };

type Props = {
  shifts: readonly Shift[];
  /** People in the order of their colors. */
  people: readonly (string | null)[];
  /** First local day, in days since 1970. */
  firstDay: number;
  dayCount: number;
  label: string;
  /** Called with the selected hours, or with the shift that was clicked. Absent for a preview. */
  onSelect?: (times: SelectedTimes) => void;
};

export function DutyCalendar({ shifts, people, firstDay, dayCount, label, onSelect }: Props) {
  const zone = useZone();
  const rows = useMemo(
    () => listSegments(shifts, firstDay, dayCount, zone),
    [shifts, firstDay, dayCount, zone],
  );
  const colors = useMemo(() => assignColors(people), [people]);
  const selection = useSelection(dayCount * hoursPerDay, (from, to) => {
    const startsAt = getHourStart(firstDay, from, zone);
    const shift = from === to ? findShift(shifts, startsAt) : undefined;
    onSelect?.(
      shift === undefined
        ? { startsAt, endsAt: getHourStart(firstDay, to + 1, zone) }
        : { startsAt: Date.parse(shift.startsAt), endsAt: Date.parse(shift.endsAt) },
    );
  });
  const isGrid = onSelect !== undefined;
  const names = useMemo(
    () => (isGrid ? listNames(shifts, firstDay, dayCount, zone) : []),
    [isGrid, shifts, firstDay, dayCount, zone],
  );
  return (
    <div
      className="duty"
      aria-label={label}
      {...(isGrid
        ? { role: "grid", "aria-multiselectable": true, ...selection.props }
        : { role: "list" })}
    >
      <Scale />
      {rows.map((segments, index) => (
        <div key={firstDay + index} className="duty-row" role={isGrid ? "row" : "listitem"}>
          <span className="duty-day num" role={isGrid ? "rowheader" : undefined}>
            {formatDay(firstDay + index)}
          </span>
          <div className="duty-track">
            <Segments segments={segments} colors={colors} zone={zone} isHidden={isGrid} />
            <NowLine day={firstDay + index} zone={zone} />
            {isGrid && (
              <Hours
                dayIndex={index}
                date={formatDay(firstDay + index)}
                names={names}
                selection={selection}
              />
            )}
          </div>
        </div>
      ))}
    </div>
  );
}

/** Labels of every sixth hour. */
function Scale() {
  return (
    <div className="duty-scale num" aria-hidden="true">
      {[0, 6, 12, 18].map((hour) => (
        <span key={hour}>{String(hour).padStart(2, "0")}:00</span>
      ))}
    </div>
  );
}

type SegmentsProps = {
  segments: readonly Segment[];
  colors: ReadonlyMap<string, number>;
  zone: string;
  isHidden: boolean;
};

function Segments({ segments, colors, zone, isHidden }: SegmentsProps) {
  const clock = getFormatter(zone, minuteFormat);
  return segments.map(({ shift, left, width }) => {
    const { startsAt, endsAt, personId, personName, overrideId } = shift;
    const name = personId === null ? t("Nobody") : (personName ?? t("Someone"));
    const times = `${clock.format(new Date(startsAt))}–${clock.format(new Date(endsAt))}`;
    const classes = [
      "duty-shift",
      personId === null ? "duty-gap" : `duty-${colors.get(personId) ?? 0}`,
      overrideId === null ? "" : "duty-override",
    ];
    return (
      <span
        key={startsAt}
        className={classes.join(" ")}
        style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
        title={`${name}, ${times}`}
        aria-hidden={isHidden}
      >
        {name}
      </span>
    );
  });
}

function NowLine({ day, zone }: { day: number; zone: string }) {
  const part = toLocal(useNow(), zone) / dayMs - day;
  if (part < 0 || part >= 1) return null;
  return <i className="duty-now" style={{ left: `${part * 100}%` }} aria-hidden="true" />;
}

/** The name of the person on call at each hour. */
const listNames = (shifts: readonly Shift[], firstDay: number, dayCount: number, zone: string) =>
  Array.from({ length: dayCount * hoursPerDay }, (_, hour) => {
    const shift = findShift(shifts, getHourStart(firstDay, hour, zone));
    return shift?.personId == null ? t("nobody") : (shift.personName ?? t("someone"));
  });

type HoursProps = {
  /** Counted from the first day of the calendar. */
  dayIndex: number;
  date: string;
  names: readonly string[];
  selection: ReturnType<typeof useSelection>;
};

/** The hours of a day, which are the cells of the grid. */
function Hours({ dayIndex, date, names, selection }: HoursProps) {
  return Array.from({ length: hoursPerDay }, (_, hour) => {
    const cell = dayIndex * hoursPerDay + hour;
    return (
      <div
        key={hour}
        role="gridcell"
        className="duty-hour"
        data-hour={cell}
        tabIndex={cell === selection.current ? 0 : -1}
        aria-selected={selection.has(cell)}
        aria-label={`${date} ${String(hour).padStart(2, "0")}:00, ${names[cell]}`}
      />
    );
  });
}

/** Hours by which a key moves. */
const keySteps: Record<string, number> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -hoursPerDay,
  ArrowDown: hoursPerDay,
};

const hourOf = (target: EventTarget): number | null => {
  const hour = target instanceof HTMLElement ? target.dataset["hour"] : undefined;
  return hour === undefined ? null : Number(hour);
};

/** Selection of hours. A press without movement, and Enter on a single hour, select that hour alone. */
function useSelection(hours: number, onSelect: (from: number, to: number) => void) {
  const [range, setRange] = useState<{ anchor: number; head: number } | null>(null);
  const [current, setCurrent] = useState(0);
  const isDragging = useRef(false);
  const isTouch = useRef(false);
  const from = range === null ? current : Math.min(range.anchor, range.head);
  const to = range === null ? current : Math.max(range.anchor, range.head);

  function finish() {
    onSelect(from, to);
    setRange(null);
  }
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const step = keySteps[event.key];
    if (event.key === "Enter" || event.key === " ") finish();
    else if (event.key === "Escape" && range !== null) setRange(null);
    else if (step === undefined) return;
    else {
      const next = Math.min(hours - 1, Math.max(0, current + step));
      setRange(event.shiftKey ? { anchor: range?.anchor ?? current, head: next } : null);
      setCurrent(next);
      event.currentTarget.querySelector<HTMLElement>(`[data-hour="${next}"]`)?.focus();
    }
    event.preventDefault();
  }
  return {
    current,
    has: (cell: number) => range !== null && from <= cell && cell <= to,
    props: {
      onKeyDown,
      onFocus: ({ target }: FocusEvent) => setCurrent(hourOf(target) ?? current),
      onPointerDown({ target, pointerType, button }: PointerEvent) {
        const hour = hourOf(target);
        isTouch.current = pointerType === "touch";
        // On a touch screen a drag scrolls, and a tap is a click.
        if (hour === null || pointerType === "touch" || button !== 0) return;
        isDragging.current = true;
        setCurrent(hour);
        setRange({ anchor: hour, head: hour });
      },
      onPointerOver({ target }: PointerEvent) {
        const hour = hourOf(target);
        if (isDragging.current && hour !== null && range !== null)
          setRange({ ...range, head: hour });
      },
      onPointerUp() {
        if (isDragging.current) finish();
        isDragging.current = false;
      },
      onPointerLeave() {
        isDragging.current = false;
        setRange(null);
      },
      onClick({ target }: MouseEvent) {
        const hour = hourOf(target);
        if (hour !== null && isTouch.current) onSelect(hour, hour);
      },
    },
  };
}
