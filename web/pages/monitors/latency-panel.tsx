import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Panel } from "../../components/page.tsx";
import { type Span, useLatency, useStates } from "./data.ts";
import type { SpanName } from "./spans.ts";

const LatencyChart = lazy(() => import("./latency-chart.tsx"));

/** The latency over the page's span, or the part of it that the address names. */
export function LatencyPanel({
  id,
  from,
  span,
  zoom,
}: {
  id: string;
  from: number;
  span: SpanName;
  zoom: Span | null;
}) {
  const navigate = useNavigate();
  const { data } = useLatency(id, from, zoom);
  const { data: states = [] } = useStates(id);
  const show = (part: Span | null) =>
    void navigate({
      to: "/monitors/$id",
      params: { id },
      search: {
        span,
        ...(part && { from: Math.round(part.from), to: Math.round(part.to) }),
      },
      replace: true,
      resetScroll: false,
    });
  return (
    <Panel
      title="Latency"
      actions={
        zoom !== null && (
          <Button size="compact-xs" onClick={() => show(null)}>
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
            <LatencyChart span={data.span} points={data.points} states={states} onZoom={show} />
          </Suspense>
        )}
      </div>
    </Panel>
  );
}
