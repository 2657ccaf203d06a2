/** Routes of sign-in providers, for administrators of the appliance. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { IdentityProvider, IdentityProviderPatch, NewIdentityProvider } from "./schema.ts";
import {
  createIdentityProvider,
  deleteIdentityProvider,
  listIdentityProviders,
  updateIdentityProvider,
} from "./service.ts";

export const identityProviderRoutes = createRouter("/identity-providers")
  .get(
    ...defineEndpoint("/", {
      name: "listIdentityProviders",
      access: "administrator",
      summary: "List the sign-in providers, oldest first",
      data: z.array(IdentityProvider),
      handle: ({ context }) => listIdentityProviders(context),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createIdentityProvider",
      access: "administrator",
      summary: "Add a sign-in provider",
      body: NewIdentityProvider,
      data: IdentityProvider,
      status: 201,
      isLocated: false,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ context, body }) => createIdentityProvider(context, body),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateIdentityProvider",
      access: "administrator",
      summary: "Change a sign-in provider",
      body: IdentityProviderPatch,
      data: IdentityProvider,
      handle: ({ context, params, body }) => updateIdentityProvider(context, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteIdentityProvider",
      access: "administrator",
      summary: "Delete a sign-in provider",
      description: "People keep their accounts and their rights. Sessions of the provider end.",
      response: Deleted,
      handle: ({ context, params }) => deleteIdentityProvider(context, params.id),
    }),
  );
