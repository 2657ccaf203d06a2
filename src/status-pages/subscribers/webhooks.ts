import type { ZodOpenApiObject } from "zod-openapi";
import { webhookHeaders } from "../../alerting/sending/webhooks.ts";
import { SubscriberWebhookBody } from "./schema.ts";

/** Requests to subscribed webhooks, for the OpenAPI document. */
export const subscriberWebhooks: NonNullable<ZodOpenApiObject["webhooks"]> = {
  statusPageUpdate: {
    post: {
      operationId: "receiveStatusPageUpdate",
      summary: "Receive an update of a status page",
      description:
        "Sent to the `url` of a `webhook` subscriber like an alert: with the same headers, retried for 24 hours, and possibly twice with the same `webhook-id`. Updates arrive in order, with the content that the page shows.",
      tags: ["Status pages"],
      security: [],
      requestParams: { header: webhookHeaders },
      requestBody: {
        required: true,
        content: { "application/json": { schema: SubscriberWebhookBody } },
      },
      responses: { "2XX": { description: "Accepted." }, "4XX": { description: "Not accepted." } },
    },
  },
};
