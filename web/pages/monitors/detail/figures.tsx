/** The uptime, downtime and latency of a monitor in a time range. */
import { dayMs } from "../../../../src/core/time/clock.ts";
import type { SpanFigures, Uptime } from "../../../../src/monitoring/uptime/schema.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { formatDateTime } from "../../../../src/core/time/times.ts";
import {
  dot,
  formatCount,
  formatLatency,
  formatPercent,
} from "../../../components/display/format.ts";
import { Dash, Figure } from "../../../components/page.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import {
  Time,
  formatUnbrokenDuration,
  useNow,
  useZone,
} from "../../../components/display/time.tsx";
import { usePeriodFigures } from "../data.ts";
import { SpanBar } from "./span-bar.tsx";
import { describePace } from "./pace.ts";
import type { PageSpan } from "./spans.ts";
import { t } from "../../../language/text.ts";

type Props = { monitor: Monitor; uptime: Uptime; span: PageSpan };

/** Figures of the page's time span, with the control that changes it. */
export function Figures({ monitor, uptime, span }: Props) {
  const now = useNow();
  const { from, to, name } = span;
  const { data: past, isFetching } = usePeriodFigures(monitor.id, span);
  const chosen = to === null ? uptime.spans[name] : past;
  // The last result counts until the next check, which can be in the future.
  const elapsedSeconds = Math.max(1, Math.floor(((to ?? now) - from) / 1_000));
  const limitToElapsed = (seconds = 0) => Math.min(seconds, elapsedSeconds);
  return (
    <section className="panel stats" aria-label={t("Figures")} aria-busy={isFetching}>
      <SpanBar id={monitor.id} uptime={uptime} span={span} />
      <dl>
        <Figure
          label={t("Uptime")}
          value={formatPercent(chosen?.ratio ?? null)}
          note={chosen ? describeMeasured(limitToElapsed(sumSeconds(chosen))) : ""}
        />
        <StateDuration
          state="down"
          seconds={limitToElapsed(chosen?.downSeconds)}
          isKnown={!!chosen}
        />
        <StateDuration
          state="degraded"
          seconds={limitToElapsed(chosen?.degradedSeconds)}
          isKnown={!!chosen}
          note={t("counted as up")}
        />
        <StateDuration
          state="maintenance"
          seconds={limitToElapsed(chosen?.maintenanceSeconds)}
          isKnown={!!chosen}
          note={t("not counted")}
        />
        <Figure
          label={t("Latency p50")}
          value={formatLatency(chosen?.p50Ms)}
          note={`p95 ${formatLatency(chosen?.p95Ms)}${dot}p99 ${formatLatency(chosen?.p99Ms)}`}
        />
        {to === null ? (
          <LastFigure monitor={monitor} now={now} />
        ) : (
          <Figure
            label={t("Checks")}
            value={chosen === undefined ? <Dash /> : formatCount(chosen.checks)}
            note={t("with a latency")}
          />
        )}
      </dl>
    </section>
  );
}

function StateDuration({
  state,
  seconds,
  isKnown,
  note = "",
}: {
  state: "down" | "degraded" | "maintenance";
  seconds: number;
  isKnown: boolean;
  note?: string;
}) {
  const label = (
    <>
      <StateIcon state={state} size={12} /> {stateLabels[state]}
    </>
  );
  const words = seconds === 0 ? t("None") : formatUnbrokenDuration(seconds);
  return <Figure label={label} value={isKnown ? words : <Dash />} note={note} />;
}

type Seconds = Pick<SpanFigures, "upSeconds" | "degradedSeconds" | "downSeconds">;

const sumSeconds = ({ upSeconds, degradedSeconds, downSeconds }: Seconds) =>
  upSeconds + degradedSeconds + downSeconds;

/** Describes the measured time on which the uptime is based. */
function describeMeasured(seconds: number): string {
  return seconds === 0
    ? t("not measured")
    : t("of {duration} measured", { duration: formatUnbrokenDuration(seconds) });
}

function LastFigure({ monitor, now }: { monitor: Monitor; now: number }) {
  const { certificateExpiresAt, lastCheckedAt } = monitor;
  const zone = useZone();
  if (certificateExpiresAt === null)
    return (
      <Figure
        label={t("Last check")}
        value={lastCheckedAt === null ? <Dash /> : <Time at={lastCheckedAt} as="short" />}
        note={describePace(monitor)}
      />
    );
  const expiresAt = Date.parse(certificateExpiresAt);
  const days = Math.floor((expiresAt - now) / dayMs);
  return (
    <Figure
      label={t("Certificate")}
      value={days < 0 ? t("ended") : t("{days} d left", { days })}
      note={t("expires {time}", { time: formatDateTime(zone, expiresAt, now) })}
    />
  );
}
