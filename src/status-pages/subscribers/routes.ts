/** REST routes of the subscribers of a status page. */
import { z } from "zod";
import { Deleted, pageSchema } from "../../core/paging.ts";
import { HoldQuery } from "../../http/held-changes/schema.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import {
  ImportedSubscribers,
  NewSubscriber,
  Subscriber,
  type SubscriberChoice,
  SubscriberImport,
  SubscriberPatch,
  SubscriberQuery,
} from "./schema.ts";
import {
  addSubscriber,
  deleteSubscriber,
  exportSubscribers,
  getSubscriber,
  importSubscribers,
  listSubscribers,
  releaseSubscriber,
  updateSubscriber,
} from "./service.ts";

export const subscriberRoutes = createRouter("/api/v1/status-pages")
  .get(
    ...defineEndpoint("/:id/subscribers", {
      name: "listSubscribers",
      access: "read",
      limited: "denied",
      cached: true,
      summary: "List the subscribers of a status page",
      description: "Newest first.",
      query: SubscriberQuery,
      response: pageSchema(Subscriber),
      handle: ({ scope, params, query }) => listSubscribers(scope, params.id, query),
    }),
  )
  .post(
    ...defineEndpoint("/:id/subscribers", {
      name: "addSubscriber",
      access: "write",
      limited: "denied",
      summary: "Add a subscriber to a status page",
      description:
        "A mailbox first gets only a confirmation link, unless you set `confirmed`. A webhook needs no confirmation. A subscribed address is a conflict, and so is an unconfirmed mailbox without a mail server.",
      body: NewSubscriber,
      data: Subscriber,
      status: 201,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => addSubscriber(scope, params.id, body),
    }),
  )
  .post(
    ...defineEndpoint("/:id/subscribers-import", {
      name: "importSubscribers",
      access: "write",
      limited: "denied",
      summary: "Import subscribers of a status page",
      description:
        "Adds e-mail addresses whose owners have agreed, all or none. Addresses that are subscribed stay as they are.",
      body: SubscriberImport,
      data: ImportedSubscribers,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => importSubscribers(scope, params.id, body.csv),
    }),
  )
  .get(
    ...defineEndpoint("/:id/subscribers-export", {
      name: "exportSubscribers",
      access: "read",
      limited: "denied",
      long: true,
      summary: "Export the subscribers of a status page",
      description: "All subscribers at once, oldest first.",
      data: z.array(Subscriber),
      handle: ({ scope, params }) => exportSubscribers(scope, params.id),
    }),
  )
  .get(
    ...defineEndpoint("/:id/subscribers/:subscriberId", {
      name: "getSubscriber",
      access: "read",
      limited: "denied",
      cached: true,
      summary: "Get a subscriber",
      data: Subscriber,
      handle: ({ scope, params }) => getSubscriber(scope, params.id, params.subscriberId),
    }),
  )
  .patch(
    ...defineEndpoint("/:id/subscribers/:subscriberId", {
      name: "updateSubscriber",
      access: "write",
      limited: "denied",
      summary: "Change what a subscriber gets",
      description: "Absent fields keep their value. The address of a subscriber can't be changed.",
      body: SubscriberPatch,
      data: Subscriber,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) =>
        updateSubscriber(scope, params.id, params.subscriberId, body as Partial<SubscriberChoice>),
    }),
  )
  .post(
    ...defineEndpoint("/:id/subscribers/:subscriberId/release", {
      name: "releaseSubscriber",
      access: "write",
      limited: "denied",
      summary: "Release a quarantined subscriber",
      description: "Later updates are sent to the address again. Missed ones are not.",
      data: Subscriber,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params }) => releaseSubscriber(scope, params.id, params.subscriberId),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/subscribers/:subscriberId", {
      name: "deleteSubscriber",
      access: "write",
      limited: "denied",
      summary: "Delete a subscriber",
      description: "The subscriber gets no more updates, and can subscribe again.",
      query: HoldQuery,
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteSubscriber(scope, params.id, params.subscriberId),
    }),
  );
