import { Button, SegmentedControl } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { Panel } from "../../components/page.tsx";
import { type Span, useLatency, useStates } from "./data.ts";

const LatencyChart = lazy(() => import("./latency-chart.tsx"));

const spans = [
  { value: "24", label: "24 h" },
  { value: "168", label: "7 d" },
  { value: "720", label: "30 d" },
  { value: "2160", label: "90 d" },
];

export function LatencyPanel({ id }: { id: string }) {
  const [hours, setHours] = useState("24");
  const [zoom, setZoom] = useState<Span | null>(null);
  const { data } = useLatency(id, Number(hours), zoom);
  const { data: states = [] } = useStates(id);
  return (
    <Panel
      title="Latency"
      actions={
        <>
          {zoom !== null && (
            <Button size="compact-xs" onClick={() => setZoom(null)}>
              Reset zoom
            </Button>
          )}
          <SegmentedControl
            size="xs"
            aria-label="Time range"
            data={spans}
            value={hours}
            onChange={(value) => {
              setHours(value);
              setZoom(null);
            }}
          />
        </>
      }
    >
      <div className="chart">
        {data !== undefined && data.points.length === 0 && (
          <p className="chart-none">No data in this time range.</p>
        )}
        {data !== undefined && data.points.length > 0 && (
          <Suspense>
            <LatencyChart span={data.span} points={data.points} states={states} onZoom={setZoom} />
          </Suspense>
        )}
      </div>
    </Panel>
  );
}
