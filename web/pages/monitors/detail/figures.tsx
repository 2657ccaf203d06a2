/** The uptime, downtime and latency of a monitor in a time range. */
import { Link } from "@tanstack/react-router";
import type { SpanFigures, Uptime } from "../../../../src/monitoring/uptime/schema.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { formatDateTime, formatSince } from "../../../../src/core/time/times.ts";
import { dot, formatLatency, formatPercent } from "../../../components/display/format.ts";
import { Dash, Figure } from "../../../components/page.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import { Time, durationInWords, useNow, useZone } from "../../../components/display/time.tsx";
import { type SpanName, listShownSpans, spanLabels } from "./spans.ts";

type Props = { monitor: Monitor; uptime: Uptime; span: SpanName };

/** Figures of the chosen time range, with tabs to choose another one. */
export function Figures({ monitor, uptime, span }: Props) {
  const now = useNow();
  const zone = useZone();
  const chosen = uptime.spans[span];
  // The last result counts until the next check, which can be in the future.
  const passed = Math.max(1, Math.floor((now - Date.parse(chosen.from)) / 1_000));
  const limitToPassed = (seconds: number) => Math.min(seconds, passed);
  return (
    <section className="panel stats" aria-label="Figures">
      <nav className="span-tabs" aria-label="Time range">
        {listShownSpans(uptime).map((name) => {
          const { isPartial, from, ratio } = uptime.spans[name];
          return (
            <Link
              key={name}
              to="/monitors/$id"
              params={{ id: monitor.id }}
              search={{ span: name }}
              replace
              resetScroll={false}
              aria-current={name === span}
            >
              {isPartial ? formatSince(zone, Date.parse(from), now) : spanLabels[name]}{" "}
              <b className="num">{formatPercent(ratio)}</b>
            </Link>
          );
        })}
        <span className="num">{formatDateTime(zone, Date.parse(chosen.from), now)} – now</span>
      </nav>
      <dl>
        <Figure
          label="Uptime"
          value={formatPercent(chosen.ratio)}
          note={describeMeasured(limitToPassed(sumSeconds(chosen)))}
        />
        <Lasting state="down" seconds={limitToPassed(chosen.downSeconds)} />
        <Lasting
          state="degraded"
          seconds={limitToPassed(chosen.degradedSeconds)}
          note="counted as up"
        />
        <Lasting
          state="maintenance"
          seconds={limitToPassed(chosen.maintenanceSeconds)}
          note="not counted"
        />
        <Figure
          label="Latency p50"
          value={formatLatency(chosen.p50Ms)}
          note={`p95 ${formatLatency(chosen.p95Ms)}${dot}p99 ${formatLatency(chosen.p99Ms)}`}
        />
        <LastFigure monitor={monitor} now={now} />
      </dl>
    </section>
  );
}

function Lasting({
  state,
  seconds,
  note = "",
}: {
  state: "down" | "degraded" | "maintenance";
  seconds: number;
  note?: string;
}) {
  const label = (
    <>
      <StateIcon state={state} size={12} /> {stateLabels[state]}
    </>
  );
  return (
    <Figure label={label} value={seconds === 0 ? "None" : durationInWords(seconds)} note={note} />
  );
}

const sumSeconds = ({ upSeconds, degradedSeconds, downSeconds }: SpanFigures) =>
  upSeconds + degradedSeconds + downSeconds;

/** Describes the measured time on which the uptime is based. */
function describeMeasured(seconds: number): string {
  return seconds === 0 ? "not measured" : `of ${durationInWords(seconds)} measured`;
}

function LastFigure({ monitor, now }: { monitor: Monitor; now: number }) {
  const { certificateExpiresAt, lastCheckedAt, interval } = monitor;
  const zone = useZone();
  if (certificateExpiresAt === null)
    return (
      <Figure
        label="Last check"
        value={lastCheckedAt === null ? <Dash /> : <Time at={lastCheckedAt} />}
        note={`every ${durationInWords(interval)}`}
      />
    );
  const ends = Date.parse(certificateExpiresAt);
  const days = Math.floor((ends - now) / 86_400_000);
  return (
    <Figure
      label="Certificate"
      value={days < 0 ? "ended" : `${days} d left`}
      note={`expires ${formatDateTime(zone, ends, now)}`}
    />
  );
}
