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
        "Sent to the `url` of a subscriber of the type `webhook`, in the way of an alert: with the same headers, tried again for 24 hours, maybe twice under one `webhook-id`. Updates come in their order and tell what the page shows.",
      tags: ["Status pages"],
      security: [],
      requestParams: { header: webhookHeaders },
      requestBody: {
        required: true,
        content: { "application/json": { schema: SubscriberWebhookBody } },
      },
      responses: { "2XX": { description: "Taken." }, "4XX": { description: "Not taken." } },
    },
  },
};
