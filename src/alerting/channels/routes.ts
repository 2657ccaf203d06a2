import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf, Deleted, deleted } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { AlertChannel, AlertChannelPatch, NewAlertChannel } from "./schema.ts";
import {
  createAlertChannel,
  deleteAlertChannel,
  getAlertChannel,
  listAlertChannels,
  updateAlertChannel,
} from "./service.ts";

export const alertChannelRoutes = new Elysia({ prefix: "/api/v1/alert-channels" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listAlertChannels",
        access: "read",
        cached: true,
        summary: "List all alert channels",
        description: "Newest first.",
        answer: dataOf(z.array(AlertChannel)),
      },
      async ({ scope }) => ({ data: await listAlertChannels(scope) }),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "createAlertChannel",
        access: "write",
        summary: "Create an alert channel",
        body: NewAlertChannel,
        errors: ["CONFLICT"],
        answer: dataOf(AlertChannel),
        status: 201,
      },
      async ({ scope, body }) => ({ data: await createAlertChannel(scope, body) }),
    ),
  )
  .get(
    "/:id",
    ...endpoint(
      {
        name: "getAlertChannel",
        access: "read",
        cached: true,
        summary: "Get an alert channel",
        answer: dataOf(AlertChannel),
        errors: ["NOT_FOUND"],
      },
      async ({ scope, id }) => ({ data: await getAlertChannel(scope, id) }),
    ),
  )
  .patch(
    "/:id",
    ...endpoint(
      {
        name: "updateAlertChannel",
        access: "write",
        summary: "Update an alert channel",
        description:
          "Absent fields keep their value; for a secret, null clears it. A secret stays with its address: a change of that has to send the secret again.",
        body: AlertChannelPatch,
        answer: dataOf(AlertChannel),
        errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
      },
      async ({ scope, id, body }) => ({ data: await updateAlertChannel(scope, id, body) }),
    ),
  )
  .delete(
    "/:id",
    ...endpoint(
      {
        name: "deleteAlertChannel",
        access: "write",
        summary: "Delete an alert channel",
        description: "It is detached from every monitor and group.",
        answer: Deleted,
        errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      },
      async ({ scope, id }) => {
        await deleteAlertChannel(scope, id);
        return deleted;
      },
    ),
  );
