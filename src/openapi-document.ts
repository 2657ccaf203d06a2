import { webhooks } from "./alerting/sending/webhooks.ts";
import { listRoutes } from "./api.ts";
import { buildOpenApi, type Route } from "./http/openapi.ts";
import { pushOperations } from "./monitoring/checks/protocols/push-operations.ts";
import { publicOperations } from "./status-pages/rendering/document.ts";
import { subscriberWebhooks } from "./status-pages/subscribers/webhooks.ts";

/** Generates the OpenAPI document for scripts. The build stores it, so that a start does not wait for it. */
export function buildDocument(version: string) {
  return buildOpenApi(listRoutes().api.routes as unknown as Route[], version, {
    paths: { ...pushOperations, ...publicOperations },
    webhooks: { ...webhooks, ...subscriberWebhooks },
  });
}
