/** Wire format of heartbeats, uptime, latency and screenshots. */
import { heartbeatStatuses } from "../../core/statuses.ts";
import { z } from "zod";
import { dayMs } from "../../core/time/clock.ts";
import { instant, Timestamp } from "../../core/fields.ts";
import { createCountField } from "../../core/paging.ts";

export const HeartbeatStatus = z.enum(heartbeatStatuses).meta({
  id: "HeartbeatStatus",
  description:
    "Result of one check. `unknown`: not judged, because the appliance had a problem or could not start the check. `maintenance`: checked during a maintenance window.",
});
export type HeartbeatStatus = z.infer<typeof HeartbeatStatus>;

export const Heartbeat = z
  .object({
    at: Timestamp,
    status: HeartbeatStatus,
    latencyMs: z.int().min(0).nullable(),
    message: z.string().nullable().meta({ description: "Why it was not up; null when it was." }),
    period: z
      .int()
      .min(1)
      .meta({ description: "Seconds that the result represents in uptime figures." }),
    number: z.number().nullable().meta({
      description: "Value of the monitor's `number`; null where there was none.",
    }),
  })
  .meta({
    id: "Heartbeat",
    description: "The stored result of one check.",
    example: {
      at: "2026-11-20T23:02:00.000Z",
      status: "up",
      latencyMs: 34,
      message: null,
      period: 60,
      number: null,
    },
  });
export type Heartbeat = z.infer<typeof Heartbeat>;

/** A span of time. `from` is inclusive, `to` is exclusive. */
const span = {
  from: instant.optional().meta({ override: { type: "string", format: "date-time" } }),
  to: instant.optional().meta({ override: { type: "string", format: "date-time" } }),
};
const isInOrder = ({ from, to }: { from?: number | undefined; to?: number | undefined }) =>
  from === undefined || to === undefined || from < to;
const notInOrder = { path: ["from"], message: "must be before to" };

export const HeartbeatQuery = z
  .strictObject({ ...span, limit: createCountField(1000, 100, "Entries") })
  .refine(isInOrder, notInOrder);
export type HeartbeatQuery = z.infer<typeof HeartbeatQuery>;

export const ScreenshotQuery = z.strictObject({
  at: instant.optional().meta({
    override: { type: "string", format: "date-time" },
    description: "Only the one of this time: such an address never shows another.",
  }),
});

export const LatencyQuery = z
  .strictObject({ ...span, points: createCountField(1000, 100, "Points") })
  .refine(isInOrder, notInOrder);
export type LatencyQuery = z.infer<typeof LatencyQuery>;

const percentile = z.int().min(0).nullable().meta({
  description:
    "Exact for points closer than an hour; otherwise computed from stored sums, with an error of at most a tenth. Null if nothing was measured, or for sums of older versions.",
});
const percentiles = { p50Ms: percentile, p95Ms: percentile, p99Ms: percentile };

export const LatencyPoint = z
  .object({
    at: Timestamp,
    averageMs: z.number().min(0),
    minMs: z.int().min(0),
    maxMs: z.int().min(0),
    checks: z.int().min(1).meta({ description: "Checks that measured a latency." }),
    ...percentiles,
  })
  .meta({
    id: "LatencyPoint",
    description: "Latency from this time to the next point.",
    example: {
      at: "2026-11-20T23:00:00.000Z",
      averageMs: 35.25,
      minMs: 28,
      maxMs: 61,
      checks: 60,
      p50Ms: 34,
      p95Ms: 52,
      p99Ms: 61,
    },
  });
export type LatencyPoint = z.infer<typeof LatencyPoint>;

export const NumberPoint = z
  .object({
    at: Timestamp,
    average: z.number(),
    min: z.number(),
    max: z.number(),
    checks: z.int().min(1).meta({ description: "Checks that found a number." }),
  })
  .meta({
    id: "NumberPoint",
    description: "The monitor's number from this time to the next point.",
    example: { at: "2026-11-20T23:00:00.000Z", average: 812.5, min: 640, max: 1_240, checks: 60 },
  });
export type NumberPoint = z.infer<typeof NumberPoint>;

const ratio = z.number().min(0).max(1).nullable().meta({
  description: "0 to 1, never rounded; null when nothing was measured.",
});
const seconds = z.int().min(0);
const secondsByStatus = {
  upSeconds: seconds,
  degradedSeconds: seconds,
  downSeconds: seconds,
  unknownSeconds: seconds,
  maintenanceSeconds: seconds,
};

/** Figures of one span, in the same format in all responses. */
const SpanFigures = z
  .object({
    from: Timestamp.meta({ description: "When it begins." }),
    isPartial: z.boolean().meta({
      description: "Whether the monitor was there for a part of it only: since `from`.",
    }),
    ratio,
    ...secondsByStatus,
    checks: z.int().min(0).meta({ description: "Checks that measured a latency." }),
    averageMs: z.number().min(0).nullable(),
    ...percentiles,
  })
  .meta({ id: "SpanFigures" });
export type SpanFigures = z.infer<typeof SpanFigures>;

/** A span with both ends, of at most ten years. */
export const PeriodQuery = z
  .strictObject({ from: instant, to: instant })
  .refine(isInOrder, notInOrder)
  .refine(({ from, to }) => to - from <= 3_660 * dayMs, {
    path: ["from"],
    message: "must be at most ten years before to",
  });
export type PeriodQuery = z.infer<typeof PeriodQuery>;

/** Figures from `from` to `to`, which are whole hours or days where single results are not used. */
export const PeriodFigures = SpanFigures.omit({ isPartial: true }).extend({ to: Timestamp });
export type PeriodFigures = z.infer<typeof PeriodFigures>;

const exampleDay = {
  ratio: 0.9979166666666667,
  upSeconds: 86_160,
  degradedSeconds: 60,
  downSeconds: 180,
  unknownSeconds: 0,
  maintenanceSeconds: 0,
};
const example = {
  ...exampleDay,
  from: "2026-11-19T11:00:00.000Z",
  isPartial: false,
  checks: 1_437,
  averageMs: 35.25,
  p50Ms: 34,
  p95Ms: 52,
  p99Ms: 61,
};

export const Uptime = z
  .object({
    ratios: z
      .object({ "24h": ratio, "7d": ratio, "30d": ratio, "90d": ratio, "365d": ratio })
      .meta({
        description:
          "Share of the measured time in which checks succeeded, including the current hour (24h, 7d) or day (the others). `unknown` and maintenance are not measured.",
      }),
    spans: z
      .object({
        "24h": SpanFigures,
        "7d": SpanFigures,
        "30d": SpanFigures,
        "90d": SpanFigures,
        "365d": SpanFigures,
      })
      .meta({ description: "The same spans with the time in each status and the latencies." }),
    days: z
      .array(
        z.object({
          date: z.string().meta({ format: "date", example: "2026-11-20" }),
          ratio,
          ...secondsByStatus,
        }),
      )
      .meta({
        description: "Days (UTC) of the last 365 on which anything was measured, oldest first.",
      }),
  })
  .meta({
    id: "Uptime",
    example: {
      ratios: { "24h": 0.9979166666666667, "7d": 0.9998, "30d": 0.9999, "90d": 1, "365d": null },
      spans: { "24h": example, "7d": example, "30d": example, "90d": example, "365d": example },
      days: [{ date: "2026-11-20", ...exampleDay }],
    },
  });
export type Uptime = z.infer<typeof Uptime>;
