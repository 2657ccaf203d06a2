import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { AlertChannel, AlertChannelPatch, NewAlertChannel } from "./schema.ts";
import {
  createAlertChannel,
  deleteAlertChannel,
  getAlertChannel,
  listAlertChannels,
  updateAlertChannel,
} from "./service.ts";

export const alertChannelRoutes = new Elysia({ prefix: "/api/v1/alert-channels" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "listAlertChannels",
        access: "read",
        cached: true,
        summary: "List all alert channels",
        description: "Newest first.",
        response: dataOf(z.array(AlertChannel)),
      },
      async ({ scope }) => ({ data: await listAlertChannels(scope) }),
    ),
  )
  .post(
    ...endpoint(
      "/",
      {
        name: "createAlertChannel",
        access: "write",
        summary: "Create an alert channel",
        body: NewAlertChannel,
        errors: ["CONFLICT"],
        response: dataOf(AlertChannel),
        status: 201,
      },
      async ({ scope, body }) => ({ data: await createAlertChannel(scope, body) }),
    ),
  )
  .get(
    ...endpoint(
      "/:id",
      {
        name: "getAlertChannel",
        access: "read",
        cached: true,
        summary: "Get an alert channel",
        response: dataOf(AlertChannel),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, params }) => ({ data: await getAlertChannel(scope, params.id) }),
    ),
  )
  .patch(
    ...endpoint(
      "/:id",
      {
        name: "updateAlertChannel",
        access: "write",
        summary: "Update an alert channel",
        description:
          "Absent fields keep their value; for a secret, null clears it. A secret stays with its address: a change of that has to send the secret again.",
        body: AlertChannelPatch,
        response: dataOf(AlertChannel),
        errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      },
      async ({ scope, params, body }) => ({
        data: await updateAlertChannel(scope, params.id, body),
      }),
    ),
  )
  .delete(
    ...endpoint(
      "/:id",
      {
        name: "deleteAlertChannel",
        access: "write",
        summary: "Delete an alert channel",
        description: "It is detached from every monitor and group.",
        response: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, params }) => {
        await deleteAlertChannel(scope, params.id);
        return deleted;
      },
    ),
  );
