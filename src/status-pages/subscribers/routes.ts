import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted, pageOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { NewSubscriber, Subscriber, SubscriberQuery } from "./schema.ts";
import {
  addSubscriber,
  deleteSubscriber,
  exportSubscribers,
  getSubscriber,
  listSubscribers,
} from "./service.ts";

export const subscriberRoutes = new Elysia({ prefix: "/api/v1/status-pages/:id" })
  .get(
    "/subscribers",
    ...endpoint(
      {
        name: "listSubscribers",
        access: "read",
        cached: true,
        summary: "List the subscribers of a status page",
        description: "Newest first.",
        query: SubscriberQuery,
        answer: pageOf(Subscriber),
        errors: ["NOT_FOUND"],
      },
      ({ scope, id, query }) => listSubscribers(scope, id, query),
    ),
  )
  .post(
    "/subscribers",
    ...endpoint(
      {
        name: "addSubscriber",
        access: "write",
        summary: "Add a subscriber to a status page",
        description:
          "A mailbox is sent a link first and hears nothing else before it was followed, unless you say that it is `confirmed`. A webhook hears at once. An address that subscribes already is a conflict, as is a mailbox to be asked while no mail server is set.",
        body: NewSubscriber,
        answer: dataOf(Subscriber),
        status: 201,
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, id, body }) => ({ data: await addSubscriber(scope, id, body) }),
    ),
  )
  .get(
    "/subscribers-export",
    ...endpoint(
      {
        name: "exportSubscribers",
        access: "read",
        summary: "Export the subscribers of a status page",
        description: "All of them at once, oldest first.",
        answer: dataOf(z.array(Subscriber)),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await exportSubscribers(scope, id) }),
    ),
  )
  .get(
    "/subscribers/:subscriberId",
    ...endpoint(
      {
        name: "getSubscriber",
        access: "read",
        cached: true,
        summary: "Get a subscriber",
        answer: dataOf(Subscriber),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id, childId }) => ({ data: await getSubscriber(scope, id, childId) }),
    ),
  )
  .delete(
    "/subscribers/:subscriberId",
    ...endpoint(
      {
        name: "deleteSubscriber",
        access: "write",
        summary: "Delete a subscriber",
        description: "It hears nothing more, and may subscribe again.",
        answer: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, id, childId }) => {
        await deleteSubscriber(scope, id, childId);
        return deleted;
      },
    ),
  );
