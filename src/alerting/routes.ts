/** REST routes of deliveries, test alerts, the preview of an alert, and the replay of alerts. */
import { pageSchema } from "../core/paging.ts";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { NewReplay, Replay } from "./replay/schema.ts";
import { startReplay } from "./replay/service.ts";
import { AlertPreview, Delivery, PageQuery } from "./schema.ts";
import { OnCallQuery } from "./schedules/schema.ts";
import { listDeliveries, previewAlert, type TestDependencies, testChannel } from "./service.ts";

export const createAlertRoutes = (dependencies: TestDependencies) =>
  createRouter("/api/v1")
    .get(
      ...defineEndpoint("/alert-channels/:id/deliveries", {
        name: "listDeliveries",
        access: "read",
        limited: "denied",
        summary: "List an alert channel's deliveries",
        description: "Newest first, each with its attempts; stored for 90 days.",
        query: PageQuery,
        response: pageSchema(Delivery),
        handle: ({ scope, params, query }) => listDeliveries(scope, params.id, query),
      }),
    )
    .post(
      ...defineEndpoint("/alert-channels/:id/test", {
        name: "testAlertChannel",
        access: "write",
        limited: "denied",
        timeoutSeconds: 30,
        summary: "Send a test alert",
        description:
          "Sends immediately, even to a disabled channel, and returns the delivery. If it failed, `error` is the reason in one sentence; there is no retry.",
        data: Delivery,
        handle: ({ scope, params }) => testChannel(scope, dependencies, params.id),
      }),
    )
    .get(
      ...defineEndpoint("/monitors/:id/alert-preview", {
        name: "previewAlert",
        access: "read",
        limited: "monitor",
        summary: "Preview whom an outage would notify, and when",
        description:
          "`at` is the start of the outage. Channels are previewed with their present settings, and schedules with the shifts of each time. Dependencies on other monitors are not considered.",
        query: OnCallQuery,
        data: AlertPreview,
        handle: ({ scope, params, query }) => previewAlert(scope, params.id, query),
      }),
    )
    .post(
      ...defineEndpoint("/alerting/replay", {
        name: "replayAlerts",
        access: "read",
        limited: "denied",
        summary: "Replay the alerts of the past with other settings",
        description:
          "Compares the alerts that the stored checks cause with the saved settings and with the requested ones. Changes nothing.",
        body: NewReplay,
        data: Replay,
        errors: ["NOT_FOUND"],
        handle: ({ scope, body }) => startReplay(scope, body),
      }),
    );
