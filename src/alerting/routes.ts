import { Elysia } from "elysia";
import { dataOf, pageOf } from "../core/paging.ts";
import { endpoint } from "../http/endpoint.ts";
import {
  AlertPreview,
  AlertQuery,
  AlertSummary,
  AlertWithDeliveries,
  Delivery,
  PageQuery,
} from "./schema.ts";
import { getAlert, listAlerts, listDeliveries, previewAlert, testChannel } from "./service.ts";

export const alertRoutes = new Elysia({ prefix: "/api/v1" })
  .get(
    "/alerts",
    ...endpoint(
      {
        name: "listAlerts",
        access: "read",
        summary: "List alerts",
        description: "What was told to at least one channel, newest first; kept for 90 days.",
        query: AlertQuery,
        answer: pageOf(AlertSummary),
      },
      async ({ scope, query }) => listAlerts(scope, query),
    ),
  )
  .get(
    "/alerts/:id",
    ...endpoint(
      {
        name: "getAlert",
        access: "read",
        summary: "Get an alert with its deliveries",
        answer: dataOf(AlertWithDeliveries),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await getAlert(scope, id) }),
    ),
  )
  .get(
    "/alert-channels/:id/deliveries",
    ...endpoint(
      {
        name: "listDeliveries",
        access: "read",
        summary: "List an alert channel's deliveries",
        description: "Newest first, each with its attempts; kept for 90 days.",
        query: PageQuery,
        answer: pageOf(Delivery),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id, query }) => listDeliveries(scope, id, query),
    ),
  )
  .post(
    "/alert-channels/:id/test",
    ...endpoint(
      {
        name: "testAlertChannel",
        access: "write",
        takesSeconds: 30,
        summary: "Send a test alert",
        description:
          "At once, also to a disabled channel. Answers the delivery, whose `error` says in one sentence why it failed, if it did; it is not tried again.",
        answer: dataOf(Delivery),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id, appliance }) => ({ data: await testChannel(scope, appliance, id) }),
    ),
  )
  .get(
    "/monitors/:id/alert-preview",
    ...endpoint(
      {
        name: "previewAlert",
        access: "read",
        summary: "See who would be told of an outage now",
        answer: dataOf(AlertPreview),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await previewAlert(scope, id) }),
    ),
  );
