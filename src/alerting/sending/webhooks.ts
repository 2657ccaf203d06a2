import type { ZodOpenApiObject } from "zod-openapi";
import { z } from "zod";
import { WebhookBody } from "../schema.ts";

/** Headers of our webhooks, as defined by Standard Webhooks. */
export const webhookHeaders = z.object({
  "webhook-id": z.string().meta({
    description: "Id of the delivery, the same on every attempt.",
  }),
  "webhook-timestamp": z.string().meta({
    description: "Unix seconds of the attempt.",
  }),
  "webhook-signature": z.string().optional().meta({
    description:
      "`v1,` and the Base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body` under the receiver's `secret`: the bytes whose Base64 follows `whsec_`.",
  }),
});

/** Requests to `webhook` channels, as described in the OpenAPI document. */
export const webhooks: NonNullable<ZodOpenApiObject["webhooks"]> = {
  alert: {
    post: {
      operationId: "receiveAlert",
      summary: "Receive an alert",
      description:
        "Sent to the `url` of a `webhook` channel, with [Standard Webhooks](https://www.standardwebhooks.com) headers. Answer 2xx within 10 s; redirects are not followed. 410 is taken as final; anything else is tried again after 5 s, 15 s, 1 min, 5 min, then every 15 min for 24 h – for one hour after 401, 403 or 404. `Retry-After`, in seconds or as a date, holds up everything that waits for you, for an hour at most. The same alert may come twice, with the same `webhook-id` and the same body; alerts that come within 5 s are sent as one `digest`, or as several where it would be larger than 20 kB.",
      tags: ["Alert channels"],
      security: [],
      requestParams: {
        header: webhookHeaders,
      },
      requestBody: { required: true, content: { "application/json": { schema: WebhookBody } } },
      responses: { "2XX": { description: "Accepted." }, "4XX": { description: "Not accepted." } },
    },
  },
};
