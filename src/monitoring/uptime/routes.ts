/** Routes of a monitor's heartbeats, uptime, latency and numbers. */
import { z } from "zod";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import {
  Heartbeat,
  HeartbeatQuery,
  LatencyPoint,
  LatencyQuery,
  NumberPoint,
  ScreenshotQuery,
  Uptime,
} from "./schema.ts";
import {
  downloadNumbers,
  getScreenshot,
  getUptime,
  listLatencies,
  listMonitorHeartbeats,
  listNumbers,
} from "./service.ts";

export const uptimeRoutes = createRouter("/api/v1/monitors")
  .get(
    ...defineEndpoint("/:id/heartbeats", {
      name: "listHeartbeats",
      access: "read",
      limited: "monitor",
      summary: "List a monitor's heartbeats",
      description: "Newest first. Stored for 14 days, unless configured otherwise.",
      query: HeartbeatQuery,
      data: z.array(Heartbeat),
      handle: ({ scope, params, query }) => listMonitorHeartbeats(scope, params.id, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id/screenshot", {
      name: "getScreenshot",
      access: "read",
      limited: "monitor",
      bytes: "image/jpeg",
      summary: "Get the screenshot of the last failed check of a monitor",
      description:
        "Of a `browser` monitor; `screenshotAt` is its time. Stored until the next failure, as long as the heartbeat.",
      query: ScreenshotQuery,
      response: z.instanceof(Uint8Array),
      handle: ({ scope, params, query }) => getScreenshot(scope, params.id, query.at ?? null),
    }),
  )
  .get(
    ...defineEndpoint("/:id/uptime", {
      name: "getUptime",
      access: "read",
      limited: "monitor",
      summary: "Get a monitor's uptime",
      data: Uptime,
      handle: ({ scope, params }) => getUptime(scope, params.id),
    }),
  )
  .get(
    ...defineEndpoint("/:id/latency", {
      name: "getLatency",
      access: "read",
      limited: "monitor",
      summary: "Get a monitor's latency over time",
      description:
        "The last 24 hours by default, oldest first, without times that were not measured. Long spans use hourly or daily sums, which start on the hour or day.",
      query: LatencyQuery,
      data: z.array(LatencyPoint),
      handle: ({ scope, params, query }) => listLatencies(scope, params.id, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id/numbers", {
      name: "listNumbers",
      access: "read",
      limited: "monitor",
      summary: "Get a monitor's number over time",
      description:
        "Of a monitor with a `number`. The last 24 hours by default, oldest first, without times that have none. Long spans use hourly or daily sums, which start on the hour or day.",
      query: LatencyQuery,
      data: z.array(NumberPoint),
      handle: ({ scope, params, query }) => listNumbers(scope, params.id, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id/numbers/csv", {
      name: "getNumbersAsCsv",
      access: "read",
      limited: "monitor",
      bytes: "text/csv",
      summary: "Get a monitor's number over time as CSV",
      description: "RFC 4180, in UTF-8, with the same points as the list.",
      query: LatencyQuery,
      response: z.instanceof(File),
      handle: ({ scope, params, query }) => downloadNumbers(scope, params.id, query),
    }),
  );
