import { Button } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { Panel } from "../../components/page.tsx";
import { type Span, useLatency, useStates } from "./data.ts";

const LatencyChart = lazy(() => import("./latency-chart.tsx"));

export function LatencyPanel({ id, from }: { id: string; from: number }) {
  const [zoom, setZoom] = useState<Span | null>(null);
  const { data } = useLatency(id, from, zoom);
  const { data: states = [] } = useStates(id);
  return (
    <Panel
      title="Latency"
      actions={
        zoom !== null && (
          <Button size="compact-xs" onClick={() => setZoom(null)}>
            Reset zoom
          </Button>
        )
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
