import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import {
  Heartbeat,
  HeartbeatQuery,
  LatencyPoint,
  LatencyQuery,
  ScreenshotQuery,
  Uptime,
} from "./schema.ts";
import { heartbeatsOf, latenciesOf, screenshotOf, uptimeOf } from "./service.ts";

export const uptimeRoutes = routesUnder("/api/v1/monitors")
  .get(
    ...endpoint("/:id/heartbeats", {
      name: "listHeartbeats",
      access: "read",
      summary: "List a monitor's heartbeats",
      description: "Newest first. They are kept for 14 days, unless configured otherwise.",
      query: HeartbeatQuery,
      data: z.array(Heartbeat),
      handle: ({ scope, params, query }) => heartbeatsOf(scope, params.id, query),
    }),
  )
  .get(
    ...endpoint("/:id/screenshot", {
      name: "getScreenshot",
      access: "read",
      bytes: "image/jpeg",
      summary: "Get what the browser showed when a monitor failed last",
      description:
        "Of a `browser` monitor, whose `screenshotAt` says when that was. Kept until the next failure, as long as the heartbeat.",
      query: ScreenshotQuery,
      response: z.instanceof(Uint8Array),
      handle: ({ scope, params, query }) => screenshotOf(scope, params.id, query.at ?? null),
    }),
  )
  .get(
    ...endpoint("/:id/uptime", {
      name: "getUptime",
      access: "read",
      summary: "Get a monitor's uptime",
      data: Uptime,
      handle: ({ scope, params }) => uptimeOf(scope, params.id),
    }),
  )
  .get(
    ...endpoint("/:id/latency", {
      name: "getLatency",
      access: "read",
      summary: "Get a monitor's latency over time",
      description:
        "The last 24 hours unless `from` and `to` say otherwise, oldest first; without the times in which nothing was measured. Long spans come from hourly or daily sums, which then begin on the hour or day.",
      query: LatencyQuery,
      data: z.array(LatencyPoint),
      handle: ({ scope, params, query }) => latenciesOf(scope, params.id, query),
    }),
  );
