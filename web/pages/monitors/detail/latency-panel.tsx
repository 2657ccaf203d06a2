/** The latency of a monitor as a chart or a table. */
import { Button } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { lazy, Suspense, useMemo, useState } from "react";
import { formatPeriod } from "../../../../src/core/time/times.ts";
import type { Timeline, TimelinePoint } from "../../../../src/dashboard/timeline-schema.ts";
import { createChunk } from "../../../data/chunks.ts";
import { formatLatency, formatReason } from "../../../components/display/format.ts";
import { Panel } from "../../../components/page.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import { formatUnbrokenDuration, useNow, useZone } from "../../../components/display/time.tsx";
import {
  type Columns,
  buildColumns,
  type LineName,
  chooseStep,
  worstTroubleOf,
} from "./chart-data.ts";
import { type Span, useTimeline } from "../data.ts";
import { useSpanNavigation } from "./span-bar.tsx";
import { type PageSpan, spanLabels } from "./spans.ts";
import { t, tNode } from "../../../language/text.ts";

const LatencyChart = lazy(createChunk(() => import("./latency-chart.tsx")));

const defaultLines: LineName[] = ["p50", "p95"];

type Props = { id: string; interval: number; span: PageSpan };

/** The latency in the page's time span. Zooming changes the span of the whole page. */
export function LatencyPanel({ id, interval, span }: Props) {
  const [shownLines, setShownLines] = useLocalStorage({
    key: "signalbox.chart-lines",
    defaultValue: defaultLines,
    getInitialValueInEffect: false,
  });
  const [isTable, setTable] = useState(false);
  const showSpan = useSpanNavigation(id);
  const showRange = (range: Span | null) =>
    showSpan({
      span: span.name,
      ...(range && { from: Math.round(range.from), to: Math.round(range.to) }),
    });
  const { range, timeline, columns } = useLatency({ id, interval, span, shown: shownLines });
  const labels: Record<LineName, string> = {
    p50: "p50",
    p95: "p95",
    p99: "p99",
    previous: span.to === null ? t("{span} before", { span: spanLabels[span.name] }) : t("Before"),
  };
  return (
    <Panel
      title={t("Latency")}
      actions={
        <div className="chart-lines">
          {span.to !== null && (
            <Button size="compact-xs" onClick={() => showRange(null)}>
              {t("Back to {span}", { span: spanLabels[span.name] })}
            </Button>
          )}
          <LineToggles labels={labels} shown={shownLines} onChange={setShownLines} />
          <TableToggle isTable={isTable} onChange={setTable} />
        </div>
      }
    >
      {timeline === undefined || columns === undefined ? (
        <div className="chart-room" />
      ) : timeline.points.length === 0 ? (
        <p className="chart-none">{t("No data in this time range.")}</p>
      ) : isTable ? (
        <PointTable timeline={timeline} />
      ) : (
        <div className="chart-room">
          <Suspense fallback={<div className="chart-coming" />}>
            <LatencyChart span={range} columns={columns} shown={shownLines} onZoom={showRange}>
              {(index) => <Tip {...{ columns, index, shown: shownLines, labels }} />}
            </LatencyChart>
          </Suspense>
          <ChartKeys />
        </div>
      )}
    </Panel>
  );
}

const TableToggle = ({
  isTable,
  onChange,
}: {
  isTable: boolean;
  onChange: (isTable: boolean) => void;
}) => (
  <button
    type="button"
    className="chart-line"
    aria-pressed={isTable}
    onClick={() => onChange(!isTable)}
  >
    {t("Table")}
  </button>
);

/** The timeline of the span, and of the one before it if the chart compares them. */
function useLatency({ id, interval, span, shown }: Props & { shown: readonly LineName[] }) {
  const now = useNow();
  const { from, to } = span;
  // An open range ends with the current step, so that only a new step or check causes a request.
  const open = { from, to: Math.max(now, from + 60_000) };
  const step = chooseStep(to === null ? open : { from, to }, interval);
  const stepMs = step * 1_000;
  const begin = to === null ? Math.floor(from / stepMs) * stepMs : from;
  const end = to ?? Math.ceil(open.to / stepMs) * stepMs;
  const range = useMemo(() => ({ from: begin, to: end }), [begin, end]);
  const earlier = { from: 2 * begin - end, to: begin };
  const { data: timeline } = useTimeline(id, range, step);
  const { data: previous } = useTimeline(id, earlier, step, shown.includes("previous"));
  const columns = useMemo(
    () => (timeline === undefined ? undefined : buildColumns(timeline, previous)),
    [timeline, previous],
  );
  return { range, timeline, columns };
}

