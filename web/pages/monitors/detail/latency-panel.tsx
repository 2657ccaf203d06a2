import { Button } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";
import { periodIn } from "../../../../src/core/time/times.ts";
import type { Timeline, TimelinePoint } from "../../../../src/dashboard/timeline-schema.ts";
import { chunk } from "../../../data/chunks.ts";
import { latencyInWords, reasonInWords } from "../../../components/display/format.ts";
import { Panel } from "../../../components/page.tsx";
import { StateIcon, stateLabels } from "../../../components/display/state-icon.tsx";
import { durationInWords, useNow, useZone } from "../../../components/display/time.tsx";
import { type Columns, columnsOf, type LineName, stepFor, troubleOf } from "./chart-data.ts";
import { type Span, useTimeline } from "../data.ts";
import { type SpanName, spanLabels } from "./spans.ts";

const LatencyChart = lazy(chunk(() => import("./latency-chart.tsx")));

const usualLines: LineName[] = ["p50", "p95"];

type Props = { id: string; interval: number; from: number; span: SpanName; zoom: Span | null };

/** The latency over the page's span, or the part of it that the address names. */
export function LatencyPanel({ id, interval, from, span, zoom }: Props) {
  const navigate = useNavigate();
  const [shown, setShown] = useLocalStorage({
    key: "signalbox.chart-lines",
    defaultValue: usualLines,
    getInitialValueInEffect: false,
  });
  const [isTable, setTable] = useState(false);
  const now = useNow();
  // To the end of the current step: asked anew only when another one begins, or something is checked.
  const open = { from, to: Math.max(now, from + 60_000) };
  const step = stepFor(zoom ?? open, interval);
  const stepMs = step * 1_000;
  const begin = zoom?.from ?? Math.floor(from / stepMs) * stepMs;
  const end = zoom?.to ?? Math.ceil(open.to / stepMs) * stepMs;
  const part = useMemo(() => ({ from: begin, to: end }), [begin, end]);
  const earlier = { from: 2 * part.from - part.to, to: part.from };
  const { data } = useTimeline(id, part, step);
  const { data: previous } = useTimeline(id, earlier, step, shown.includes("previous"));
  const columns = useMemo(
    () => (data === undefined ? undefined : columnsOf(data, previous)),
    [data, previous],
  );
  const show = (next: Span | null) =>
    void navigate({
      to: "/monitors/$id",
      params: { id },
      search: { span, ...(next && { from: Math.round(next.from), to: Math.round(next.to) }) },
      replace: true,
      resetScroll: false,
    });
  const labels: Record<LineName, string> = {
    p50: "p50",
    p95: "p95",
    p99: "p99",
    previous: zoom === null ? `${spanLabels[span]} before` : "Before",
  };
  const toggle = (name: LineName) =>
    setShown(shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name]);
  return (
    <Panel
      title="Latency"
      actions={
        <div className="chart-lines">
          {zoom !== null && (
            <Button size="compact-xs" onClick={() => show(null)}>
              Reset zoom
            </Button>
          )}
          {(Object.keys(labels) as LineName[]).map((name) => (
            <button
              key={name}
              type="button"
              className={`chart-line line-${name}`}
              aria-pressed={shown.includes(name)}
              onClick={() => toggle(name)}
            >
              {labels[name]}
            </button>
          ))}
          <button
            type="button"
            className="chart-line"
            aria-pressed={isTable}
            onClick={() => setTable(!isTable)}
          >
            Table
          </button>
        </div>
      }
    >
      {data === undefined || columns === undefined ? (
        <div className="chart-room" />
      ) : (
        <>
          {data.points.length === 0 ? (
            <p className="chart-none">No data in this time range.</p>
          ) : isTable ? (
            <PointTable timeline={data} />
          ) : (
            <div className="chart-room">
              <Suspense fallback={<div className="chart-coming" />}>
                <LatencyChart span={part} columns={columns} shown={shown} onZoom={show}>
                  {(index) => (
                    <Tip
                      columns={columns}
                      index={index}
                      stepMs={stepMs}
                      shown={shown}
                      labels={labels}
                    />
                  )}
                </LatencyChart>
              </Suspense>
              <p className="chart-keys" aria-hidden="true">
                {(["down", "degraded", "maintenance"] as const).map((state) => (
                  <span key={state}>
                    <i className={`key-${state}`} /> {stateLabels[state]}
                  </span>
                ))}
                <span className="on-touch">Touch to read, pinch to zoom</span>
                <span className="on-keys">
                  Drag to zoom <kbd>←</kbd>
                  <kbd>→</kbd> move <kbd>+</kbd>
                  <kbd>−</kbd> zoom <kbd>Esc</kbd> reset
                </span>
              </p>
            </div>
          )}
        </>
      )}
    </Panel>
  );
}

/** What a slot was, in a sentence: `Down 5 min: Status 502, expected 200–299.` */
function troubleInWords(point: TimelinePoint): string {
  const state = troubleOf(point);
  if (state === null) return "";
  const seconds = durationInWords(point[`${state}Seconds`]);
  const reason = state === "maintenance" ? null : point.reason;
  return `${stateLabels[state]} ${seconds}${reason === null ? "" : `: ${reasonInWords(reason)}`}`;
}

function Tip({
  columns: { times, points, lines },
  index,
  stepMs,
  shown,
  labels,
}: {
  columns: Columns;
  index: number;
  stepMs: number;
  shown: readonly LineName[];
  labels: Record<LineName, string>;
}) {
  const zone = useZone();
  const now = useNow();
  const from = (times[index] ?? 0) * 1_000 - stepMs / 2;
  const point = points[index];
  const state = troubleOf(point);
  return (
    <>
      <b>{periodIn(zone, from, from + stepMs, now)}</b>
      {point === undefined || point.checks === 0 ? (
        state === null && <p>No data</p>
      ) : (
        <dl>
          <div>
            <dt>Average</dt>
            <dd>{latencyInWords(point.averageMs)}</dd>
          </div>
          {shown.map((name) => (
            <div key={name}>
              <dt className={`line-${name}`}>{labels[name]}</dt>
              <dd>{latencyInWords(lines[name][index])}</dd>
            </div>
          ))}
        </dl>
      )}
      {point !== undefined && state !== null && (
        <p className={state}>
          <StateIcon state={state} size={13} /> {troubleInWords(point)}
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
    <div className="chart-table" tabIndex={0} role="region" aria-label="Latency as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Average</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
            <th scope="col">p99</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map((point) => {
            const from = Date.parse(point.at);
            return (
              <tr key={point.at}>
                <th scope="row">{periodIn(zone, from, from + step * 1_000, now)}</th>
                <td>{latencyInWords(point.averageMs)}</td>
                <td>{latencyInWords(point.p50Ms)}</td>
                <td>{latencyInWords(point.p95Ms)}</td>
                <td>{latencyInWords(point.p99Ms)}</td>
                <td>{troubleInWords(point) || (point.upSeconds > 0 ? "Up" : "Not judged")}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
