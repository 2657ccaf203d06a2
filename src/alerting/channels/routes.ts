/** REST routes of alert channels. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { AlertChannel, AlertChannelPatch, NewAlertChannel } from "./schema.ts";
import {
  createAlertChannel,
  deleteAlertChannel,
  getAlertChannel,
  listAlertChannels,
  updateAlertChannel,
} from "./service.ts";

export const alertChannelRoutes = createRouter("/api/v1/alert-channels")
  .get(
    ...defineEndpoint("/", {
      name: "listAlertChannels",
      access: "read",
      limited: "unrelated",
      cached: true,
      summary: "List all alert channels",
      description: "Newest first.",
      data: z.array(AlertChannel),
      handle: ({ scope }) => listAlertChannels(scope),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createAlertChannel",
      access: "write",
      limited: "denied",
      summary: "Create an alert channel",
      body: NewAlertChannel,
      errors: ["CONFLICT"],
      data: AlertChannel,
      status: 201,
      handle: ({ scope, body }) => createAlertChannel(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getAlertChannel",
      access: "read",
      limited: "unrelated",
      cached: true,
      summary: "Get an alert channel",
      data: AlertChannel,
      handle: ({ scope, params }) => getAlertChannel(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateAlertChannel",
      access: "write",
      limited: "denied",
      summary: "Update an alert channel",
      description:
        "Absent fields keep their value; for a secret, null clears it. A secret belongs to its address. A change of the address must send the secret again.",
      body: AlertChannelPatch,
      data: AlertChannel,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateAlertChannel(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteAlertChannel",
      access: "write",
      limited: "denied",
      summary: "Delete an alert channel",
      description: "It is detached from every monitor, group and alert source.",
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteAlertChannel(scope, params.id),
    }),
  );
