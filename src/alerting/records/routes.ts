import { pageSchema } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { AlertQuery, AlertSummary, AlertWithDeliveries } from "./schema.ts";
import { getAlert, listAlerts } from "./service.ts";

export const recordRoutes = createRouter("/api/v1/alerts")
  .get(
    ...defineEndpoint("", {
      name: "listAlerts",
      access: "read",
      summary: "List alerts",
      description:
        "Problems that people are notified of, newest first. An alert is stored for 90 days after its end.",
      query: AlertQuery,
      response: pageSchema(AlertSummary),
      handle: ({ scope, query }) => listAlerts(scope, query),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getAlert",
      access: "read",
      summary: "Get an alert with its timeline and deliveries",
      description: "Also accepts the id of a message about it, such as `alertId` in a webhook.",
      data: AlertWithDeliveries,
      handle: ({ scope, params }) => getAlert(scope, params.id),
    }),
  );
