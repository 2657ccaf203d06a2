/** The uptime, downtime and latency of a monitor in a time range. */
import { Link } from "@tanstack/react-router";
import type { SpanFigures, Uptime } from "../../../../src/monitoring/uptime/schema.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { momentIn, sinceIn } from "../../../../src/core/time/times.ts";
import { dot, latencyInWords, percent } from "../../../components/display/format.ts";
import { Dash, Figure } from "../../../components/page.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import { Time, durationInWords, useNow, useZone } from "../../../components/display/time.tsx";
import { type SpanName, shownSpans, spanLabels } from "./spans.ts";

type Props = { monitor: Monitor; uptime: Uptime; span: SpanName };

/** Figures of the chosen time range, with tabs to choose another one. */
export function Figures({ monitor, uptime, span }: Props) {
  const now = useNow();
  const zone = useZone();
  const chosen = uptime.spans[span];
  // The last result counts until the next check, which can be in the future.
  const passed = Math.max(1, Math.floor((now - Date.parse(chosen.from)) / 1_000));
  const until = (seconds: number) => Math.min(seconds, passed);
  return (
    <section className="panel stats" aria-label="Figures">
      <nav className="span-tabs" aria-label="Time range">
        {shownSpans(uptime).map((name) => {
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
              {isPartial ? sinceIn(zone, Date.parse(from), now) : spanLabels[name]}{" "}
              <b className="num">{percent(ratio)}</b>
            </Link>
          );
        })}
        <span className="num">{momentIn(zone, Date.parse(chosen.from), now)} – now</span>
      </nav>
      <dl>
        <Figure
          label="Uptime"
          value={percent(chosen.ratio)}
          note={measuredIn(until(secondsIn(chosen)))}
        />
        <Lasting state="down" seconds={until(chosen.downSeconds)} />
        <Lasting state="degraded" seconds={until(chosen.degradedSeconds)} note="counted as up" />
        <Lasting
          state="maintenance"
          seconds={until(chosen.maintenanceSeconds)}
          note="not counted"
        />
        <Figure
          label="Latency p50"
          value={latencyInWords(chosen.p50Ms)}
          note={`p95 ${latencyInWords(chosen.p95Ms)}${dot}p99 ${latencyInWords(chosen.p99Ms)}`}
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

const secondsIn = ({ upSeconds, degradedSeconds, downSeconds }: SpanFigures) =>
  upSeconds + degradedSeconds + downSeconds;

/** Describes the measured time on which the uptime is based. */
function measuredIn(seconds: number): string {
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
      note={`expires ${momentIn(zone, ends, now)}`}
    />
  );
}
