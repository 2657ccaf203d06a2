/** REST routes of alerts and deliveries. */
import { pageOf } from "../core/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import {
  AlertPreview,
  AlertQuery,
  AlertSummary,
  AlertWithDeliveries,
  Delivery,
  PageQuery,
} from "./schema.ts";
import {
  getAlert,
  listDeliveries,
  previewAlert,
  type TestDependencies,
  testChannel,
} from "./service.ts";
import { listAlerts } from "./store.ts";

export const alertRoutes = (dependencies: TestDependencies) =>
  routesUnder("/api/v1")
    .get(
      ...endpoint("/alerts", {
        name: "listAlerts",
        access: "read",
        summary: "List alerts",
        description:
          "Alerts that were sent to at least one channel, newest first; stored for 90 days.",
        query: AlertQuery,
        response: pageOf(AlertSummary),
        handle: ({ scope, query }) => listAlerts(scope, query),
      }),
    )
    .get(
      ...endpoint("/alerts/:id", {
        name: "getAlert",
        access: "read",
        summary: "Get an alert with its deliveries",
        data: AlertWithDeliveries,
        handle: ({ scope, params }) => getAlert(scope, params.id),
      }),
    )
    .get(
      ...endpoint("/alert-channels/:id/deliveries", {
        name: "listDeliveries",
        access: "read",
        summary: "List an alert channel's deliveries",
        description: "Newest first, each with its attempts; stored for 90 days.",
        query: PageQuery,
        response: pageOf(Delivery),
        handle: ({ scope, params, query }) => listDeliveries(scope, params.id, query),
      }),
    )
    .post(
      ...endpoint("/alert-channels/:id/test", {
        name: "testAlertChannel",
        access: "write",
        timeoutSeconds: 30,
        summary: "Send a test alert",
        description:
          "Sends immediately, even to a disabled channel, and returns the delivery. If it failed, `error` is the reason in one sentence; there is no retry.",
        data: Delivery,
        handle: ({ scope, params }) => testChannel(scope, dependencies, params.id),
      }),
    )
    .get(
      ...endpoint("/monitors/:id/alert-preview", {
        name: "previewAlert",
        access: "read",
        summary: "List the channels that an outage would notify now",
        data: AlertPreview,
        handle: ({ scope, params }) => previewAlert(scope, params.id),
      }),
    );
