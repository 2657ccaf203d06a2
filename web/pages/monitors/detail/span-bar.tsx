/** The only control of a monitor page's time span: spans until now, the period before or after, and any day. */
import { Link, useNavigate } from "@tanstack/react-router";
import { dayMs } from "../../../../src/core/time/clock.ts";
import { formatDateTime, formatPeriod, formatSince } from "../../../../src/core/time/times.ts";
import { toInstant, toLocal } from "../../../../src/core/time/time-zones.ts";
import type { Uptime } from "../../../../src/monitoring/uptime/schema.ts";
import { formatPercent } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { useNow, useZone } from "../../../components/display/time.tsx";
import { DayChip } from "../../../components/forms/date-time-field.tsx";
import {
  listShownSpans,
  moveSpan,
  type PageSpan,
  spanLabels,
  type SpanName,
  type SpanSearch,
} from "./spans.ts";
import { t } from "../../../language/text.ts";

type Props = { id: string; uptime: Uptime; span: PageSpan };

/** Writes a span into the address. */
export function useSpanNavigation(id: string) {
  const navigate = useNavigate();
  return (search: SpanSearch) =>
    void navigate({
      to: "/monitors/$id",
      params: { id },
      search,
      replace: true,
      resetScroll: false,
    });
}

export function SpanBar({ id, uptime, span }: Props) {
  const now = useNow();
  const zone = useZone();
  const { name, from, to } = span;
  return (
    <nav className="span-tabs" aria-label={t("Time span of this page")}>
      {listShownSpans(uptime).map((one) => (
        <SpanTab
          key={one}
          id={id}
          name={one}
          figures={uptime.spans[one]}
          isChosen={to === null && one === name}
        />
      ))}
      <div className="span-period">
        <SpanSteps id={id} span={span} first={Date.parse(uptime.spans["365d"].from)} />
        <b className="num" aria-live="polite">
          {to === null
            ? t("{from} – now", { from: formatDateTime(zone, from, now) })
            : describePeriod(zone, from, to, now)}
        </b>
        <DayChoice id={id} span={span} />
      </div>
    </nav>
  );
}

/** A period such as `Tue 24 Nov`, `24 Nov 15:00–16:00` or `24 Nov 22:00 – 25 Nov 06:00`. */
function describePeriod(zone: string, from: number, to: number, now: number): string {
  const [start, end] = [toLocal(from, zone), toLocal(to, zone)];
  const days = [start, end].map((local) => Math.floor(local / dayMs));
  const isWhole = start % dayMs === 0 && end % dayMs === 0;
  if (days[0] === days[1] || isWhole) return formatPeriod(zone, from, to, now);
  return `${formatDateTime(zone, from, now)} – ${formatDateTime(zone, to, now)}`;
}

function SpanTab({
  id,
  name,
  figures: { isPartial, from, ratio },
  isChosen,
}: {
  id: string;
  name: SpanName;
  figures: Uptime["spans"][SpanName];
  isChosen: boolean;
}) {
  const now = useNow();
  const zone = useZone();
  return (
    <Link
      to="/monitors/$id"
      params={{ id }}
      search={{ span: name }}
      replace
      resetScroll={false}
      aria-current={isChosen}
    >
      {isPartial ? formatSince(zone, Date.parse(from), now) : spanLabels[name]}{" "}
      <b className="num">{formatPercent(ratio)}</b>
    </Link>
  );
}

/** Moves to the equally long period before or after. */
function SpanSteps({ id, span, first }: { id: string; span: PageSpan; first: number }) {
  const now = useNow();
  const show = useSpanNavigation(id);
  return (
    <>
      <button
        type="button"
        className="span-step span-earlier"
        aria-label={t("Earlier")}
        disabled={span.from <= first}
        onClick={() => show(moveSpan(span, -1, now))}
      >
        <Icon name="right" size={15} />
      </button>
      <button
        type="button"
        className="span-step"
        aria-label={t("Later")}
        disabled={span.to === null}
        onClick={() => show(moveSpan(span, 1, now))}
      >
        <Icon name="right" size={15} />
      </button>
    </>
  );
}

const toDay = (at: number, zone: string) => new Date(toLocal(at, zone)).toISOString().slice(0, 10);

/** Jumps to a day in the viewer's time zone. */
function DayChoice({ id, span: { name, from, to } }: Omit<Props, "uptime">) {
  const now = useNow();
  const zone = useZone();
  const show = useSpanNavigation(id);
  const today = toDay(now, zone);
  function jumpTo(day: string) {
    const local = Date.parse(day);
    if (Number.isNaN(local) || day > today) return;
    show({ span: name, from: toInstant(local, zone), to: toInstant(local + dayMs, zone) });
  }
  return (
    <DayChip
      label={t("Day")}
      value={to === null ? undefined : toDay(from, zone)}
      onChange={jumpTo}
    />
  );
}
