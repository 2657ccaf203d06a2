/** Routes of the signed-in person's passkeys. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { CreationOptions, NewPasskey, Passkey, PasskeyPatch, PasskeyStart } from "./schema.ts";
import {
  changePasskey,
  createPasskey,
  deletePasskey,
  listPasskeys,
  startPasskey,
} from "./service.ts";

export const passkeyRoutes = createRouter("/passkeys")
  .get(
    ...defineEndpoint("/", {
      name: "listPasskeys",
      access: "person",
      summary: "List your passkeys",
      data: z.array(Passkey),
      handle: ({ context }) => listPasskeys(context),
    }),
  )
  .post(
    ...defineEndpoint("/options", {
      name: "startPasskey",
      access: "person",
      summary: "Get the options with which the browser creates a passkey",
      body: PasskeyStart,
      data: CreationOptions,
      errors: ["CONFLICT"],
      handle: ({ context, body }) => startPasskey(context, body.password),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createPasskey",
      access: "person",
      summary: "Add a passkey that the browser has created",
      body: NewPasskey,
      data: Passkey,
      status: 201,
      isLocated: false,
      errors: ["CONFLICT"],
      handle: ({ context, body }) => createPasskey(context, body),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "changePasskey",
      access: "person",
      summary: "Rename a passkey",
      body: PasskeyPatch,
      data: Passkey,
      handle: ({ context, params, body }) => changePasskey(context, params.id, body.name),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deletePasskey",
      access: "person",
      summary: "Remove a passkey",
      response: Deleted,
      errors: ["CONFLICT"],
      handle: ({ context, params }) => deletePasskey(context, params.id),
    }),
  );