const LineToggles = ({
  labels,
  shown,
  onChange,
}: {
  labels: Record<LineName, string>;
  shown: readonly LineName[];
  onChange: (shown: LineName[]) => void;
}) =>
  (Object.keys(labels) as LineName[]).map((name) => (
    <button
      key={name}
      type="button"
      className={`chart-line line-${name}`}
      aria-pressed={shown.includes(name)}
      onClick={() =>
        onChange(shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name])
      }
    >
      {labels[name]}
    </button>
  ));

const ChartKeys = () => (
  <p className="chart-keys" aria-hidden="true">
    {(["down", "degraded", "maintenance"] as const).map((state) => (
      <span key={state}>
        <i className={`key-${state}`} /> {stateLabels[state]}
      </span>
    ))}
    <span className="on-touch">{t("Touch to read, pinch to zoom")}</span>
    <span className="on-keys">
      {tNode("Drag to zoom {left}{right} move {plus}{minus} zoom {escape} reset", {
        left: <kbd>←</kbd>,
        right: <kbd>→</kbd>,
        plus: <kbd>+</kbd>,
        minus: <kbd>−</kbd>,
        escape: <kbd>Esc</kbd>,
      })}
    </span>
  </p>
);

/** The trouble of a slot in words: `Down 5 min: Status 502, expected 200–299.` */
function describeTrouble(point: TimelinePoint): string {
  const state = worstTroubleOf(point);
  if (state === null) return "";
  const seconds = formatUnbrokenDuration(point[`${state}Seconds`]);
  const reason = state === "maintenance" ? null : point.reason;
  return `${stateLabels[state]} ${seconds}${reason === null ? "" : `: ${formatReason(reason)}`}`;
}

function Tip({
  columns: { step, times, points, lines },
  index,
  shown,
  labels,
}: {
  columns: Columns;
  index: number;
  shown: readonly LineName[];
  labels: Record<LineName, string>;
}) {
  const zone = useZone();
  const now = useNow();
  const stepMs = step * 1_000;
  const from = (times[index] ?? 0) * 1_000 - stepMs / 2;
  const point = points[index];
  const state = worstTroubleOf(point);
  return (
    <>
      <b>{formatPeriod(zone, from, from + stepMs, now)}</b>
      {point === undefined || point.checks === 0 ? (
        state === null && <p>{t("No data")}</p>
      ) : (
        <dl>
          <div>
            <dt>{t("Average")}</dt>
            <dd>{formatLatency(point.averageMs)}</dd>
          </div>
          {shown.map((name) => (
            <div key={name}>
              <dt className={`line-${name}`}>{labels[name]}</dt>
              <dd>{formatLatency(lines[name][index])}</dd>
            </div>
          ))}
        </dl>
      )}
      {point !== undefined && state !== null && (
        <p className={state}>
          <StateIcon state={state} size={13} /> {describeTrouble(point)}
        </p>
      )}
    </>
  );
}

/** The chart as a table. */
function PointTable({ timeline: { points, step } }: { timeline: Timeline }) {
  const zone = useZone();
  const now = useNow();
  return (
    <div className="chart-table" tabIndex={0} role="region" aria-label={t("Latency as a table")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("Time")}</th>
            <th scope="col">{t("Average")}</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
            <th scope="col">p99</th>
            <th scope="col">{t("State")}</th>
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map((point) => {
            const from = Date.parse(point.at);
            return (
              <tr key={point.at}>
                <th scope="row">{formatPeriod(zone, from, from + step * 1_000, now)}</th>
                <td>{formatLatency(point.averageMs)}</td>
                <td>{formatLatency(point.p50Ms)}</td>
                <td>{formatLatency(point.p95Ms)}</td>
                <td>{formatLatency(point.p99Ms)}</td>
                <td>
                  {describeTrouble(point) ||
                    (point.upSeconds > 0 ? stateLabels.up : t("Not judged"))}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
