import { webhooks } from "./alerting/sending/webhooks.ts";
import { api } from "./api.ts";
import { openApiOf, type Route } from "./http/openapi.ts";
import { pushOperations } from "./monitoring/checks/protocols/document.ts";
import { publicOperations } from "./status-pages/rendering/document.ts";
import { subscriberWebhooks } from "./status-pages/subscribers/webhooks.ts";

/** The OpenAPI document of everything that scripts talk to: made by the build, so that a start pays nothing for it. */
export function documentOf(version: string) {
  return openApiOf(api.routes as unknown as Route[], version, {
    paths: { ...pushOperations, ...publicOperations },
    webhooks: { ...webhooks, ...subscriberWebhooks },
  });
}
